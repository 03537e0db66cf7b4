//! What serves that for which there is no base, over hours that are sorted once: what a level serves is looked up and not
//! counted anew.
//!
//! Σ (D − k)⁺ is a sum over the highest hours less k for each of them. Of an hour's overflow spot serves at most m, what
//! can be interrupted up to the cap, so that in all it serves Σ min((D − k)⁺, m) = Σ (D − k)⁺ − Σ (D − m − k)⁺.

use std::ops::Range;

use super::Served;
use crate::economics::profile::{Hour, MONTH, in_gpus};
use crate::money::Decimal;

/// What serves that for which there is no base. Prices are those of an hour of work, by the month.
#[derive(Clone, Debug, Default)]
pub struct Overflow {
    /// With how many thousandths of a GPU there are of it.
    pub spot: Option<(Vec<Decimal>, u64)>,
    pub burst: Vec<Decimal>,
}

impl Overflow {
    /// How much of spot is used in a month: none where what comes after it costs less.
    pub fn spot_of(&self, month: usize) -> u64 {
        let Some((prices, cap)) = &self.spot else { return 0 };
        let is_dearer = self.burst.get(month).is_some_and(|burst| prices.get(month) > Some(burst));
        if is_dearer { 0 } else { *cap }
    }

    /// What an hour of spot and one on demand cost in a month.
    fn prices(&self, month: u32) -> [Decimal; 2] {
        let price = |prices: &[Decimal]| prices.get(month as usize).copied().unwrap_or_default();
        [self.spot.as_ref().map_or(Decimal::ZERO, |(prices, _)| price(prices)), price(&self.burst)]
    }

    /// What serving months costs above a level.
    pub fn cost(&self, ladder: &Ladder, months: Range<u32>, level: u64) -> Decimal {
        let cost = |[spot, burst]: [Decimal; 2], served: Served| {
            in_gpus(served.spot).multiply(spot) + in_gpus(served.burst).multiply(burst)
        };
        let (mut sum, mut at, mut run) = (Decimal::ZERO, [Decimal::ZERO; 2], Served::default());
        // Hours are added up for as long as their prices stay.
        for month in months {
            let prices = self.prices(month);
            if prices != at {
                sum += cost(at, run);
                (at, run) = (prices, Served::default());
            }
            let served = ladder.serve(month, level);
            run.spot += served.spot;
            run.burst += served.burst;
        }
        sum + cost(at, run)
    }
}

/// Months of hours under what serves their overflow.
#[derive(Clone, Debug)]
pub struct Ladder {
    months: Vec<Month>,
}

#[derive(Clone, Debug)]
struct Month {
    all: Above,
    /// What no spot serves; none where there is none of it.
    rest: Option<Above>,
}

/// Numbers in ascending order, and from each on the sum of what comes.
#[derive(Clone, Debug)]
struct Above {
    sorted: Vec<u64>,
    sums: Vec<u128>,
}

impl Above {
    fn new(mut sorted: Vec<u64>) -> Self {
        sorted.sort_unstable();
        let mut sums = vec![0_u128; sorted.len() + 1];
        for at in (0..sorted.len()).rev() {
            sums[at] = sums[at + 1] + u128::from(sorted[at]);
        }
        Self { sorted, sums }
    }

    /// Σ (x − level)⁺.
    fn over(&self, level: u64) -> u128 {
        let from = self.sorted.partition_point(|it| *it <= level);
        self.sums[from] - u128::from(level) * (self.sorted.len() - from) as u128
    }
}

impl Ladder {
    pub fn new(hours: &[Hour], overflow: &Overflow) -> Self {
        let month = |month: usize| {
            let hours = hours_of(hours, month);
            let cap = overflow.spot_of(month);
            let rest = |hour: &Hour| hour.all() - hour.interruptible.min(cap);
            Month {
                all: Above::new(hours.iter().map(|hour| hour.all()).collect()),
                rest: (cap > 0).then(|| Above::new(hours.iter().map(rest).collect())),
            }
        };
        Self { months: (0..hours.len().div_ceil(MONTH)).map(month).collect() }
    }

    pub fn months(&self) -> u32 {
        u32::try_from(self.months.len()).unwrap_or(u32::MAX)
    }

    /// What serves a month with a level of base, in thousandths of a GPU.
    pub fn serve(&self, month: u32, level: u64) -> Served {
        let Some(Month { all, rest }) = self.months.get(month as usize) else { return Served::default() };
        let over = all.over(level);
        let burst = rest.as_ref().map_or(over, |rest| rest.over(level));
        Served { base: all.over(0) - over, spot: over - burst, burst }
    }

    /// Of a month's highest hour, thousandths of a GPU.
    pub fn peak(&self, month: u32) -> u64 {
        self.months.get(month as usize).and_then(|it| it.all.sorted.last().copied()).unwrap_or_default()
    }
}

/// The hours of a month.
fn hours_of(hours: &[Hour], month: usize) -> &[Hour] {
    let until = ((month + 1) * MONTH).min(hours.len());
    hours.get(month * MONTH..until).unwrap_or_default()
}
