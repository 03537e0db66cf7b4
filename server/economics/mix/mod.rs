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

pub use ladder::{Ladder, Overflow};
pub use stack::{Commitment, Size, Stack};

/// Thousandths of GPU-hours by what serves them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Served {
    pub base: u128,
    pub spot: u128,
    pub burst: u128,
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
