//! What is entered for a comparison: the work, and the options that could do it.
//!
//! It is what a file (`gpuledger scenario FILE.toml`), a form and a template have in common. Amounts are in one
//! currency. Prices say what they are paid for by where they stand: `on_demand` and `spot` for the hours that are used,
//! `per_million_tokens` for what they make, `committed` for every hour of a term, `blocks` for some hours in advance,
//! `owned` for machines that are there.

mod besides;
mod block;
mod dollar;
mod owned;
mod price;
mod range;

use serde::{Deserialize, Serialize};

pub use besides::{Every, Moved, OtherCost, PerWhat, Port};
pub use block::Block;
pub use dollar::{Dollar, SHIPPED};
pub use owned::{Gpus, Owned};
pub use price::{BY_THE_BOOKS, COVERED, CheaperHours, Committed, OUR_OWN, Rate, Spend, Spot};
pub use range::{Ranges, Stated};

use crate::economics::profile::Shape;
use crate::money::arithmetic::{decimal, one};
use crate::money::{Currency, Decimal};

/// One question: where should this work run?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    /// What it is about, for whoever reads it.
    pub note: String,
    /// Of every amount in it.
    pub currency: Currency,
    /// What a US dollar is worth in it: what shipped prices are converted at.
    #[serde(skip_serializing_if = "Dollar::is_unknown")]
    pub dollar: Dollar,
    /// Over how many months everything is compared. 36: the life that machines are mostly planned for.
    pub months: u32,
    /// What money costs in a year. 0.10, an assumption: take your own.
    pub cost_of_capital: Decimal,
    /// Where draws begin: the same seed draws the same.
    pub seed: u32,
    /// Between which values numbers at the top lie, where somebody states it.
    #[serde(skip_serializing_if = "Ranges::is_empty")]
    pub ranges: Ranges,
    pub work: Vec<Work>,
    #[serde(rename = "option")]
    pub options: Vec<Alternative>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            name: String::new(),
            note: String::new(),
            currency: Currency::exactly(SHIPPED),
            dollar: Dollar::default(),
            months: 36,
            cost_of_capital: decimal(10, 2),
            seed: 1,
            ranges: Ranges::new(),
            work: Vec::new(),
            options: Vec::new(),
        }
    }
}

/// GPUs that something asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    pub name: String,
    /// The model whose hours demand is counted in, by its id in the catalog of accelerators. Every option that takes
    /// another says how many of these hours one of its own is worth.
    #[serde(default)]
    pub accelerator: String,
    pub demand: Shape,
    /// By which share a month asks for more than the one before. 0: it stays.
    #[serde(default)]
    pub monthly_growth: Decimal,
    /// Which share of it can be interrupted and go on later. 0: none.
    #[serde(default)]
    pub interruptible: Decimal,
    /// Of the day, the hours within which what can be interrupted may move to cheaper ones. 24: any hour of it; 12: within
    /// its halves. 0: it stays.
    #[serde(default)]
    pub within_hours: u32,
    /// Which share of the hours in which it holds a GPU it does work. 1: all of them.
    #[serde(default = "one")]
    pub productive: Decimal,
    /// Which share of time it has to be there; none: whatever an option gives.
    #[serde(default)]
    pub availability: Option<Decimal>,
    /// π, money for an hour of its accelerator that is not served, by what is done instead or lost. None: nobody said, and
    /// all of it has to be served.
    #[serde(default)]
    pub unserved_cost: Option<Decimal>,
    /// Tokens that an hour of its accelerator makes while it does work, as measured. None: it makes none, or nobody
    /// measured.
    #[serde(default)]
    pub tokens_per_hour: Option<Decimal>,
    /// Between which values its numbers lie, where somebody states it.
    #[serde(default, skip_serializing_if = "Ranges::is_empty")]
    pub ranges: Ranges,
}

/// A way to do all of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    pub name: String,
    /// Money that is committed to by the hour, for whatever its places have a price under it. None: nothing is.
    #[serde(default)]
    pub spend: Option<Spend>,
    /// Where it runs. Several: each does a part, as in training here and serving there.
    #[serde(rename = "place")]
    pub places: Vec<Place>,
}

/// Where work runs, and what is paid for it there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Place {
    pub supplier: String,
    /// Names of the works that run here; none: all.
    pub serves: Vec<String>,
    /// Its model, by the id in the catalog of accelerators.
    pub accelerator: String,
    /// q: hours of the work's accelerator that one here is worth, as measured. 1: it is the same.
    pub performance: Decimal,
    /// F: hours for a useful one: checkpoints, restarts, work that is done twice. 1: none. Spot has its own besides.
    pub rework: Decimal,
    /// What capacity comes in. 8: DGX, HGX and the machines of most clouds.
    pub gpus_per_node: u32,
    /// Which share of time is promised. None: nothing is.
    pub availability: Option<Decimal>,
    /// α: how often what is paid by use is there when it is asked for. 1: always.
    pub obtainable: Decimal,
    pub owned: Option<Owned>,
    /// Reservations, committed use.
    pub committed: Vec<Committed>,
    /// Capacity that is paid for in advance for some hours.
    pub blocks: Vec<Block>,
    pub spot: Option<Spot>,
    pub on_demand: Option<Rate>,
    /// What an hour on demand costs under the spend that its option commits to.
    pub spend_rate: Option<Rate>,
    /// Hours of the day at which on demand and spot cost less.
    pub cheaper_hours: Option<CheaperHours>,
    /// Instead of on demand: paid by what comes out. Of work that says how many tokens an hour makes.
    pub per_million_tokens: Option<Rate>,
    /// Support, as a share of what is paid to the supplier.
    pub support: Decimal,
    /// Data that leaves another place for this one.
    pub moved: Vec<Moved>,
    /// What it takes until the work runs here; none: it does.
    pub porting: Option<Port>,
    /// Whatever else is paid for it: storage, a line.
    pub others: Vec<OtherCost>,
    /// Between which values its numbers lie, where somebody states it.
    #[serde(skip_serializing_if = "Ranges::is_empty")]
    pub ranges: Ranges,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            supplier: String::new(),
            serves: Vec::new(),
            accelerator: String::new(),
            performance: one(),
            rework: one(),
            gpus_per_node: 8,
            availability: None,
            obtainable: one(),
            owned: None,
            committed: Vec::new(),
            blocks: Vec::new(),
            spot: None,
            on_demand: None,
            spend_rate: None,
            cheaper_hours: None,
            per_million_tokens: None,
            support: Decimal::ZERO,
            moved: Vec::new(),
            porting: None,
            others: Vec::new(),
            ranges: Ranges::new(),
        }
    }
}

impl Scenario {
    /// Works, options, places, and every price, cost, level and step in them: what a scenario takes to compute and to show
    /// grows with them.
    pub fn parts(&self) -> usize {
        let of_work = |work: &Work| match &work.demand {
            Shape::Levels { levels, .. } => 1 + levels.len(),
            _ => 1,
        };
        let of_option = |option: &Alternative| 1 + option.places.iter().map(Place::parts).sum::<usize>();
        self.work.iter().map(of_work).sum::<usize>() + self.options.iter().map(of_option).sum::<usize>()
    }

    /// Hours of demand that are given one by one, of all works.
    pub fn hours(&self) -> usize {
        let of_work = |work: &Work| match &work.demand {
            Shape::Hours { gpus } => gpus.len(),
            _ => 0,
        };
        self.work.iter().map(of_work).sum()
    }
}

impl Place {
    /// Whether it has a base: what is paid for whether it is used or not.
    pub(in crate::economics) fn has_base(&self) -> bool {
        self.owned.is_some() || !self.committed.is_empty() || !self.blocks.is_empty()
    }

    /// Whether hours are sold there by use: on demand, or by the token.
    pub(in crate::economics) fn is_by_use(&self) -> bool {
        self.on_demand.is_some() || self.per_million_tokens.is_some()
    }

    fn parts(&self) -> usize {
        let of_machines = self.owned.as_ref().map_or(0, |it| {
            let machines = &it.machines;
            machines.others.len() + machines.one_offs.len() + machines.staff.steps.len()
        });
        let hops: usize = self.moved.iter().map(|it| 1 + it.hops.len()).sum();
        1 + self.serves.len()
            + self.committed.len()
            + self.blocks.len()
            + self.others.len()
            + hops
            + of_machines
    }
}

impl Scenario {
    /// One that was saved while fields of machines were accepted that change nothing, without them.
    #[must_use]
    pub fn without_what_has_no_effect(mut self) -> Self {
        for place in self.options.iter_mut().flat_map(|it| &mut it.places) {
            if let Some(owned) = &mut place.owned {
                owned.machines = std::mem::take(&mut owned.machines).in_a_scenario();
            }
        }
        self
    }

    /// The model that a place has, by its id in the catalog: its own, or that of the work it does.
    pub fn accelerator_of<'a>(&'a self, place: &'a Place) -> &'a str {
        if place.accelerator.is_empty() {
            self.served_by(place).next().map_or("", |work| work.accelerator.as_str())
        } else {
            &place.accelerator
        }
    }

    /// The works that a place does.
    pub(in crate::economics) fn served_by<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = &'a Work> {
        self.served_at(place).filter_map(|at| self.work.get(at))
    }

    /// Their places in the list of works.
    pub(in crate::economics) fn served_at<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = usize> {
        let serves = |work: &Work| place.serves.is_empty() || place.serves.contains(&work.name);
        self.work.iter().enumerate().filter(move |(_, work)| serves(work)).map(|(at, _)| at)
    }
}
