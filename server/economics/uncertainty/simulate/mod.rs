//! All inputs at once: so many simulations, each input between its low and its high, triangular around what was entered.
//!
//! Whether work that has to be ported runs is simulated, too, with its chance; where it does not, the option costs what was paid
//! in vain and what it falls back on.
//!
//! Simulations are common to all options, so that what they share does not distinguish them. They follow from a seed, so that
//! the same scenario is the same figures, whoever computes it and when.

use serde::Serialize;

use super::model::{Model, Works, cents, float};
use crate::cancellation;
use crate::economics::comparison::Comparison;
use crate::economics::profile::Random;
use crate::money::Decimal;

/// Bars of a histogram.
const BARS: u32 = 30;

/// What came out of all simulations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulation {
    pub seed: u64,
    pub draws: u32,
    pub options: Vec<Outcome>,
    /// Edges of the bars, from the least present value to the greatest.
    pub edges: Vec<Decimal>,
}

/// An option's present values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// A tenth, a half and nine tenths of the simulations cost no more.
    pub p10: Decimal,
    pub p50: Decimal,
    pub p90: Decimal,
    pub mean: Decimal,
    /// In which share of the simulations it costs least of those that do the work; none where it does not.
    pub cheapest: Option<Decimal>,
    /// In which share of the simulations it costs less than each of the others, by their place.
    pub beats: Vec<Decimal>,
    /// What it costs more than the cheapest of its simulation that does the work; none where it does not itself.
    pub regret: Option<Regret>,
    /// Simulations in each bar.
    pub bars: Vec<u32>,
}

/// What is lost by an option where another turns out to cost less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Regret {
    /// Over all simulations; in those in which it costs least it is nothing.
    pub mean: Decimal,
    /// Nine tenths of the simulations lose no more.
    pub p90: Decimal,
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

/// Simulations all inputs so often. `compared` is the answer that the model was made of.
pub fn simulate(compared: &Comparison, model: &Model, (seed, draws): (u64, u32)) -> Simulation {
    let ranges: Vec<[f64; 3]> =
        model.inputs.iter().map(|it| [float(it.low), float(it.value), float(it.high)]).collect();
    let mut random = Random::new(seed);
    let options = compared.options.len();
    let mut totals: Vec<Vec<f64>> = vec![Vec::with_capacity(draws as usize); options];
    let mut regrets = totals.clone();
    let mut wins = vec![0_u32; options];
    let mut beats = vec![vec![0_u32; options]; options];
    let (mut values, mut costs) = (vec![0.0; ranges.len()], Vec::with_capacity(options));
    for _ in 0..draws {
        cancellation::check();
        for (value, [low, peak, high]) in values.iter_mut().zip(&ranges) {
            *value = triangular(*low, *peak, *high, random.uniform());
        }
        // What is ported in one option fails in all of them, or in none.
        let works = if model.is_uncertain() { random.uniform() } else { 0.0 };
        model.totals(&values, Works::Drawn(works), &mut costs);
        let able = (0..options).filter(|at| compared.options[*at].fails.is_empty());
        if let Some(least) = able.min_by(|a, b| costs[*a].total_cmp(&costs[*b])) {
            wins[least] += 1;
            for (regrets, cost) in regrets.iter_mut().zip(&costs) {
                regrets.push(cost - costs[least]);
            }
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
    let mean = |amounts: &[f64]| cents(amounts.iter().sum::<f64>() / f64::from(draws.max(1)));
    let outcomes = totals.iter_mut().zip(&mut regrets).enumerate().map(|(at, (totals, regrets))| {
        totals.sort_unstable_by(f64::total_cmp);
        regrets.sort_unstable_by(f64::total_cmp);
        let does_the_work = compared.options[at].fails.is_empty();
        let mut bars = vec![0_u32; BARS as usize];
        for total in totals.iter() {
            let bar = if width > 0.0 { ((total - least) / width) as usize } else { 0 };
            bars[bar.min(BARS as usize - 1)] += 1;
        }
        Outcome {
            p10: quantile(totals, 1),
            p50: quantile(totals, 5),
            p90: quantile(totals, 9),
            mean: mean(totals),
            cheapest: does_the_work.then(|| share(wins[at])),
            beats: beats[at].iter().map(|n| share(*n)).collect(),
            regret: does_the_work.then(|| Regret { mean: mean(regrets), p90: quantile(regrets, 9) }),
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

/// What so many tenths of amounts in ascending order do not exceed.
fn quantile(sorted: &[f64], tenths: usize) -> Decimal {
    let rank = (sorted.len() * tenths).div_ceil(10).saturating_sub(1);
    cents(sorted.get(rank).copied().unwrap_or_default())
}

fn ratio(part: u32, whole: u32) -> Decimal {
    Decimal::from(i64::from(part)).divide(Decimal::from(i64::from(whole)), 4).unwrap_or_default()
}

#[cfg(test)]
mod tests;
