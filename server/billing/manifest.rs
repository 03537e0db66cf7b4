//! Manifests of AWS exports, legacy and CUR 2.0, and of Azure's: which data files make up one delivery of one billing period.
//!
//! A legacy report lists `reportKeys`; only those of the manifest directly below the period folder count,
//! which AWS rewrites with every delivery. Data Exports list `dataFiles` (or the older `files`), as
//! `s3://bucket/key`. Azure's list `blobs` with the rows of each, and say in `exportConfig` whether they hold actual or
//! amortized cost, which their columns do not. Whatever it lists is matched to files at hand by the end of its key, for a
//! bucket is copied in many ways.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::header::key_of;
use super::{Refusal, Statement};

/// The largest manifest that is read. One of a thousand files and a thousand columns has 200 kB.
pub const MAX_MANIFEST: usize = 16 << 20;

/// Files that one may name. AWS writes one for each million rows or so.
const MAX_FILES: usize = 10_000;
/// Bytes of the name of one; S3 allows no more.
const MAX_KEY: usize = 1024;

/// The files that a manifest says belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Keys of the data files, without the bucket, in order.
    pub files: Vec<String>,
    /// The rows of each, where it counts them.
    pub rows: Vec<Option<u64>>,
    /// Which costs the files state, where it says so.
    pub statement: Option<Statement>,
    /// The columns that it says they have, none where it says nothing of them. A report of AWS lists category and name.
    pub columns: Vec<String>,
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
                || (has(b"\"executionId\"") && has(b"\"exportName\""))
                || (has(b"\"manifestVersion\"") && (has(b"\"blobs\"") || has(b"\"exportConfig\""))))
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// A [`Refusal`] where it is none, or names no data file.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        const EXPECTED: &str = "the manifest of an export of AWS or Azure";
        if bytes.len() > MAX_MANIFEST {
            return Err(Refusal::new(format!("a manifest of {} bytes", bytes.len()), EXPECTED));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let written: Written = serde_json::from_slice(bytes)
            .map_err(|error| Refusal::new(format!("a manifest that cannot be read ({error})"), EXPECTED))?;
        let columns = written.columns.iter().filter_map(Value::as_array).flatten();
        let columns = columns.filter_map(column).collect();
        let statement = written.export_config.and_then(|config| config.statement());
        let listed = [written.report_keys, written.data_files, written.files, written.blobs];
        let listed = listed.into_iter().flatten().find(|files| !files.is_empty()).unwrap_or_default();
        let (files, rows): (Vec<String>, Vec<Option<u64>>) = listed
            .into_iter()
            .map(WrittenFile::into_key_and_rows)
            .map(|(key, rows)| (without_bucket(&key).to_owned(), rows))
            .unzip();
        if files.is_empty() {
            return Err(Refusal::new("a manifest that names no data file", EXPECTED));
        }
        if files.len() > MAX_FILES {
            let found = format!("a manifest that names {} data files", files.len());
            return Err(Refusal::new(found, format!("{EXPECTED}, with at most {MAX_FILES}")));
        }
        if let Some(key) = files.iter().find(|key| key.len() > MAX_KEY) {
            let found = format!("a manifest with a key of {} bytes", key.len());
            return Err(Refusal::new(found, format!("keys of at most {MAX_KEY}, as S3 has them")));
        }
        if let Some(key) = files.iter().find(|key| key.split(['/', '\\']).all(str::is_empty)) {
            let found = format!("a manifest with the key \u{201c}{key}\u{201d}");
            return Err(Refusal::new(found, "the name of a file"));
        }
        let mut known = HashSet::new();
        if let Some(key) = files.iter().find(|key| !known.insert(key.as_str())) {
            let found = format!("a manifest that names {key} twice");
            return Err(Refusal::new(found, "each data file once: its rows would count twice"));
        }
        if let Some(key) = files.iter().find(|key| key.split(['/', '\\']).any(|part| part == "..")) {
            return Err(Refusal::new(format!("a manifest with the key {key}, which climbs out"), EXPECTED));
        }
        Ok(Self { files, rows, statement, columns })
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
    /// Per file of the manifest, in its order, the place of the one at hand; `None` where it is absent.
    pub fn matching<S: AsRef<str>>(&self, names: &[S]) -> Vec<Option<usize>> {
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
        found
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

/// A manifest as written; all kinds at once.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    report_keys: Option<Vec<WrittenFile>>,
    data_files: Option<Vec<WrittenFile>>,
    files: Option<Vec<WrittenFile>>,
    blobs: Option<Vec<WrittenFile>>,
    export_config: Option<ExportConfig>,
    /// Of many shapes, and nothing depends on it.
    columns: Option<Value>,
}

/// `lineItem/UnblendedCost`, `line_item_unblended_cost`: an entry of the list of columns.
fn column(entry: &Value) -> Option<String> {
    let name = entry.as_str().or_else(|| entry.get("name")?.as_str())?;
    Some(match entry.get("category").and_then(Value::as_str) {
        Some(category) => format!("{category}/{name}"),
        None => name.to_owned(),
    })
}

/// Those of the columns that a manifest lists which are none of the names of a file, whatever their spelling.
pub fn missing_columns<'l>(listed: &'l [String], names: &[String]) -> Vec<&'l str> {
    let there: HashSet<String> = names.iter().map(|name| key_of(name).0).collect();
    listed.iter().filter(|name| !there.contains(&key_of(name).0)).map(String::as_str).collect()
}

#[derive(Deserialize)]
struct ExportConfig {
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl ExportConfig {
    /// Azure's ExportType. `Usage` is what `ActualCost` was called before.
    fn statement(&self) -> Option<Statement> {
        match self.kind.as_deref()?.to_ascii_lowercase().as_str() {
            "actualcost" | "usage" => Some(Statement::Billed),
            "amortizedcost" => Some(Statement::Effective),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenFile {
    Key(String),
    #[serde(rename_all = "camelCase")]
    Parts {
        #[serde(alias = "path", alias = "file_path", alias = "filePath", alias = "blobName")]
        key: String,
        data_row_count: Option<u64>,
    },
}

impl WrittenFile {
    fn into_key_and_rows(self) -> (String, Option<u64>) {
        match self {
            Self::Key(key) => (key, None),
            Self::Parts { key, data_row_count } => (key, data_row_count),
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
        assert_eq!(manifest.files.len(), 2);
        assert_eq!(manifest.columns, ["lineItem/UnblendedCost"]);
        let missing = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            missing_columns(&manifest.columns, &names)
        };
        assert!(missing(&["line_item_unblended_cost", "year"]).is_empty());
        assert_eq!(missing(&["lineItem/BlendedCost"]), ["lineItem/UnblendedCost"]);
    }

    #[test]
    fn it_reads_a_data_export_manifest() {
        let manifest = Manifest::parse(
            br#"{"executionId": "e-1", "exportName": "cur2", "columns": ["line_item_unblended_cost"],
                 "dataFiles": ["s3://b/p/cur2/data/BILLING_PERIOD=2026-08/cur2-00001.csv.gz"]}"#,
        )
        .unwrap();
        assert_eq!(manifest.files, ["p/cur2/data/BILLING_PERIOD=2026-08/cur2-00001.csv.gz"]);
        assert_eq!(manifest.columns, ["line_item_unblended_cost"]);
    }

    #[test]
    fn it_reads_a_manifest_of_azure_and_which_cost_its_files_state() {
        for (kind, statement) in [
            ("ActualCost", Some(Statement::Billed)),
            ("Usage", Some(Statement::Billed)),
            ("AmortizedCost", Some(Statement::Effective)),
            ("FocusCost", None),
        ] {
            let text = format!(
                r#"{{"manifestVersion": "2024-04-01", "blobCount": 2, "dataRowCount": 30,
                    "exportConfig": {{"exportName": "daily", "type": "{kind}", "dataVersion": "2021-10-01"}},
                    "blobs": [
                        {{"blobName": "cost/daily/20260901-20260930/r/part_0_0001.csv", "byteCount": 9, "dataRowCount": 20}},
                        {{"blobName": "cost/daily/20260901-20260930/r/part_1_0001.csv", "byteCount": 9}}
                    ]}}"#
            );
            assert!(Manifest::recognizes(text.as_bytes()));
            let manifest = Manifest::parse(text.as_bytes()).unwrap();
            assert_eq!(manifest.files[1], "cost/daily/20260901-20260930/r/part_1_0001.csv");
            assert_eq!((manifest.rows, manifest.statement), (vec![Some(20), None], statement), "{kind}");
        }
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
        assert_eq!(matched, [None, Some(0)]);
        // Two assemblies hold files of the same name.
        let matched = manifest.matching(&["x/a-1/cur-1.csv.gz", "x/a-2/cur-1.csv.gz", "x/a-2/cur-2.csv.gz"]);
        assert_eq!(matched, [Some(1), Some(2)]);
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
