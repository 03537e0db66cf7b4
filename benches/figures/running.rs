//! Pages of a month that has come to its tenth day, and is compared with the same days of the month before.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use super::browser::Browser;

/// The last day that the bill states.
const THROUGH: &str = "10";
const BY: [&str; 8] =
    ["provider", "service", "account", "region", "accelerator", "sku", "category", "experiment"];

/// In milliseconds.
pub struct Running {
    /// The page by team, asked first, which waits until the month is allocated.
    pub first: f64,
    /// The slowest of the others, none of which anybody had asked for before.
    pub slowest: f64,
}

/// Writes the bill of a month up to [`THROUGH`]. What is charged once a month stands in its first day.
pub fn cut(whole: &Path, month: &str, running: &Path) {
    let mut rows = csv::Reader::from_path(whole).unwrap();
    let mut kept = csv::Writer::from_writer(File::create(running).unwrap());
    let header = rows.byte_headers().unwrap().clone();
    let day = header.iter().position(|name| name == b"lineItem/UsageStartDate").expect("a CUR");
    kept.write_byte_record(&header).unwrap();
    let last = format!("{month}-{THROUGH}T99");
    let mut row = csv::ByteRecord::new();
    while rows.read_byte_record(&mut row).unwrap() {
        if &row[day] <= last.as_bytes() {
            kept.write_byte_record(&row).unwrap();
        }
    }
    kept.flush().unwrap();
}

/// Reads each page of a month that was just imported once.
pub fn measure(browser: &mut Browser, month: &str) -> Running {
    let mut ask = |path: String| {
        let began = Instant::now();
        let page = browser.get(&path).unwrap();
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(page.body.contains("ame 10 days of "), "{path} is compared with another period");
        let took = began.elapsed().as_secs_f64() * 1000.0;
        eprintln!("  cold, {path}: {took:.0} ms");
        took
    };
    let first = ask(format!("/spend/{month}?by=team"));
    let paths = BY.iter().map(|by| format!("/spend/{month}?by={by}&limit=10"));
    let slowest = paths.chain([format!("/variance/{month}")]).map(ask).fold(0.0, f64::max);
    Running { first, slowest }
}
