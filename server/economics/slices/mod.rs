//! A GPU that several jobs share: divided by MIG, or by turns.
//!
//! - a slice has c of the GPU's compute parts and m of its memory parts (7 and 8 on an A100 or H100): its share is c ÷ 7,
//!   m ÷ 8, or the larger of the two, as nobody else can use what it blocks
//! - its cost = price × share ÷ max(1, sum of shares): where the larger shares sum to more than a GPU, they are divided
//!   by their sum
//! - idle = price − sum of the slices' costs: what is stranded costs all the same
//! - by turns: price ÷ replicas × hours, without a wall between the jobs
//!
//! A slice starts only at certain memory parts, so not every layout that sums to less than a GPU is possible.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::check::{self, Finding, Refused};
use super::figure::{Figure, Term, Unit, figure, term};
use crate::money::Decimal;
use crate::money::arithmetic::{count, product, quotient};

/// Decimals of what a slice costs.
const PLACES: u8 = 20;

/// A way to cut a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Profile {
    /// The GPU's id in the catalog of accelerators.
    pub model: String,
    /// `3g.40gb`.
    #[serde(rename = "profile")]
    pub name: String,
    /// c, and of how many parts.
    pub compute: u32,
    pub of_compute: u32,
    /// m, and of how many parts.
    pub memory: u32,
    pub of_memory: u32,
    /// How many a GPU has at most.
    pub most: u32,
    /// Memory parts that it may start at.
    starts: String,
    pub source: String,
}

/// What a slice is charged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    Compute,
    Memory,
    /// Whichever is more.
    #[default]
    Dominant,
}

/// A GPU and how it is cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The GPU's id in the catalog of accelerators.
    pub accelerator: String,
    /// Money for an hour of the whole GPU.
    pub price: Decimal,
    /// Names of profiles, one for each slice.
    pub slices: Vec<String>,
    #[serde(default)]
    pub by: By,
}

/// What a divided GPU costs. The slices and what is idle sum exactly to its price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayoutCost {
    pub slices: Vec<SliceCost>,
    /// Money for an hour of what no slice pays for.
    pub idle: Figure,
    /// Of the GPU's compute, what is in no slice.
    pub stranded_compute: Figure,
    /// Of the GPU's memory, what is in no slice.
    pub stranded_memory: Figure,
    /// What the slices' shares sum to: above 1 they are divided by it.
    pub shares: Figure,
    pub warnings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SliceCost {
    pub profile: String,
    /// Money for an hour.
    pub cost: Figure,
}

/// A GPU whose time jobs take in turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// Money for an hour of the whole GPU.
    pub price: Decimal,
    /// Jobs that it is offered to at once.
    pub replicas: u32,
    /// That one of them holds its turn.
    pub hours: Decimal,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurnsCost {
    pub cost: Figure,
    /// Whether a job can neither see another's memory nor be stopped by it: never, unlike a slice.
    pub is_isolated: bool,
}

static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let mut rows = csv::Reader::from_reader(include_bytes!("../catalog/slices.csv").as_slice());
    // The file is a part of the program; a test reads all of it.
    rows.deserialize().filter_map(Result::ok).collect()
});

/// Every way to cut a GPU, by its id in the catalog of accelerators. None of those that cannot be cut.
pub fn profiles_of(accelerator: &str) -> Vec<&'static Profile> {
    PROFILES.iter().filter(|profile| profile.model == accelerator).collect()
}

pub(super) fn profile(accelerator: &str, name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.model == accelerator && profile.name == name)
}

/// What a slice is of its GPU by its dominant share: a part, and of how many. `accelerator`: the GPU's id in the catalog; without it,
/// names that mean more of a smaller GPU (`1g.10gb`) mean the larger one. Media extensions (`+me`) change nothing. `None` of a name
/// that no GPU has.
pub fn dominant_share(accelerator: Option<&str>, name: &str) -> Option<(u32, u32)> {
    let name = name.trim().split(['+', ' ']).next().unwrap_or_default();
    let share = |profile: &Profile| (profile.weight(By::Dominant), profile.whole());
    let of_this = accelerator.and_then(|accelerator| profile(accelerator, name));
    of_this.map(share).or_else(|| {
        let named = PROFILES.iter().filter(|profile| profile.name == name).map(share);
        named.min_by(|(a, of_a), (b, of_b)| (a * of_b).cmp(&(b * of_a)))
    })
}

impl Profile {
    fn starts(&self) -> impl Iterator<Item = u32> {
        self.starts.split(' ').filter_map(|start| start.parse().ok())
    }

    /// The share, in parts of `of_compute × of_memory`.
    fn weight(&self, by: By) -> u32 {
        let (compute, memory) = (self.compute * self.of_memory, self.memory * self.of_compute);
        match by {
            By::Compute => compute,
            By::Memory => memory,
            By::Dominant => compute.max(memory),
        }
    }

    fn whole(&self) -> u32 {
        self.of_compute * self.of_memory
    }
}

/// Whether these can lie beside each other on a GPU.
pub fn is_possible(slices: &[&Profile]) -> bool {
    let Some(first) = slices.first() else { return true };
    let compute: u32 = slices.iter().map(|slice| slice.compute).sum();
    let is_one_gpu = slices.iter().all(|slice| slice.model == first.model);
    is_one_gpu && compute <= first.of_compute && lie(slices, 0)
}

/// Whether they find places among memory parts of which some are taken, one bit each.
fn lie(slices: &[&Profile], taken: u32) -> bool {
    let Some((slice, others)) = slices.split_first() else { return true };
    slice.starts().any(|start| {
        let place = ((1u32 << slice.memory) - 1) << start;
        place & taken == 0 && lie(others, taken | place)
    })
}

impl Layout {
    /// What each slice costs, and what is left over.
    ///
    /// # Errors
    /// What cannot be computed with, in words: also a layout that is not possible.
    pub fn cost(&self) -> Result<LayoutCost, Refused> {
        let warnings = check::layout(self).warnings_or_refused()?;
        let profiles: Vec<&Profile> =
            self.slices.iter().filter_map(|name| profile(&self.accelerator, name)).collect();
        let whole = profiles.first().map_or(1, |profile| profile.whole());
        let weights: Vec<u32> = profiles.iter().map(|profile| profile.weight(self.by)).collect();
        let sum: u32 = weights.iter().sum();
        let costs = self.costs(&weights, whole);
        let idle = self.price - costs.iter().copied().sum::<Decimal>();
        let shares = quotient(count(sum), count(whole));
        let rest = |all: fn(&Profile) -> u32, part: fn(&Profile) -> u32| {
            let parts = profiles.iter().map(|it| part(it)).sum::<u32>();
            let of = profiles.first().map_or(1, |it| all(it));
            (
                quotient(count(of - parts.min(of)), count(of)),
                vec![
                    term("parts in slices", count(parts), Unit::Number),
                    term("parts", count(of), Unit::Number),
                ],
            )
        };
        let price = term("price of the GPU", self.price, Unit::MoneyPerHour);
        let stranded = |name, (value, terms): (Option<Decimal>, Vec<Term>)| {
            figure(name, value, Unit::Share, "1 − parts in slices ÷ parts", terms)
        };
        Ok(LayoutCost {
            slices: profiles
                .iter()
                .zip(&weights)
                .zip(&costs)
                .map(|((profile, weight), cost)| SliceCost {
                    profile: profile.name.clone(),
                    cost: figure(
                        "The slice",
                        Some(*cost),
                        Unit::MoneyPerHour,
                        "price of the GPU × share ÷ max(1, sum of shares)",
                        [
                            Some(price.clone()),
                            quotient(count(*weight), count(whole)).map(|it| term("share", it, Unit::Share)),
                            shares.map(|it| term("sum of shares", it, Unit::Share)),
                        ]
                        .into_iter()
                        .flatten()
                        .collect(),
                    ),
                })
                .collect(),
            idle: figure(
                "Idle",
                Some(idle),
                Unit::MoneyPerHour,
                "price of the GPU − slices",
                vec![price.clone(), term("slices", self.price - idle, Unit::MoneyPerHour)],
            ),
            stranded_compute: stranded("Compute in no slice", rest(|it| it.of_compute, |it| it.compute)),
            stranded_memory: stranded("Memory in no slice", rest(|it| it.of_memory, |it| it.memory)),
            shares: figure(
                "Shares",
                shares,
                Unit::Share,
                "the sum of the slices’ shares",
                vec![term("slices", count(profiles.len() as u32), Unit::Number)],
            ),
            warnings,
        })
    }

    fn costs(&self, weights: &[u32], whole: u32) -> Vec<Decimal> {
        let sum: u32 = weights.iter().sum();
        if sum >= whole {
            let weights: Vec<Decimal> = weights.iter().map(|weight| count(*weight)).collect();
            return self.price.apportion(&weights, PLACES).unwrap_or_default();
        }
        let share = |weight: &u32| quotient(self.price.times(i64::from(*weight)), count(whole));
        weights.iter().map(|weight| share(weight).unwrap_or_default()).collect()
    }
}

impl Turns {
    /// What one job's turns cost.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost(&self) -> Result<TurnsCost, Refused> {
        check::turns(self).warnings_or_refused()?;
        let cost = quotient(product(&[self.price, self.hours]), count(self.replicas));
        let terms = vec![
            term("price of the GPU", self.price, Unit::MoneyPerHour),
            term("replicas", count(self.replicas), Unit::Number),
            term("hours", self.hours, Unit::Hours),
        ];
        let formula = "price of the GPU ÷ replicas × hours";
        Ok(TurnsCost { cost: figure("The turns", cost, Unit::Money, formula, terms), is_isolated: false })
    }
}

#[cfg(test)]
mod tests;
