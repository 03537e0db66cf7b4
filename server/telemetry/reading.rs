//! What a file of usage is read into, row by row.

use std::collections::BTreeMap;
use std::io;

use chrono_tz::Tz;

use super::job::Job;
use super::metered::Metered;
use crate::billing::{Refusal, Rejection};
use crate::enum_words::words;

/// What became of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Job(Box<Job>),
    /// A row of a meter. What it says comes with those beside it, as [`Self::Metered`].
    Sample,
    /// What several rows say together of one accelerator; no row of its own.
    Metered(Box<Metered>),
    Rejected(Rejection),
    Skipped(Skip),
    /// How something was understood that can be understood in two ways; no row of its own.
    Remark(Remark),
    /// A column that says nothing we know of; no row of its own.
    UnreadColumn(String),
}

impl Item {
    /// A row in which a column holds what it should not.
    pub fn rejected(row: u64, column: &str, found: &str, expected: &str) -> Self {
        let (column, expected) = (column.to_owned(), expected.to_owned());
        Self::Rejected(Rejection { row, column, found: shown(found), expected, is_repeated: false })
    }
}

words! {
    /// Why a row says nothing about accelerators.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Skip: as_str, reason {
        WithoutAccelerators = "without-accelerators", "jobs without GPUs";
        NeverStarted = "never-started", "jobs that never started";
        Step = "step", "steps, whose jobs count";
        HeaderRepeated = "header-repeated", "the header again";
        OtherMetric = "other-metric", "series that measure something else";
        WithoutTime = "without-time", "samples that do not say when";
    }
}

words! {
    /// How a file was understood.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Remark: sentence {
        RatioAsPercent = "DCGM_FI_DEV_GPU_UTIL_RATIO was read as percent, as exporter 4.6 writes it";
        RatioAsRatio = "DCGM_FI_DEV_GPU_UTIL_RATIO was read as 0 to 1, as exporters since 4.7 write it";
        RatioUnknown = "series of DCGM_FI_DEV_GPU_UTIL_RATIO with nothing but 0 and 1 do not say whether 1 is one percent or all: it is not measured there";
        PercentBelowOne = "no utilization is above 1, and all were read as percent: if they are 0 to 1, undo this import, multiply them by 100 and import the file again";
    }
}

/// Where the clocks stand whose times a file states without an offset.
#[derive(Clone, Debug)]
pub struct Zones {
    /// Clusters that are known.
    pub by_cluster: BTreeMap<String, Tz>,
    /// What the file does not name.
    pub unnamed: Tz,
    /// A cluster that it names, and that is new.
    pub new: Tz,
}

impl Zones {
    /// All are one.
    pub fn all(zone: Tz) -> Self {
        Self { by_cluster: BTreeMap::new(), unnamed: zone, new: zone }
    }

    pub fn of(&self, cluster: &str) -> Tz {
        if cluster.is_empty() {
            return self.unnamed;
        }
        self.by_cluster.get(cluster).copied().unwrap_or(self.new)
    }
}

/// The refusal of a file whose bytes cannot be had.
pub fn unreadable(error: &io::Error) -> Refusal {
    let found = format!("that the file cannot be read ({error})");
    Refusal::new(found, "a file that can be read to its end").failed(error)
}

/// A text that is shown, shortened.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Of what is shown of a cell.
const SHOWN: usize = 80;
