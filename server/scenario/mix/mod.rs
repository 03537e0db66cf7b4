//! Which part of a demand is served by what: a base that is paid for used or not, then spot, then on demand.
//!
//! One level of base at r an hour under demand D, with what is missing at p, costs C(k) = r × k + p × E\[(D − k)⁺\]. C is
//! convex, and least at the smallest k with P(D > k) ≤ r ÷ p (the newsvendor's critical ratio). With spot at s for what
//! can be interrupted, up to a cap S, an hour's overflow o = (D − k)⁺ is served by min(o, interruptible, S) of spot and
//! the rest on demand, which stays convex as long as spot is no dearer.
//!
//! Commitments for several terms nest: the GPU between two levels belongs to whatever serves it for least over its
//! windows, and the higher the level, the fewer the hours that ask for it ([`Stack`]).
//!
//! Starting and stopping costs nothing here, so that the order of the hours changes nothing.

mod ladder;
mod stack;

use serde::Serialize;

pub use ladder::Ladder;
pub use stack::{Commitment, Overflow, Size, Stack};

use super::profile::Hour;
use crate::money::Decimal;

/// Thousandths of GPU-hours by what serves them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Served {
    pub base: u128,
    pub spot: u128,
    pub burst: u128,
}

/// Serves hours with a level of base and so much of spot, both in thousandths of a GPU, and the rest on demand.
pub fn serve(hours: &[Hour], level: u64, spot: u64) -> Served {
    let mut served = Served::default();
    for hour in hours {
        let all = hour.all();
        let base = all.min(level);
        let over = all - base;
        let interrupted = over.min(hour.interruptible).min(spot);
        served.base += u128::from(base);
        served.spot += u128::from(interrupted);
        served.burst += u128::from(over - interrupted);
    }
    served
}

/// The smallest multiple of a step, up to the first that is not below a limit, that costs least, where cost is convex.
pub fn cheapest(limit: u64, step: u64, cost: impl Fn(u64) -> Decimal) -> u64 {
    first(0, limit, step, |level| cost(level + step) >= cost(level))
}

/// The smallest of from, from + step, … that is enough, or the first that is not below a limit. What is enough stays so.
fn first(from: u64, limit: u64, step: u64, is_enough: impl Fn(u64) -> bool) -> u64 {
    let step = step.max(1);
    let (mut low, mut high) = (0, limit.saturating_sub(from).div_ceil(step));
    while low < high {
        let middle = low + (high - low) / 2;
        if is_enough(from + middle * step) { high = middle } else { low = middle + 1 }
    }
    from + low * step
}

#[cfg(test)]
mod tests;
