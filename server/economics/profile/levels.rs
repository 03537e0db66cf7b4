//! Demand given as levels and shares of the hours, spread so that no month has more of a level than another.
//!
//! - shares are counted in whole hours of ten years (largest remainder), which sum exactly to all of them
//! - level i with n of N hours has had ⌊t × n ÷ N⌋ or ⌈t × n ÷ N⌉ of the first t hours: of the levels whose next hour may
//!   come, the one whose next hour has to come first gets it (earliest deadline first, which never misses one)
//! - within a month the hours of a level are spread by steps of the golden ratio, over days and hours of the day
//!
//! So each horizon in months has its share of each level to within an hour, and a year whose shares are whole hours
//! has exactly these.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{MONTH, YEAR};
use crate::money::Decimal;
use crate::money::arithmetic::{count, product, whole};

/// Hours of the ten years that shares are counted in.
const TEN_YEARS: u32 = 10 * YEAR;
/// Steps of the golden ratio of a month's hours, with which they have no factor in common.
const STEP: usize = 451;

/// Which level comes in each hour of a year, or of ten where a year has no whole hours of a share.
pub(super) fn spread(shares: &[Decimal]) -> Vec<usize> {
    let (counts, hours) = counted(shares);
    let mut sequence = in_turn(&counts, hours);
    for month in sequence.chunks_mut(MONTH) {
        month.sort_unstable();
        let sorted = month.to_vec();
        for (hour, level) in month.iter_mut().enumerate() {
            *level = sorted[hour * STEP % sorted.len()];
        }
    }
    sequence
}

/// Which level comes in each hour of a year, one after the other.
pub(super) fn listed(shares: &[Decimal]) -> Vec<usize> {
    let mut sequence = Vec::with_capacity(YEAR as usize);
    let mut until = Decimal::ZERO;
    for (level, share) in shares.iter().enumerate() {
        until += product(&[*share, count(YEAR)]);
        sequence.resize(whole(until) as usize, level);
    }
    sequence
}

/// Hours of each level, which sum to those of the period.
fn counted(shares: &[Decimal]) -> (Vec<u32>, u32) {
    let exact: Vec<Decimal> = shares.iter().map(|share| product(&[*share, count(TEN_YEARS)])).collect();
    let counts: Vec<u32> = Decimal::round_parts(&exact, 0).into_iter().map(whole).collect();
    if counts.iter().all(|hours| hours.is_multiple_of(10)) {
        (counts.into_iter().map(|hours| hours / 10).collect(), YEAR)
    } else {
        (counts, TEN_YEARS)
    }
}

/// Levels hour by hour. The hour of a level that comes after `had` others may come once `had × hours ÷ its hours` have
/// passed, and has to before `(had + 1) × hours ÷ its hours` have.
fn in_turn(counts: &[u32], hours: u32) -> Vec<usize> {
    let period = u64::from(hours);
    let mut had = vec![0_u64; counts.len()];
    let asked_for = (0..counts.len()).filter(|level| counts[*level] > 0);
    let mut waiting: BinaryHeap<Reverse<(u64, usize)>> = asked_for.map(|level| Reverse((0, level))).collect();
    let mut ready = BinaryHeap::new();
    let mut sequence = Vec::with_capacity(hours as usize);
    for hour in 0..period {
        while let Some(Reverse((from, level))) = waiting.pop() {
            if from > hour {
                waiting.push(Reverse((from, level)));
                break;
            }
            let until = ((had[level] + 1) * period).div_ceil(u64::from(counts[level]));
            ready.push(Reverse((until, level)));
        }
        let Some(Reverse((_, level))) = ready.pop() else { continue };
        sequence.push(level);
        had[level] += 1;
        if had[level] < u64::from(counts[level]) {
            waiting.push(Reverse((had[level] * period / u64::from(counts[level]), level)));
        }
    }
    sequence
}
