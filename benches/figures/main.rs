//! `script/bench`: the figures of the design, measured from outside, as a person at the command line and in a
//! browser would meet them.
//!
//! What a ratio compares runs in turns, so that a busy machine disturbs both: of imports the pair in the middle counts, of
//! pages and starts the fastest run.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a measurement that cannot go on is none")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded for people")]

mod browser;
mod containers;
mod fleet;
mod growth;
mod import;
mod load;
mod pages;
mod process;
mod rules;
mod running;
mod scenario;
mod start;
mod table;
mod usage;

use std::panic::catch_unwind;

use table::{Figure, Measured};

/// How much is measured.
pub struct Sizes {
    /// Rows of the bill that is imported.
    pub import: u64,
    /// Rows of the small and of the large ledgers that pages are read from.
    pub ledgers: [u64; 2],
    /// Distinct charge keys of a ledger, and of one that has many.
    pub keys: [u32; 2],
    /// Runs of which the fastest counts; of imports the pair in the middle.
    pub runs: u32,
    /// Times that a month is replaced, each of which takes the minutes until archiving.
    pub redeliveries: u32,
    /// Machines of eight GPUs whose usage a Prometheus saw, and those of a Slurm.
    pub machines: [u64; 2],
    /// Of their usage.
    pub months: u32,
}

const FULL: Sizes = Sizes {
    import: 1_000_000,
    ledgers: [1_000_000, 10_000_000],
    keys: [100_000, 600_000],
    runs: 3,
    redeliveries: 3,
    machines: [125, 50],
    months: 12,
};
const QUICK: Sizes = Sizes {
    import: 100_000,
    ledgers: [30_000, 300_000],
    keys: [10_000, 20_000],
    runs: 3,
    redeliveries: 1,
    machines: [25, 10],
    months: 2,
};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let sizes = if words.iter().any(|word| word == "--quick") { QUICK } else { FULL };
    let parts: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with("--")).collect();
    let mut figures = Vec::new();
    for part in ["scenario", "start", "import", "containers", "pages", "growth", "load", "usage"] {
        let measure = match part {
            "start" => start::measure,
            "import" => import::measure,
            "containers" => containers::measure,
            "scenario" => scenario::measure,
            "growth" => growth::measure,
            "load" => load::measure,
            "usage" => usage::measure,
            _ => pages::measure,
        };
        // Containers are imported, too, and may be measured alone.
        let is_named = parts.contains(&part) || (part == "containers" && parts.contains(&"import"));
        if parts.is_empty() || is_named {
            // What breaks off was not measured; the other parts are.
            figures.extend(catch_unwind(|| measure(&sizes)).unwrap_or_else(|_| vec![broken_off(part)]));
        }
    }
    table::print(&figures);
}

fn broken_off(part: &str) -> Figure {
    Figure { name: part.into(), measured: Measured::Not("it broke off, see above".into()), at_most: None }
}
