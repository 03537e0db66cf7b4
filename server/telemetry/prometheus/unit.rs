//! In which unit `DCGM_FI_DEV_GPU_UTIL_RATIO` is: percent in 4.6 of the exporter, and 0 to 1 since. Where no version says it, the values of
//! the whole answer do.

use crate::telemetry::metered::Metered;
use crate::telemetry::reading::{Item, Remark};

/// Labels that relabeling gives a series for the version of its exporter.
pub const VERSION: [&str; 4] =
    ["exporter_version", "dcgm_exporter_version", "app_kubernetes_io_version", "version"];

/// In what a part of all is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Percent,
    Ratio,
    Unknown,
}

impl Unit {
    /// Of the version of an exporter: `4.7.1`, or `4.6.0-4.8.1`, where that of DCGM comes before it, as in names of its images.
    pub fn of_version(version: &str) -> Option<Self> {
        let number = |text: &str| -> Option<(u32, u32)> {
            let mut numbers = text.trim_start_matches('v').split('.').map_while(|it| it.parse().ok());
            numbers.next().zip(numbers.next())
        };
        let mut parts = version.split('-');
        let first = parts.next().and_then(number);
        let version = parts.next().and_then(number).or(first).filter(|it| *it >= (4, 6))?;
        Some(if version == (4, 6) { Self::Percent } else { Self::Ratio })
    }

    /// None of zeros and ones.
    pub fn of_values(points: &[(i64, Option<f64>)]) -> Option<Self> {
        let values = || points.iter().filter_map(|point| point.1);
        if values().any(|it| it > 1.0) {
            Some(Self::Percent)
        } else {
            values().any(|it| it.fract() > 0.0).then_some(Self::Ratio)
        }
    }

    /// The part that a value is; more than all of it is no measurement.
    pub fn part(self, value: f64) -> Option<f64> {
        let part = match self {
            Self::Percent => value / 100.0,
            Self::Ratio => value,
            Self::Unknown => return None,
        };
        (part <= 1.0).then_some(part)
    }
}

/// A series that was read.
pub enum ReadSeries {
    Metered(Metered),
    /// Its values say in which unit they are.
    Decided(Metered, Unit),
    Undecided(Box<Undecided>),
}

/// A series of zeros and ones: an idle accelerator in percent, or a busy one as a ratio.
pub struct Undecided {
    pub as_percent: Metered,
    pub as_ratio: Metered,
    /// It was there, and nobody knows how busy it was.
    pub unmeasured: Metered,
}

/// In which units the series of an answer are. Those that do not say it themselves are in the one of the others.
#[derive(Default)]
pub struct Units {
    has_percent: bool,
    has_ratio: bool,
    undecided: Vec<Undecided>,
    /// Days of those.
    days: usize,
    has_unmeasured: bool,
}

/// Days of series that wait for what others say.
pub const MOST_UNDECIDED: usize = 20_000;

impl Units {
    /// What a series says, where that is known already.
    pub fn decide(&mut self, read: ReadSeries) -> Option<Metered> {
        match read {
            ReadSeries::Metered(metered) => Some(metered),
            ReadSeries::Decided(metered, unit) => {
                self.has_percent |= unit == Unit::Percent;
                self.has_ratio |= unit == Unit::Ratio;
                Some(metered)
            }
            ReadSeries::Undecided(it) => {
                self.days += it.unmeasured.days.len();
                if self.days > MOST_UNDECIDED {
                    self.has_unmeasured = true;
                    return Some(it.unmeasured);
                }
                self.undecided.push(*it);
                None
            }
        }
    }

    pub fn end(mut self, each: &mut dyn FnMut(Item)) {
        for it in self.undecided {
            let metered = match (self.has_percent, self.has_ratio) {
                (true, false) => it.as_percent,
                (false, true) => it.as_ratio,
                _ => {
                    self.has_unmeasured = true;
                    it.unmeasured
                }
            };
            each(Item::Metered(Box::new(metered)));
        }
        let remarks = [
            (self.has_percent, Remark::RatioAsPercent),
            (self.has_ratio, Remark::RatioAsRatio),
            (self.has_unmeasured, Remark::RatioUnknown),
        ];
        for (_, remark) in remarks.into_iter().filter(|(is_so, _)| *is_so) {
            each(Item::Remark(remark));
        }
    }
}
