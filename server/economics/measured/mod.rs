//! A scenario of what was used and paid: its hours as the work, its prices as those of today. Pure.
//!
//! - A work for each model, with the GPUs of each hour of the period. Hours are exact; to become thousandths of a GPU
//!   they are rounded by what was summed until then, so that each is within a thousandth and their sum is that of all,
//!   rounded once.
//! - *As it is* ([`layers`]) costs over the period what was paid in it.
//! - What is paid on whichever option is taken, machines of one's own and commitments, keeps the hours that it served: a work
//!   of its own, which every option does at the same cost ([`staying`]). Options differ in the hours beside it. Where there
//!   are none, staying itself is compared with leaving, as if all of it ended.
//! - Beside it what else could do the same ([`options`]): on demand, reserved, elsewhere, on machines of one's own.
//!
//! A price of one's own is what was paid for the use of accelerators ÷ accelerator-hours, effective cost.

mod layers;
mod options;
mod staying;

use serde::Serialize;

pub use layers::{HowPaid, Reconciled};
pub use options::TooDear;
pub use staying::PaidOn;

use super::comparison::{Alternative, Committed, Dollar, Gpus, Place, Rate, SHIPPED, Scenario, Work};
use super::owning::Owning;
use super::profile::Shape;
use crate::accelerator::accelerator_hours;
use crate::money::arithmetic::quotient;
use crate::money::{Currency, Decimal};
use crate::period::Period;
use crate::price_catalogue::Price;

/// Works that a scenario is made of at most: as many as an option has places.
const MOST: usize = 6;
/// Decimals of accelerator-hours, as spend tells them.
const PLACES: u8 = 6;
/// Decimals of a GPU in an hour of a profile.
const THOUSANDTHS: u8 = 3;

/// What was used and paid in a period.
#[derive(Clone, Debug)]
pub struct Measured {
    /// `Team: nlp`; everything.
    pub whose: String,
    pub period: Period,
    pub currency: Currency,
    /// The dearest first.
    pub models: Vec<Used>,
    /// What a dollar of the list is worth in the currency; none where nobody knows, and then no list is used.
    pub dollar: Option<Decimal>,
}

/// A model that was used.
#[derive(Clone, Debug)]
pub struct Used {
    /// Its id in the catalog.
    pub accelerator: &'static str,
    pub name: String,
    /// Of the machines that it came in.
    pub gpus_per_node: u32,
    pub ways: Vec<Way>,
    /// What commitments for it cost that nothing used.
    pub unused: Decimal,
    /// What it is offered for elsewhere, in dollars.
    pub listed: Vec<Price>,
    /// What machines of one's own would be; none where nobody knows their price.
    pub machines: Option<Machines>,
}

/// What owning is computed with, in the currency, and where that is from.
#[derive(Clone, Debug)]
pub struct Machines {
    pub owning: Owning,
    /// `Our own, as H100 East`.
    pub name: String,
    /// Where the price of a node is from.
    pub source: String,
}

/// Hours that were paid for in one way.
#[derive(Clone, Debug)]
pub struct Way {
    pub supplier: String,
    pub paid: HowPaid,
    /// Part-seconds of accelerators in each hour of the period.
    pub hours: Vec<Decimal>,
    pub cost: Decimal,
}

/// A scenario, and what it was made of.
#[derive(Clone, Debug)]
pub struct Made {
    pub scenario: Scenario,
    pub described: Described,
}

/// What a scenario was made of.
#[derive(Clone, Debug, Serialize)]
pub struct Described {
    pub period: Period,
    /// Hours of the period.
    pub hours: usize,
    pub models: Vec<DescribedModel>,
    /// Models beyond the largest, and those without hours, which are no part of it.
    pub left_out: Vec<LeftOut>,
    pub as_it_is: Reconciled,
    /// What is paid until it ends, whichever option is taken; by model, machines first.
    pub paid_on: Vec<PaidOn>,
    /// Whether it is in every option alike. Else there is nothing beside it, and it is in “As it is” alone.
    pub is_paid_in_every_option: bool,
    /// Options that could not be made, and why.
    pub without: Vec<String>,
    /// Reservations that no GPU would be bought of.
    pub too_dear: Vec<TooDear>,
    /// What is assumed of machines of one's own.
    pub assumed: Vec<String>,
}

/// A model, and what its hours cost in each way.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedModel {
    pub name: String,
    pub accelerator: &'static str,
    /// As spend tells them.
    pub gpu_hours: Decimal,
    /// Of the profile, in whole thousandths.
    pub profile_hours: Decimal,
    pub cost: Decimal,
    /// By supplier and way of paying.
    pub prices: Vec<PaidPrice>,
    pub unused: Decimal,
}

/// What an hour cost in one way, of one supplier.
#[derive(Clone, Debug, Serialize)]
pub struct PaidPrice {
    pub supplier: String,
    pub paid: HowPaid,
    pub gpu_hours: Decimal,
    pub cost: Decimal,
    /// None of what took no time.
    pub per_hour: Option<Decimal>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    pub name: String,
    pub gpu_hours: Decimal,
    pub cost: Decimal,
    /// What commitments for it cost that nothing used.
    pub unused: Decimal,
}

impl Way {
    fn part_seconds(&self) -> Decimal {
        self.hours.iter().copied().sum()
    }
}

impl Used {
    /// What its use cost, without commitments that nothing used.
    pub fn cost(&self) -> Decimal {
        self.ways.iter().map(|it| it.cost).sum()
    }

    fn part_seconds(&self) -> Decimal {
        self.ways.iter().map(Way::part_seconds).sum()
    }

    fn gpu_hours(&self) -> Decimal {
        accelerator_hours(self.part_seconds(), PLACES).normalize()
    }

    /// GPUs in each hour of the period, in thousandths.
    pub fn gpus(&self) -> Vec<Decimal> {
        let hours = self.ways.iter().map(|it| it.hours.len()).max().unwrap_or_default();
        let in_hour =
            |hour: usize| -> Decimal { self.ways.iter().filter_map(|it| it.hours.get(hour)).copied().sum() };
        let (mut exact, mut described) = (Decimal::ZERO, Decimal::ZERO);
        (0..hours)
            .map(|hour| {
                exact += in_hour(hour);
                // What was taken back in an hour is taken from those after it.
                let of_hour = (accelerator_hours(exact, THOUSANDTHS) - described).max(Decimal::ZERO);
                described += of_hour;
                of_hour.normalize()
            })
            .collect()
    }

    /// The share of its hours that could be taken away.
    fn spot_share(&self) -> Decimal {
        let spot = self.ways.iter().filter(|it| it.paid == HowPaid::Spot).map(Way::part_seconds).sum();
        quotient(spot, self.part_seconds()).unwrap_or_default().round(layers::DIGITS).normalize()
    }

    fn work(&self) -> Work {
        Work {
            name: self.name.clone(),
            accelerator: self.accelerator.to_owned(),
            demand: Shape::Hours { gpus: self.gpus() },
            monthly_growth: Decimal::ZERO,
            interruptible: self.spot_share(),
            productive: 1.into(),
            availability: None,
            tokens_per_hour: None,
            ranges: std::collections::BTreeMap::new(),
            unserved_cost: None,
            within_hours: 0,
        }
    }

    /// A place for it, at no price yet.
    fn place(&self) -> Place {
        Place {
            serves: vec![self.name.clone()],
            accelerator: self.accelerator.to_owned(),
            gpus_per_node: self.gpus_per_node,
            ..Place::default()
        }
    }

    fn described(&self) -> DescribedModel {
        let price = |way: &Way| {
            let gpu_hours = accelerator_hours(way.part_seconds(), PLACES).normalize();
            let per_hour = quotient(way.cost, gpu_hours).map(|it| it.round(PLACES).normalize());
            PaidPrice { supplier: way.supplier.clone(), paid: way.paid, gpu_hours, cost: way.cost, per_hour }
        };
        let mut prices: Vec<PaidPrice> = self.ways.iter().map(price).collect();
        prices.sort_by(|a, b| a.paid.cmp(&b.paid).then(b.cost.cmp(&a.cost)));
        DescribedModel {
            name: self.name.clone(),
            accelerator: self.accelerator,
            gpu_hours: self.gpu_hours(),
            profile_hours: self.gpus().into_iter().sum::<Decimal>().normalize(),
            cost: self.cost(),
            prices,
            unused: self.unused,
        }
    }

    fn left_out(&self) -> LeftOut {
        let (gpu_hours, cost) = (self.gpu_hours(), self.cost());
        LeftOut { name: self.name.clone(), gpu_hours, cost, unused: self.unused }
    }

    /// Whoever supplied it in some ways.
    fn suppliers(&self, is_meant: impl Fn(&&Way) -> bool) -> String {
        let mut names: Vec<&str> = Vec::new();
        for way in self.ways.iter().filter(is_meant) {
            if !way.supplier.is_empty() && !names.contains(&way.supplier.as_str()) {
                names.push(&way.supplier);
            }
        }
        names.join(", ")
    }
}

impl Measured {
    /// The period as people call it, in sources: `2026-Q3` reads as Q3 2026.
    fn when(&self) -> String {
        self.period.name()
    }

    /// What lists in dollars are converted at, where the scenario is in another currency.
    fn worth_of_a_dollar(&self) -> Dollar {
        match self.dollar {
            Some(worth) if self.currency.as_str() != SHIPPED => Dollar {
                worth: Some(worth),
                date: Some(self.period.last().first_day()),
                source: "exchange rates of the organization".to_owned(),
            },
            _ => Dollar::default(),
        }
    }

    /// A scenario of it; none where no accelerator was used.
    pub fn scenario(&self) -> Option<Made> {
        let (used, without_hours): (Vec<&Used>, Vec<&Used>) =
            self.models.iter().partition(|it| !it.part_seconds().is_zero());
        let is_everything_paid_on = used.iter().all(|it| staying::is_all(it));
        let mut works = 0;
        let fitting = used.iter().take_while(|it| {
            works += if is_everything_paid_on { 1 } else { staying::works(it) };
            works <= MOST
        });
        let (taken, rest) = used.split_at(fitting.count());
        let is_paid = |it: &&&Used| !it.cost().is_zero() || !it.unused.is_zero();
        let left_out = rest.iter().chain(without_hours.iter().filter(is_paid));
        if taken.is_empty() {
            return None;
        }
        let parts: Vec<staying::Parts> = taken
            .iter()
            .map(|it| if is_everything_paid_on { staying::Parts::whole(it) } else { staying::Parts::of(it) })
            .collect();
        let moving: Vec<&Used> = parts.iter().filter_map(|it| it.moving.as_ref()).collect();
        let staying: Vec<&Used> = parts.iter().filter_map(|it| it.staying.as_ref()).collect();
        let works: Vec<&Used> = moving.iter().chain(&staying).copied().collect();
        let mut scenario = Scenario {
            name: format!("{}, {}", self.whose, self.when()),
            currency: self.currency.clone(),
            dollar: self.worth_of_a_dollar(),
            work: works.iter().map(|it| it.work()).collect(),
            ..Scenario::default()
        };
        let found = options::options(self, &moving, &staying, !is_everything_paid_on, scenario.months);
        scenario.options = found.options;
        scenario.note = self.note();
        let described = Described {
            period: self.period,
            hours: taken[0].ways[0].hours.len(),
            models: taken.iter().map(|it| it.described()).collect(),
            left_out: left_out.map(|it| it.left_out()).collect(),
            as_it_is: layers::reconciled(&works, &scenario.options[0].places),
            paid_on: staying::paid_on(taken),
            is_paid_in_every_option: !is_everything_paid_on,
            without: found.without,
            too_dear: found.too_dear,
            assumed: taken
                .iter()
                .filter_map(|it| Some(format!("{}: {}", it.name, it.machines.as_ref()?.source)))
                .collect(),
        };
        Some(Made { scenario, described })
    }

    fn note(&self) -> String {
        format!(
            "{}, {}: cloud and on-prem GPU-hours, hour by hour, with their cost. The same hours repeat for the compared \
             months. Measured utilization is not used: every hour counts as productive.",
            self.whose,
            self.when()
        )
    }
}

/// So many GPUs at a rate for a term, nothing of which is paid upfront.
fn base(rate: Rate, months: u32, gpus: Gpus) -> Committed {
    Committed { rate, upfront: Decimal::ZERO, months, gpus }
}

/// An option with one place for each work.
fn option(name: &str, places: Vec<Place>) -> Alternative {
    Alternative { name: name.to_owned(), places, spend: None }
}

#[cfg(test)]
mod tests;
