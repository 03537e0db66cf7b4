//! All inputs at once: so many draws, each input between its low and its high, triangular around what was entered.
//!
//! Draws are common to all options, so that what they share does not tell them apart. They follow from a seed, so that
//! the same scenario is the same figures, whoever computes it and when.

use serde::Serialize;

use super::Input;
use super::model::{Model, float};
use crate::money::Decimal;
use crate::scenario::comparison::{Comparison, Scenario};
use crate::scenario::profile::Random;

/// Bars of a histogram.
const BARS: u32 = 30;

/// What came out of all draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulation {
    pub seed: u64,
    pub draws: u32,
    pub options: Vec<Outcome>,
    /// Edges of the bars, from the least total to the greatest.
    pub edges: Vec<Decimal>,
}

/// An option's totals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// A tenth, a half and nine tenths of the draws cost no more.
    pub p10: Decimal,
    pub p50: Decimal,
    pub p90: Decimal,
    pub mean: Decimal,
    /// In which share of the draws it costs least of those that do the work; none where it does not.
    pub cheapest: Option<Decimal>,
    /// In which share of the draws it costs less than each of the others, by their place.
    pub beats: Vec<Decimal>,
    /// Draws in each bar.
    pub bars: Vec<u32>,
}

/// A number from a triangle over low and high with its peak at a value, by the inverse of its distribution.
fn triangular(low: f64, peak: f64, high: f64, share: f64) -> f64 {
    let width = high - low;
    if width <= 0.0 {
        return peak;
    }
    let left = (peak - low) / width;
    if share < left {
        low + (share * width * (peak - low)).sqrt()
    } else {
        high - ((1.0 - share) * width * (high - peak)).sqrt()
    }
}

/// Draws all inputs so often. `compared` is the scenario's own answer.
pub fn simulate(
    scenario: &Scenario,
    compared: &Comparison,
    inputs: &[Input],
    (seed, draws): (u64, u32),
) -> Simulation {
    let model = Model::new(scenario, compared, inputs);
    let ranges: Vec<[f64; 3]> =
        inputs.iter().map(|it| [float(it.low), float(it.value), float(it.high)]).collect();
    let mut random = Random::new(seed);
    let options = compared.options.len();
    let mut totals: Vec<Vec<f64>> = vec![Vec::with_capacity(draws as usize); options];
    let mut wins = vec![0_u32; options];
    let mut beats = vec![vec![0_u32; options]; options];
    let (mut values, mut costs) = (vec![0.0; ranges.len()], Vec::with_capacity(options));
    for _ in 0..draws {
        for (value, [low, peak, high]) in values.iter_mut().zip(&ranges) {
            *value = triangular(*low, *peak, *high, random.uniform());
        }
        model.totals(&values, &mut costs);
        let able = (0..options).filter(|at| compared.options[*at].fails.is_empty());
        if let Some(least) = able.min_by(|a, b| costs[*a].total_cmp(&costs[*b])) {
            wins[least] += 1;
        }
        for (at, total) in costs.iter().enumerate() {
            totals[at].push(*total);
            for (other, than) in costs.iter().enumerate() {
                beats[at][other] += u32::from(total < than);
            }
        }
    }
    let all = || totals.iter().flatten().copied();
    let (least, greatest) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let width = (greatest - least) / f64::from(BARS);
    let share = |n: u32| ratio(n, draws);
    let outcomes = totals.iter_mut().enumerate().map(|(at, totals)| {
        totals.sort_unstable_by(f64::total_cmp);
        let quantile = |tenths: usize| {
            let rank = (totals.len() * tenths).div_ceil(10).saturating_sub(1);
            cents(totals.get(rank).copied().unwrap_or_default())
        };
        let mut bars = vec![0_u32; BARS as usize];
        for total in totals.iter() {
            let bar = if width > 0.0 { ((total - least) / width) as usize } else { 0 };
            bars[bar.min(BARS as usize - 1)] += 1;
        }
        let sum: f64 = totals.iter().sum();
        Outcome {
            p10: quantile(1),
            p50: quantile(5),
            p90: quantile(9),
            mean: cents(sum / f64::from(draws.max(1))),
            cheapest: compared.options[at].fails.is_empty().then(|| share(wins[at])),
            beats: beats[at].iter().map(|n| share(*n)).collect(),
            bars,
        }
    });
    let options = outcomes.collect();
    let edges = if draws == 0 {
        Vec::new()
    } else {
        (0..=BARS).map(|n| cents(least + width * f64::from(n))).collect()
    };
    Simulation { seed, draws, options, edges }
}

/// From here on exact again, in cents.
pub(super) fn cents(amount: f64) -> Decimal {
    Decimal::parse(format!("{amount:.2}").as_bytes()).unwrap_or_default()
}

fn ratio(part: u32, whole: u32) -> Decimal {
    Decimal::from(i64::from(part)).divide(Decimal::from(i64::from(whole)), 4).unwrap_or_default()
}

#[cfg(test)]
mod tests;
