//! Commitments for several terms, one on the other.

use std::ops::Range;

use super::{Ladder, Overflow, first};
use crate::cancellation;
use crate::economics::profile::{MONTH, in_gpus};
use crate::money::Decimal;

/// Capacity that is paid for whether used or not, for terms that follow each other.
#[derive(Clone, Debug)]
pub struct Commitment {
    /// Of an hour of a GPU, by the month.
    pub prices: Vec<Decimal>,
    /// Months of a term. Each term has a level of its own.
    pub term: u32,
    pub size: Size,
}

/// How much is committed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// What costs least.
    Best,
    /// Thousandths of a GPU.
    Fixed(u64),
}

#[derive(Clone, Copy, Debug)]
pub struct Stack<'a> {
    pub ladder: &'a Ladder,
    /// The longest term first.
    pub commitments: &'a [Commitment],
    pub overflow: &'a Overflow,
    /// A machine, in thousandths of a GPU: levels are multiples of it.
    pub step: u64,
}

impl Stack<'_> {
    fn months(&self) -> u32 {
        self.ladder.months()
    }

    /// How far up each commitment reaches in each month, what lies below it included; the last is all of the base.
    pub fn levels(&self) -> Vec<Vec<u64>> {
        let months = self.months();
        let mut below = vec![0_u64; months as usize];
        let mut levels = Vec::with_capacity(self.commitments.len());
        for (at, commitment) in self.commitments.iter().enumerate() {
            for window in windows(0..months, commitment.term) {
                let from = below[window.start as usize];
                let level = match commitment.size {
                    Size::Fixed(parts) => from.saturating_add(parts),
                    Size::Best => self.best(at, window.clone(), from),
                };
                for month in window {
                    below[month as usize] = level;
                }
            }
            levels.push(below.clone());
        }
        levels
    }

    fn best(&self, at: usize, window: Range<u32>, from: u64) -> u64 {
        let peak = window.clone().map(|month| self.ladder.peak(month)).max().unwrap_or_default();
        let price = self.price(at, window.clone());
        first(from, peak, self.step, |level| price >= self.value(at + 1, window.clone(), level))
    }

    /// What one step of a commitment costs over months.
    fn price(&self, at: usize, months: Range<u32>) -> Decimal {
        let prices = &self.commitments[at].prices;
        let sum: Decimal = months.filter_map(|month| prices.get(month as usize).copied()).sum();
        in_gpus(u128::from(self.step)).multiply(sum).times(MONTH as i64)
    }

    /// What serving the step above a level costs without the commitments before this one.
    fn value(&self, at: usize, months: Range<u32>, level: u64) -> Decimal {
        cancellation::check();
        let Some(commitment) = self.commitments.get(at) else {
            let cost = |level| self.overflow.cost(self.ladder, months.clone(), level);
            return cost(level) - cost(level.saturating_add(self.step));
        };
        if let Size::Fixed(parts) = commitment.size {
            // It lies on top, wherever that is.
            return self.value(at + 1, months, level.saturating_add(parts));
        }
        let windows = windows(months, commitment.term);
        windows.map(|it| self.price(at, it.clone()).min(self.value(at + 1, it, level))).sum()
    }
}

/// Months cut into terms; the last may be cut short.
fn windows(months: Range<u32>, term: u32) -> impl Iterator<Item = Range<u32>> {
    let term = term.max(1);
    let first = months.start / term;
    let last = months.end.div_ceil(term);
    (first..last).map(move |n| (n * term).max(months.start)..((n + 1) * term).min(months.end))
}
