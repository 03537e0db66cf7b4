//! Manifests of AWS exports, legacy and CUR 2.0: which data files make up one delivery of one billing period.
//!
//! A legacy report lists `reportKeys`; only those of the manifest directly below the period folder count,
//! which AWS rewrites with every delivery. Data Exports list `dataFiles` (or the older `files`), as
//! `s3://bucket/key`. Whatever it lists is matched to files at hand by the end of its key, for a
//! bucket is copied in many ways.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::Refusal;
use super::value::time;
use crate::period::BillingMonth;

/// The largest manifest that is read. One of a thousand files and a thousand columns has 200 kB.
pub const MAX_MANIFEST: usize = 16 << 20;

/// What a manifest says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Distinguishes two deliveries of one period: `assemblyId`, or the execution of a Data Export.
    pub assembly: String,
    pub report: String,
    pub account: String,
    /// First and last (exclusive) moment of the billing period; `None` where the manifest does not say.
    pub billing_period: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// Names as headers have them: `lineItem/UnblendedCost`, `line_item_unblended_cost`.
    pub columns: Vec<String>,
    /// Keys of the data files, without the bucket, in order.
    pub files: Vec<String>,
    pub compression: String,
}

/// Which of the files at hand a manifest names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// Per file of the manifest, in its order: the index of the file at hand; `None` where it is absent.
    pub found: Vec<Option<usize>>,
    /// Files at hand that the manifest does not name.
    pub surplus: Vec<usize>,
}

impl Manifest {
    /// True for bytes that look like a manifest rather than like data; `start` is the beginning of the file.
    pub fn recognizes(start: &[u8]) -> bool {
        let is_json = start.trim_ascii_start().starts_with(b"{") || start.starts_with(b"\xef\xbb\xbf{");
        let has = |key: &[u8]| memchr::memmem::find(start, key).is_some();
        is_json
            && (has(b"\"reportKeys\"")
                || has(b"\"dataFiles\"")
                || (has(b"\"assemblyId\"") && has(b"\"columns\""))
                || (has(b"\"executionId\"") && has(b"\"exportName\"")))
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// A [`Refusal`] where it is none, or names no data file.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        const EXPECTED: &str = "the manifest of an AWS cost and usage report or data export";
        if bytes.len() > MAX_MANIFEST {
            return Err(Refusal::new(format!("a manifest of {} bytes", bytes.len()), EXPECTED));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let written: Written = serde_json::from_slice(bytes)
            .map_err(|error| Refusal::new(format!("a manifest that cannot be read ({error})"), EXPECTED))?;
        let files: Vec<String> = [written.report_keys, written.data_files, written.files]
            .into_iter()
            .flatten()
            .find(|files| !files.is_empty())
            .unwrap_or_default()
            .into_iter()
            .map(|file| without_bucket(&file.into_key()).to_owned())
            .collect();
        if files.is_empty() {
            return Err(Refusal::new("a manifest that names no data file", EXPECTED));
        }
        if let Some(key) = files.iter().find(|key| key.split(['/', '\\']).any(|part| part == "..")) {
            return Err(Refusal::new(format!("a manifest with the key {key}, which climbs out"), EXPECTED));
        }
        let period = written
            .billing_period
            .and_then(|period| Some((compact_time(&period.start)?, compact_time(&period.end)?)));
        Ok(Self {
            assembly: written.assembly_id.or(written.execution_id).unwrap_or_default(),
            report: written.report_name.or(written.export_name).unwrap_or_default(),
            account: written.account.map(Scalar::into_text).unwrap_or_default(),
            billing_period: period,
            columns: written.columns.unwrap_or_default().into_iter().map(WrittenColumn::into_name).collect(),
            files,
            compression: written.compression.unwrap_or_default(),
        })
    }

    /// The month it covers: as stated, else out of the folder in its keys (`20260801-20260901`,
    /// `BILLING_PERIOD=2026-08`).
    pub fn billing_month(&self) -> Option<BillingMonth> {
        let stated = self.billing_period.map(|(start, _)| BillingMonth::of(start.date_naive()));
        stated.or_else(|| self.files.iter().find_map(|key| key.split('/').find_map(month_of_folder)))
    }

    /// Where a data file may lie, seen from the folder of the manifest, the most likely first: the end of
    /// its key after what manifest and key have in common, then ever shorter ends of the key, and the same
    /// beneath `..` and `../..`, for a manifest may lie in the assembly's folder or beside the data.
    pub fn candidates(key: &str) -> Vec<String> {
        let parts: Vec<&str> = without_bucket(key).split('/').filter(|part| !part.is_empty()).collect();
        let ends = |from: usize| parts[from..].join("/");
        let mut candidates: Vec<String> = (0..parts.len()).rev().map(ends).collect();
        // Data Exports keep data and metadata in sibling folders.
        for up in ["..", "../..", "../../.."] {
            candidates.extend((0..parts.len()).rev().map(|from| format!("{up}/{}", ends(from))));
        }
        candidates
    }

    /// Finds the manifest's files among those at hand, by the longest common end of name and key. A name
    /// without folders fits by itself; of two that fit equally well (the same name in two assemblies) the
    /// one under the manifest's assembly wins, else neither is taken for the other: the first is.
    pub fn matching<S: AsRef<str>>(&self, names: &[S]) -> Matched {
        let mut taken = vec![false; names.len()];
        let mut found = Vec::with_capacity(self.files.len());
        for key in &self.files {
            let best = names
                .iter()
                .enumerate()
                .filter(|(i, _)| !taken[*i])
                .map(|(i, name)| (common_end(key, name.as_ref()), i))
                .filter(|(common, _)| *common > 0)
                .max_by_key(|(common, i)| (*common, std::cmp::Reverse(*i)));
            if let Some((_, i)) = best {
                taken[i] = true;
            }
            found.push(best.map(|(_, i)| i));
        }
        Matched { found, surplus: (0..names.len()).filter(|i| !taken[*i]).collect() }
    }

    /// The manifest's files that are not at hand.
    pub fn absent<'a>(&'a self, matched: &Matched) -> Vec<&'a str> {
        let missing = self.files.iter().zip(&matched.found).filter(|(_, found)| found.is_none());
        missing.map(|(key, _)| key.as_str()).collect()
    }
}

/// Path parts that two paths have in common at their ends; 0 where the file names differ.
fn common_end(key: &str, name: &str) -> usize {
    let parts = |path| str::rsplit(path, ['/', '\\']).filter(|part: &&str| !part.is_empty());
    parts(key).zip(parts(name)).take_while(|(a, b)| a == b).count()
}

/// `s3://bucket/key` or `key`.
fn without_bucket(key: &str) -> &str {
    match key.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, key)| key),
        None => key.trim_start_matches('/'),
    }
}

/// `20260801T000000.000Z`, or any time that exports write.
fn compact_time(text: &str) -> Option<DateTime<Utc>> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || !bytes[..8].iter().all(u8::is_ascii_digit) {
        return time(bytes);
    }
    time(format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..8]).as_bytes())
}

fn month_of_folder(folder: &str) -> Option<BillingMonth> {
    if let Some((name, month)) = folder.split_once('=') {
        return name.eq_ignore_ascii_case("billing_period").then(|| month.parse().ok()).flatten();
    }
    let (start, end) = folder.split_once('-')?;
    let is_period = start.len() == 8 && end.len() == 8 && end.bytes().all(|b| b.is_ascii_digit());
    is_period.then(|| compact_time(start)).flatten().map(|start| BillingMonth::of(start.date_naive()))
}

/// A manifest as written; both generations at once.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    assembly_id: Option<String>,
    execution_id: Option<String>,
    report_name: Option<String>,
    export_name: Option<String>,
    account: Option<Scalar>,
    billing_period: Option<WrittenPeriod>,
    columns: Option<Vec<WrittenColumn>>,
    report_keys: Option<Vec<WrittenFile>>,
    data_files: Option<Vec<WrittenFile>>,
    files: Option<Vec<WrittenFile>>,
    compression: Option<String>,
}

#[derive(Deserialize)]
struct WrittenPeriod {
    start: String,
    end: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenColumn {
    Name(String),
    Parts { category: Option<String>, name: String },
}

impl WrittenColumn {
    fn into_name(self) -> String {
        match self {
            Self::Name(name) | Self::Parts { category: None, name } => name,
            Self::Parts { category: Some(category), name } => format!("{category}/{name}"),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenFile {
    Key(String),
    #[serde(rename_all = "camelCase")]
    Parts {
        #[serde(alias = "path", alias = "file_path", alias = "filePath")]
        key: String,
    },
}

impl WrittenFile {
    fn into_key(self) -> String {
        match self {
            Self::Key(key) | Self::Parts { key } => key,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(u64),
}

impl Scalar {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEGACY: &str = r#"{
        "assemblyId": "a-2", "account": "012345678901", "reportName": "cur", "compression": "GZIP",
        "columns": [{"category": "lineItem", "name": "UnblendedCost"}],
        "billingPeriod": {"start": "20260801T000000.000Z", "end": "20260901T000000.000Z"},
        "reportKeys": ["p/cur/20260801-20260901/a-2/cur-1.csv.gz", "p/cur/20260801-20260901/a-2/cur-2.csv.gz"]
    }"#;

    #[test]
    fn it_reads_a_legacy_manifest() {
        let manifest = Manifest::parse(LEGACY.as_bytes()).unwrap();
        assert!(Manifest::recognizes(LEGACY.as_bytes()));
        assert_eq!((manifest.assembly.as_str(), manifest.account.as_str()), ("a-2", "012345678901"));
        assert_eq!(manifest.columns, ["lineItem/UnblendedCost"]);
        assert_eq!(manifest.billing_month().unwrap().to_string(), "2026-08");
        assert_eq!(manifest.files.len(), 2);
    }

    #[test]
    fn it_reads_a_data_export_manifest() {
        let manifest = Manifest::parse(
            br#"{"executionId": "e-1", "exportName": "cur2", "columns": ["line_item_unblended_cost"],
                 "dataFiles": ["s3://b/p/cur2/data/BILLING_PERIOD=2026-08/cur2-00001.csv.gz"]}"#,
        )
        .unwrap();
        assert_eq!(manifest.files, ["p/cur2/data/BILLING_PERIOD=2026-08/cur2-00001.csv.gz"]);
        assert_eq!(manifest.billing_month().unwrap().to_string(), "2026-08");
        assert_eq!(manifest.assembly, "e-1");
    }

    #[test]
    fn it_refuses_what_names_no_file() {
        for text in [
            "",
            "{}",
            "[]",
            "{\"reportKeys\": []}",
            "{\"reportKeys\": [\"../../etc/passwd\"]}",
            "lineItem/UnblendedCost",
        ] {
            assert!(Manifest::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(!Manifest::recognizes(b"{\"manifestVersion\": 1}"));
    }

    #[test]
    fn it_finds_its_files_among_those_at_hand() {
        let manifest = Manifest::parse(LEGACY.as_bytes()).unwrap();
        let matched = manifest.matching(&["cur-2.csv.gz", "notes.txt"]);
        assert_eq!(matched, Matched { found: vec![None, Some(0)], surplus: vec![1] });
        assert_eq!(manifest.absent(&matched), ["p/cur/20260801-20260901/a-2/cur-1.csv.gz"]);
        // Two assemblies hold files of the same name.
        let matched = manifest.matching(&["x/a-1/cur-1.csv.gz", "x/a-2/cur-1.csv.gz", "x/a-2/cur-2.csv.gz"]);
        assert_eq!(matched, Matched { found: vec![Some(1), Some(2)], surplus: vec![0] });
    }

    #[test]
    fn it_tells_where_a_file_may_lie() {
        let candidates = Manifest::candidates("s3://b/p/a-2/cur-1.csv.gz");
        assert_eq!(
            candidates[..5],
            [
                "cur-1.csv.gz",
                "a-2/cur-1.csv.gz",
                "p/a-2/cur-1.csv.gz",
                "../cur-1.csv.gz",
                "../a-2/cur-1.csv.gz"
            ]
        );
    }
}
