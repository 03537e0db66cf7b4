//! The exports of each cloud, as files of `tests/fixtures/one_month` and in other containers.

use std::path::Path;

use gpuledger::money::Decimal;
use parquet::basic::Compression;
use serde_json::Value;

use crate::support::files::gzip;
use crate::support::{containers, number};

/// Which costs of a month an export has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum States {
    Both,
    Actual,
    Amortized,
}

/// An export as its files.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) states: States,
    pub(super) files: Vec<(&'static str, Vec<u8>)>,
}

/// What a month costs, and the exports that say so.
pub(super) struct Month {
    billed: &'static str,
    effective: &'static str,
    pub(super) forms: Vec<Form>,
    /// Forms that hold the same rows under other names: whichever comes second, is told what to undo first.
    same_rows: &'static [[&'static str; 2]],
}

impl Month {
    /// Billed and effective cost that a form states by itself.
    pub(super) fn stated_by(&self, states: States) -> [Decimal; 2] {
        let [billed, effective] = [number(self.billed), number(self.effective)];
        match states {
            States::Both => [billed, effective],
            States::Actual => [billed; 2],
            States::Amortized => [effective; 2],
        }
    }

    /// What there is when `second` came after `first`.
    pub(super) fn stated_by_both(&self, first: States, second: States) -> [Decimal; 2] {
        let complete_each_other = matches!(
            (first, second),
            (States::Actual, States::Amortized) | (States::Amortized, States::Actual)
        );
        self.stated_by(if complete_each_other { States::Both } else { second })
    }

    pub(super) fn has_same_rows(&self, first: &Form, second: &Form) -> bool {
        self.same_rows.iter().any(|pair| pair.contains(&first.name) && pair.contains(&second.name))
    }
}

pub(super) fn fixture(path: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/one_month");
    std::fs::read(folder.join(path)).unwrap()
}

pub(super) fn form(name: &'static str, states: States, file: &'static str, content: Vec<u8>) -> Form {
    Form { name, states, files: vec![(file, content)] }
}

fn parquet(csv: &[u8]) -> Vec<u8> {
    let text = csv.strip_prefix("\u{feff}".as_bytes()).unwrap_or(csv);
    containers::parquet(&containers::objects(text).unwrap(), Compression::SNAPPY)
}

pub(super) fn aws() -> Month {
    let cur = fixture("aws/cur.csv");
    let text = String::from_utf8(cur.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let part = |rows: &[&str]| [&[lines[0]], rows].concat().join("\n").into_bytes();
    let manifest =
        r#"{"assemblyId": "a", "columns": [], "reportKeys": ["cur/part-1.csv", "cur/part-2.csv"]}"#;
    Month {
        billed: "5544.915678",
        effective: "5157.415678",
        forms: vec![
            form("CUR", States::Both, "cur-00001.csv", cur),
            form("CUR in Parquet", States::Both, "cur.parquet", parquet(&fixture("aws/cur-athena.csv"))),
            Form {
                name: "CUR by its manifest",
                states: States::Both,
                files: vec![
                    ("cur-Manifest.json", manifest.into()),
                    ("part-1.csv", part(&lines[1..4])),
                    ("part-2.csv", part(&lines[4..])),
                ],
            },
            form("CUR 2.0", States::Both, "data-00001.csv.gz", gzip(&fixture("aws/cur-2.csv"))),
            form("CUR 2.0 in Parquet", States::Both, "data.parquet", parquet(&fixture("aws/cur-2.csv"))),
            form("FOCUS 1.0", States::Both, "focus-1-0.csv", fixture("aws/focus-1.0.csv")),
            form("FOCUS 1.2", States::Both, "focus-1-2.csv", fixture("aws/focus-1.2.csv")),
            form(
                "FOCUS 1.2 in Parquet",
                States::Both,
                "focus.parquet",
                parquet(&fixture("aws/focus-1.2.csv")),
            ),
        ],
        same_rows: &[],
    }
}

pub(super) fn azure_enterprise() -> Month {
    let of = |name: &str| fixture(&format!("azure-enterprise/{name}.csv"));
    Month {
        billed: "43787.6520413",
        effective: "1715.6520413",
        forms: vec![
            form("actual", States::Actual, "actual.csv", of("actual")),
            form("amortized", States::Amortized, "amortized.csv", of("amortized")),
            form("actual, newer names", States::Actual, "new.csv", of("actual-newer-names")),
            form("amortized, newer names", States::Amortized, "new-2.csv", of("amortized-newer-names")),
            form("amortized, enrollment", States::Amortized, "old-2.csv", of("amortized-enrollment")),
            form("actual in Parquet", States::Actual, "actual.parquet", parquet(&of("actual"))),
            form("FOCUS 1.0", States::Both, "focus-1-0.csv", of("focus-1.0")),
            form("FOCUS 1.2", States::Both, "focus-1-2.parquet", parquet(&of("focus-1.2"))),
        ],
        same_rows: &[],
    }
}

pub(super) fn azure_customer() -> Month {
    let of = |name: &str| fixture(&format!("azure-customer/{name}.csv"));
    Month {
        billed: "43787.6477413",
        effective: "1715.6477413",
        forms: vec![
            form("actual", States::Actual, "actual.csv", of("actual")),
            form("amortized", States::Amortized, "amortized.csv", of("amortized")),
            form("actual, accounts as paths", States::Actual, "paths.csv", of("actual-paths")),
            form("amortized, accounts as paths", States::Amortized, "paths-2.csv", of("amortized-paths")),
            form("actual in Parquet", States::Actual, "actual.parquet", parquet(&of("actual"))),
            form("FOCUS 1.0", States::Both, "focus-1-0.csv", of("focus-1.0")),
            form("FOCUS 1.2", States::Both, "focus-1-2.csv", of("focus-1.2")),
        ],
        same_rows: &[],
    }
}

pub(super) fn google() -> Month {
    let nested = String::from_utf8(fixture("google/export.jsonl")).unwrap();
    let flat = containers::flattened(&nested, ".", Value::to_string);
    let list = containers::list(&containers::objects(&flat).unwrap());
    Month {
        billed: "105.380001",
        effective: "105.380001",
        forms: vec![
            form("JSON lines", States::Both, "export.jsonl", nested.clone().into_bytes()),
            form("JSON list", States::Both, "export.json", list.into_bytes()),
            form("CSV", States::Both, "export.csv", flat.clone()),
            form(
                "CSV of a data frame",
                States::Both,
                "frame.csv",
                containers::flattened(&nested, "_", python),
            ),
            form("Parquet", States::Both, "export.parquet", parquet(&flat)),
            form("FOCUS export", States::Both, "focus.csv", fixture("google/focus-export.csv")),
            form("FOCUS view", States::Both, "view.csv", fixture("google/focus-view.csv")),
        ],
        same_rows: &[],
    }
}

/// A list of records as Python prints it.
fn python(list: &Value) -> String {
    list.to_string().replace('"', "'").replace("null", "None")
}

pub(super) fn oracle() -> Month {
    let parts = ["0001000000260590-00001.csv", "0001000000260590-00002.csv"];
    let reports: Vec<_> = parts.iter().map(|name| (*name, fixture(&format!("oracle/{name}")))).collect();
    let second = String::from_utf8(reports[1].1.clone()).unwrap();
    let rows = second.split_once('\n').unwrap().1.as_bytes();
    let [of_3, of_6] = ["focus-3.csv", "focus-6.csv"].map(|name| fixture(&format!("oracle/{name}")));
    Month {
        billed: "192.50000000000626609",
        effective: "192.50000000000626609",
        forms: vec![
            form("cost report in one file", States::Both, "all.csv", [&reports[0].1, rows].concat()),
            Form { name: "cost report", states: States::Both, files: reports },
            Form {
                name: "FOCUS, packed",
                states: States::Both,
                files: vec![("a.csv.gz", gzip(&of_3)), ("b.csv.gz", gzip(&of_6))],
            },
            Form { name: "FOCUS", states: States::Both, files: vec![("3.csv", of_3), ("6.csv", of_6)] },
        ],
        same_rows: &[["cost report", "cost report in one file"], ["FOCUS", "FOCUS, packed"]],
    }
}
