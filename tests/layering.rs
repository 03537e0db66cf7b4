//! Imports point downwards, and the pure rooms know no database, no network and no clock.

use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders of `server/` that are plain functions over plain data.
const PURE: &[&str] = &[
    "accelerator",
    "adjustments/bill.rs",
    "adjustments/entry.rs",
    "allocation/rule_engine.rs",
    "allocation/configuration.rs",
    "allocation/entry.rs",
    "allocation/experiment.rs",
    "allocation/label.rs",
    "allocation/problem",
    "allocation/rule.rs",
    "allocation/split.rs",
    "billing",
    "cancellation.rs",
    "chart",
    "entered_csv.rs",
    "exchange/file.rs",
    "exchange/rates.rs",
    "generate",
    "money",
    "onprem/bill_file.rs",
    "onprem/book_value.rs",
    "onprem/capacity.rs",
    "onprem/depreciation.rs",
    "onprem/tco",
    "onprem/compare_with_cloud.rs",
    "onprem/energy_use.rs",
    "onprem/entry.rs",
    "onprem/loan.rs",
    "onprem/cost_lines",
    "onprem/impact.rs",
    "onprem/power",
    "onprem/problem.rs",
    "onprem/racks.rs",
    "onprem/bill_totals.rs",
    "onprem/asset_register.rs",
    "onprem/sheet",
    "onprem/start.rs",
    "onprem/summary.rs",
    "onprem/system.rs",
    "period.rs",
    "report/variance/parts.rs",
    "enum_words.rs",
    "economics",
    "price_catalogue/catalogue.rs",
    "price_catalogue/price.rs",
    "price_catalogue/read",
    "rate_cards/read.rs",
    "rating",
    "telemetry/by_machine.rs",
    "telemetry/by_week.rs",
    "telemetry/columns.rs",
    "telemetry/divide/bill.rs",
    "telemetry/divide/tags.rs",
    "telemetry/format.rs",
    "telemetry/gpu_use.rs",
    "telemetry/hours.rs",
    "telemetry/job.rs",
    "telemetry/lines.rs",
    "telemetry/local_time.rs",
    "telemetry/measure.rs",
    "telemetry/metered.rs",
    "telemetry/meters.rs",
    "telemetry/nvidia_smi.rs",
    "telemetry/one_source.rs",
    "telemetry/opencost.rs",
    "telemetry/openshift.rs",
    "telemetry/plain_csv.rs",
    "telemetry/prometheus/series.rs",
    "telemetry/prometheus/window.rs",
    "telemetry/reading.rs",
    "telemetry/share.rs",
    "telemetry/slice.rs",
    "telemetry/slurm",
    "telemetry/table.rs",
    "telemetry/walk_json.rs",
    "tokens.rs",
];
/// What lets money into PostgreSQL implements traits of sqlx, and does nothing else with it.
const EXCEPTIONS: &[&str] = &["money/postgres.rs"];
const FORBIDDEN: &[&str] = &[
    "use sqlx",
    "sqlx::query",
    "use axum",
    "use tokio",
    "tokio::",
    "Utc::now",
    "SystemTime",
    "crate::web",
    "crate::cli",
    "crate::config",
    "crate::jobs",
    "crate::clock",
    "crate::accounts",
    "crate::audit",
    "crate::backup",
    "crate::demonstration",
    "crate::ledger",
    "crate::report",
    "crate::store",
];

fn rust_files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_file() {
        found.push(path.to_owned());
    } else if let Ok(entries) = fs::read_dir(path) {
        for entry in entries {
            rust_files(&entry.unwrap().path(), found);
        }
    }
}

#[test]
fn pure_rooms_import_nothing_above_them_and_no_io() {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("server");
    let mut files = Vec::new();
    for room in PURE {
        assert!(server.join(room).exists(), "server/{room} moved");
        rust_files(&server.join(room), &mut files);
    }
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "rs")) {
        let name = file.strip_prefix(&server).unwrap().to_string_lossy().into_owned();
        if EXCEPTIONS.contains(&name.as_str()) {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        for word in FORBIDDEN {
            assert!(!text.contains(word), "server/{name} contains {word}");
        }
    }
}

#[test]
fn invented_bills_know_nothing_of_what_is_made_of_bills() {
    let mut files = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("server/generate"), &mut files);
    assert!(files.len() > 5, "the room moved");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for word in ["crate::allocation", "crate::onprem", "crate::ledger"] {
            assert!(!text.contains(word), "{} contains {word}", file.display());
        }
    }
}

#[test]
fn handlers_take_the_present_from_the_request() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("server/web");
    let mut files = Vec::new();
    rust_files(&web, &mut files);
    assert!(files.len() > 100, "the room moved");
    // What a server does besides answering.
    files.retain(|file| *file != web.join("serve.rs"));
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("clock::now()"), "{} asks the clock by itself", file.display());
    }
}
