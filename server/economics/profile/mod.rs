//! How many GPUs work asks for, hour by hour.
//!
//! What people enter is a [`Shape`]; everything else computes with a [`Profile`], its hours in thousandths of a GPU, so
//! that sorting, cutting and adding them is exact. A profile repeats for as long as it is looked at, and grows:
//! demand of month m = demand × (1 + growth)^m. A month has 730 hours.

mod levels;
mod random;
mod shape;
mod spread;

use serde::Serialize;

pub(super) use random::Random;
pub use shape::{Level, Order, Shape};
pub use spread::Spread;

use crate::cancellation;
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, HOURS_PER_YEAR, count, growth};

/// Parts of a GPU that demand is counted in.
pub const PARTS: u64 = 1000;
/// Digits after the point that are looked at in what work takes: as many as may be entered.
const MOST_PLACES: u8 = 20;
/// Parts of 1 that growth is counted in: hours are rounded once, and that to their own parts.
const GROWN: i128 = 1_000_000_000;
/// Hours of a month.
pub const MONTH: usize = HOURS_PER_MONTH as usize;
/// Hours of a year: what a synthetic profile is made of.
pub(super) const YEAR: u32 = HOURS_PER_YEAR as u32;

/// What is asked for in an hour, in thousandths of a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hour {
    /// Cannot be interrupted.
    pub firm: u64,
    /// Can: it goes on later from a checkpoint.
    pub interruptible: u64,
}

impl Hour {
    pub fn all(self) -> u64 {
        self.firm.saturating_add(self.interruptible)
    }
}

/// Demand by the hour, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Profile(Vec<Hour>);

impl Profile {
    /// GPUs by the hour, of which a share can be interrupted.
    pub fn new(gpus: impl IntoIterator<Item = Decimal>, interruptible: Decimal) -> Self {
        let hours = gpus.into_iter().map(|gpus| {
            let all = parts(gpus);
            let interruptible = parts(gpus.multiply(interruptible)).min(all);
            Hour { firm: all - interruptible, interruptible }
        });
        Self(hours.collect())
    }

    pub fn hours(&self) -> &[Hour] {
        &self.0
    }

    /// So many months of it, each with 730 hours, each more than the one before by a share.
    #[must_use]
    pub fn over(&self, months: u32, monthly_growth: Decimal) -> Self {
        if self.0.is_empty() {
            return Self(vec![Hour::default(); months as usize * MONTH]);
        }
        let mut hours = Vec::with_capacity(months as usize * MONTH);
        let mut repeated = self.0.iter().cycle();
        for month in 0..months {
            cancellation::check();
            let grown = growth(monthly_growth, count(month)).multiply(Decimal::new(GROWN, 0)).round(0);
            let grown = (u128::try_from(grown.mantissa()).unwrap_or_default(), GROWN.unsigned_abs());
            let month = repeated.by_ref().take(MONTH);
            hours.extend(month.map(|it| Hour {
                firm: times(it.firm, grown),
                interruptible: times(it.interruptible, grown),
            }));
        }
        Self(hours)
    }

    /// The same work where it takes so many hours for so many of it: slower machines, work that is lost and done again.
    /// Both come as they were entered, and each hour is divided once.
    #[must_use]
    pub fn taking(&self, hours: Decimal, of_it: Decimal) -> Self {
        if hours == of_it {
            return self.clone();
        }
        let (hours, of_it) = (hours.normalize(), of_it.normalize());
        let tens = Decimal::new(10_i128.pow(u32::from(hours.scale().max(of_it.scale()).min(MOST_PLACES))), 0);
        let whole = |it: Decimal| u128::try_from(it.multiply(tens).round(0).mantissa()).unwrap_or_default();
        let scale = (whole(hours), whole(of_it).max(1));
        let scaled =
            |it: &Hour| Hour { firm: times(it.firm, scale), interruptible: times(it.interruptible, scale) };
        Self(self.0.iter().map(scaled).collect())
    }

    /// Both at once.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let len = self.0.len().max(other.0.len());
        let at = |of: &Self, hour: usize| of.0.get(hour).copied().unwrap_or_default();
        let both = (0..len).map(|hour| {
            let (a, b) = (at(self, hour), at(other, hour));
            Hour { firm: a.firm + b.firm, interruptible: a.interruptible + b.interruptible }
        });
        Self(both.collect())
    }

    /// GPU-hours of all of it.
    pub fn gpu_hours(&self) -> Decimal {
        in_gpus(self.0.iter().map(|it| u128::from(it.all())).sum())
    }

    /// Thousandths of a GPU in its highest hour.
    pub fn peak(&self) -> u64 {
        self.0.iter().map(|it| it.all()).max().unwrap_or_default()
    }

    pub fn lowest(&self) -> u64 {
        self.0.iter().map(|it| it.all()).min().unwrap_or_default()
    }
}

impl From<Vec<Hour>> for Profile {
    fn from(hours: Vec<Hour>) -> Self {
        Self(hours)
    }
}

/// GPUs in thousandths; nothing where they are negative.
pub fn parts(gpus: Decimal) -> u64 {
    let thousandths = gpus.times(PARTS as i64).round(0).max(Decimal::ZERO);
    u64::try_from(thousandths.mantissa()).unwrap_or(u64::MAX)
}

/// Thousandths in GPUs, or in GPU-hours.
pub fn in_gpus(parts: u128) -> Decimal {
    Decimal::new(i128::try_from(parts).unwrap_or(i128::MAX), 3).normalize()
}

/// Times so many for so many, rounded up: an hour that is begun is asked for.
fn times(parts: u64, (so_many, for_so_many): (u128, u128)) -> u64 {
    let scaled = u128::from(parts).saturating_mul(so_many).div_ceil(for_so_many);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
