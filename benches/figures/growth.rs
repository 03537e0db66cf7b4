//! A month that is delivered again and again: how large its database is once what was replaced is archived.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Sizes;
use super::browser::Browser;
use super::pages::{sign_in, wait_until_prepared};
use super::process::{Server, folder, generate, import};
use super::table::{Figure, Measured};

const MONTH: &str = "2026-09";
/// The tables of what was replaced go right after it is marked, then keys that nobody has any more; PostgreSQL looks each minute
/// for room that can be used again. Real deliveries have a day for that.
const UNTIL_ROOM_IS_USED_AGAIN: Duration = Duration::from_mins(3);
/// What is not archived by then is not archived.
const LONGEST: Duration = Duration::from_mins(15);

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    let file = folder.path().join("bill.csv");
    let mut browser = sign_in(&server);
    browser.submit("/storage", "/storage", &[("hours", "0"), ("days", "")]);
    let rows = sizes.ledgers[1];
    // Each time all machines are others, so that no key of one delivery is one of the next.
    let mut deliver = |seed: u32| {
        generate(&file, rows, MONTH, &["--fleet", "--columns", "63", "--seed", &seed.to_string()]);
        import(&server.data_dir, &file, &["--replace"]);
        wait_until_prepared(&mut browser);
        let bytes = once_archived(&mut browser);
        eprintln!("delivery {seed} of {rows} rows: {:.0} MB", bytes / 1e6);
        bytes
    };
    let once = deliver(1);
    let largest = (2..=sizes.redeliveries + 1).map(deliver).fold(once, f64::max);
    vec![Figure {
        name: format!("database of a month of {rows} charges that is replaced {} times", sizes.redeliveries),
        measured: Measured::As(largest / once, format!("{:.0} MB / {:.0} MB", largest / 1e6, once / 1e6)),
        at_most: Some((1.3, "×")),
    }]
}

/// Bytes of the database when nothing is left to archive.
fn once_archived(browser: &mut Browser) -> f64 {
    let mut usage = || -> Value {
        serde_json::from_str(&browser.get("/storage.json").unwrap().body).expect("what takes space")
    };
    let began = Instant::now();
    while usage()["months"].as_array().expect("months").iter().any(|month| month["inactive"] != 0) {
        assert!(began.elapsed() < LONGEST, "nothing is archived");
        sleep(Duration::from_secs(1));
    }
    sleep(UNTIL_ROOM_IS_USED_AGAIN);
    usage()["database"].as_f64().expect("bytes")
}
