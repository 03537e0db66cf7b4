//! Which layer serves which hours: the demand duration curve of a place.

use serde::Serialize;

use super::Demands;
use super::answer::{Comparison, LayerKind};
use super::block;
use super::entered::Scenario;
use super::owned::OwnedBase;
use super::place::Asked;
use crate::economics::profile::{MONTH, in_gpus};
use crate::money::Decimal;
use crate::money::arithmetic::{count_of, one, product, quotient};

/// Hours of all months from those that ask for most to those that ask for least, cut into equally many, each with what
/// serves it on average.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Duration {
    /// From the base up; together they are the demand.
    pub layers: Vec<DurationLayer>,
    /// How many hours lie in each step.
    pub hours: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DurationLayer {
    pub name: String,
    /// None: nothing serves it.
    pub kind: Option<LayerKind>,
    /// In each step.
    pub gpus: Vec<Decimal>,
    /// In the hour that asks for most, which is in no average.
    pub highest: Decimal,
}

/// How a place of an option is served, in so many steps. None where there is no such place. `demands` and `compared` are
/// the scenario's own.
pub fn duration(
    scenario: &Scenario,
    (demands, compared): (&Demands, &Comparison),
    (option, place): (usize, usize),
    steps: usize,
) -> Option<Duration> {
    let entered = scenario.options.get(option)?.places.get(place)?;
    let found = compared.options.get(option)?.places.get(place)?;
    let asked = Asked::new(scenario, &demands.0, (place, entered));
    // As many as were decided.
    let owned = match (&entered.owned, &found.machines) {
        (Some(owned), Some(machines)) => {
            Some(OwnedBase::with(&asked, (&owned.machines, owned.refresh), machines.gpus).ok()?)
        }
        _ => None,
    };
    let level = owned.as_ref().map_or(0, |it| it.level);
    let levels = asked.levels_above(level);
    let mut in_blocks = vec![vec![0_u64; asked.demand.hours().len()]; entered.blocks.len()];
    let rest =
        block::served(&entered.blocks, &asked.demand, |at, hour, served| in_blocks[at][hour] += served);
    let block = |hours: u32| (format!("Blocks of {hours} hours"), Some(LayerKind::Block));
    let mut names: Vec<_> = entered.blocks.iter().map(|it| block(it.hours)).collect();
    names.push(("Owned".to_owned(), Some(LayerKind::Owned)));
    names.extend(asked.committed.iter().map(|it| (it.name(), Some(LayerKind::Committed))));
    names.push(("Spot".to_owned(), Some(LayerKind::Spot)));
    // What is left is there with a chance.
    let left = names.len();
    names.push(match asked.millions_per_hour() {
        Some(_) => ("By the token".to_owned(), Some(LayerKind::Tokens)),
        None if entered.spend_rate.is_some() => {
            ("On demand, in part under the spend commitment".to_owned(), Some(LayerKind::OnDemand))
        }
        None => ("On demand".to_owned(), Some(LayerKind::OnDemand)),
    });
    names.push(("Not served".to_owned(), None));

    // Each hour by its layers.
    let hours = rest.hours().iter().enumerate().map(|(at, hour)| {
        let month = at / MONTH;
        let (all, mut below) = (hour.all(), hour.all().min(level));
        let mut served = Vec::with_capacity(names.len());
        served.extend(in_blocks.iter().map(|it| it[at]));
        served.push(below);
        for level in &levels {
            let until = all.min(level.get(month).copied().unwrap_or_default()).max(below);
            served.push(until - below);
            below = until;
        }
        let over = all - below;
        let spot = over.min(hour.interruptible).min(asked.overflow.spot_of(month));
        served.extend([spot, over - spot]);
        (asked.demand.hours()[at].all(), served)
    });
    let mut hours: Vec<(u64, Vec<u64>)> = hours.collect();
    hours.sort_by_key(|(all, _)| std::cmp::Reverse(*all));

    let steps = steps.clamp(1, hours.len().max(1));
    let cut = |step: usize| hours.len() * step / steps;
    let parts: Vec<&[(u64, Vec<u64>)]> = (0..steps).map(|step| &hours[cut(step)..cut(step + 1)]).collect();
    let layers = names.into_iter().enumerate().map(|(layer, (name, kind))| {
        let share = match layer.checked_sub(left) {
            None => one(),
            Some(0) => asked.obtainable,
            Some(_) => one() - asked.obtainable,
        };
        let mean = |part: &&[(u64, Vec<u64>)]| {
            let sum: u128 = part.iter().map(|(_, served)| u128::from(served[layer.min(left)])).sum();
            let hours = count_of(part.len());
            quotient(product(&[in_gpus(sum), share]), hours).unwrap_or_default()
        };
        let highest = mean(&hours.get(..1).unwrap_or_default());
        DurationLayer { name, kind, gpus: parts.iter().map(mean).collect(), highest }
    });
    let layers = layers.filter(|it| it.gpus.iter().any(|gpus| !gpus.is_zero())).collect();
    Some(Duration { layers, hours: parts.iter().map(|part| part.len()).collect() })
}
