//! Where should this work run? Every option on the same work, with every cost.
//!
//! - Demand is in GPU-hours of the work's accelerator, 730 in a month; each place converts it to its own GPUs.
//! - A place serves it from the base up: blocks, owned or committed, spot, on demand ([`place`]).
//! - What an option costs is the sum of its lines over all months. Capital stands in it as an annuity that is paid by the
//!   month as rents are, so that options compare whatever their lives; what is paid when stands beside it
//!   ([`crate::economics::cash`]), and the two are never added.
//! - What is expected not to be there when it is asked for costs what an hour costs that is not served ([`able`]).
//! - What is uncertain to work costs what is expected of it, with falling back on another option ([`fallback`]).
//! - The cheapest is the one with the least present value, expected where it is uncertain to work, of those that serve all of
//!   the work as it is needed. Where money costs nothing that is the least total.

mod able;
mod answer;
mod bill;
mod block;
mod break_evens;
mod cheaper;
mod committed;
mod coverage;
mod currency;
mod curves;
mod data_transfer;
mod duration;
mod entered;
mod fallback;
mod owned;
mod place;
mod porting;
mod refresh;
mod sized_place;
mod spend;
mod stated;
mod tokens;

pub use answer::{
    Against, Comparison, Fallback, Layer, LayerKind, Line, MovedAnswer, Moving, OptionAnswer, PaidBesides,
    PaidWhen, PlaceAnswer, Policy, PortedAnswer, WorkAnswer,
};
pub use currency::at_rate;
pub use curves::{Crossing, Curve, Curves, Repaid, curves, repaid};
pub use duration::{Duration, DurationLayer, duration};
pub use entered::{
    Alternative, BY_THE_BOOKS, Block, COVERED, CheaperHours, Committed, Dollar, Every, Gpus, Moved, OUR_OWN,
    OtherCost, Owned, PerWhat, Place, Port, Ranges, Rate, SHIPPED, Scenario, Spend, Spot, Stated, Work,
};
pub use refresh::Generation;

use super::cash::Payments;
use super::check::{self, Refused};
use super::profile::{Profile, Shape, in_gpus};
use crate::money::Decimal;
use crate::money::arithmetic::{count_of, one, product, quotient};
use bill::Evaluated;
use place::Asked;
use sized_place::Decided;

/// Digits after the point of a price that follows from others: no more than one may be entered with.
const PLACES: u8 = 12;

/// What the works of a scenario ask for, hour by hour.
#[derive(Clone, Debug)]
pub struct Demands(Vec<Profile>);

impl Scenario {
    /// What each option costs.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn compare(&self) -> Result<Comparison, Refused> {
        let warnings = check::scenario(self).warnings_or_refused()?;
        // What is refused is asked for no hours: there may be too many to hold.
        let demands = &self.demands().0;
        let mut work = Vec::with_capacity(self.work.len());
        for (entered, demand) in self.work.iter().zip(demands) {
            work.push(asked_for(entered, demand)?);
        }
        let mut options = Vec::with_capacity(self.options.len());
        for option in &self.options {
            options.push(self.answer(option, demands, &work)?);
        }
        // What porting saves is that of success; everything else is what is expected.
        let moves = self.moves(&options);
        fallback::expect(&mut options, self.cost_of_capital);
        for at in 0..options.len() {
            options[at].paybacks = break_evens::paybacks(at, &options);
        }
        let does_the_work = options.iter().enumerate().filter(|(_, it)| it.fails.is_empty());
        let cheapest = does_the_work.min_by_key(|(_, it)| it.present_value).map(|(at, _)| at);
        let break_evens = self.break_evens(&options)?;
        Ok(Comparison {
            currency: self.currency.clone(),
            months: self.months,
            cost_of_capital: self.cost_of_capital,
            work,
            options,
            cheapest,
            break_evens,
            moves,
            warnings,
        })
    }

    /// What each place of an option amounts to.
    fn evaluated(&self, option: &Alternative, demands: &[Profile]) -> Result<Vec<Evaluated>, Refused> {
        let asked: Vec<Asked<'_>> =
            option.places.iter().enumerate().map(|place| Asked::new(self, demands, place)).collect();
        let decided: Vec<Decided<'_>> = asked.iter().map(Decided::of).collect::<Result<_, _>>()?;
        let covered = option.spend.as_ref().map(|spend| {
            let bases = decided.iter().map(|it| (it.asked, &it.base[..]));
            spend::covered(spend, &bases.collect::<Vec<_>>())
        });
        let covered = |at: usize| covered.as_ref().and_then(|it| it[at].as_ref());
        decided.iter().enumerate().map(|(at, it)| it.evaluate(covered(at))).collect()
    }

    /// What each work asks for over all months. Prices are no part of it.
    pub fn demands(&self) -> Demands {
        let demand = |work: &Work| {
            let day = work.demand.profile(&work.accelerator, work.interruptible);
            day.over(self.months, work.monthly_growth)
        };
        Demands(self.work.iter().map(demand).collect())
    }

    /// Each option's present value and whether it does the work, with other numbers than an answer was computed with: of some options
    /// it is computed anew, with sizes as they are best now.
    pub(in crate::economics) fn present_values_anew(
        &self,
        (demands, before): (&Demands, &Comparison),
        changed: &[usize],
    ) -> Result<Vec<(Decimal, bool)>, Refused> {
        let mut options = before.options.clone();
        for (at, option) in options.iter_mut().enumerate() {
            // What is expected of one that is uncertain follows from what it falls back on.
            if changed.contains(&at) || option.chance < one() {
                *option = self.answer(&self.options[at], &demands.0, &before.work)?;
            }
        }
        fallback::expect(&mut options, self.cost_of_capital);
        Ok(options.iter().map(|it| (it.present_value, it.fails.is_empty())).collect())
    }

    fn answer(
        &self,
        option: &Alternative,
        demands: &[Profile],
        work: &[WorkAnswer],
    ) -> Result<OptionAnswer, Refused> {
        let option = &*data_transfer::on_one_account(option);
        let mut payments = Payments::over(self.months);
        let mut payments_in_vain = payments.clone();
        let (mut lines, mut places, mut paid_hours) = (Vec::new(), Vec::new(), Decimal::ZERO);
        for found in self.evaluated(option, demands)? {
            payments.add(&found.payments);
            payments_in_vain.add(&found.payments_in_vain);
            paid_hours += found.paid_hours;
            lines.extend(found.lines);
            places.push(found.answer);
        }
        let total: Decimal = lines.iter().map(|it| it.cost).sum();
        let (served_hours, productive_hours) = self.served(option, work, &places);
        Ok(OptionAnswer {
            name: option.name.clone(),
            lines,
            total,
            paid_hours,
            served_hours,
            productive_hours,
            per_paid_hour: quotient(total, paid_hours),
            per_productive_hour: quotient(total, productive_hours),
            fails: self.fails(option, &places),
            chance: option
                .places
                .iter()
                .filter_map(|it| it.porting.as_ref())
                .fold(one(), |all, it| product(&[all, it.chance])),
            places,
            paid: payments.total(),
            present_value: payments.present_value(self.cost_of_capital),
            payments,
            paybacks: Vec::new(),
            payments_in_vain,
            fallback: None,
        })
    }

    /// GPU-hours of the works that an option serves, and those in which they do work.
    fn served(
        &self,
        option: &Alternative,
        work: &[WorkAnswer],
        places: &[PlaceAnswer],
    ) -> (Decimal, Decimal) {
        let (mut served, mut productive) = (Decimal::ZERO, Decimal::ZERO);
        for (place, answer) in option.places.iter().zip(places) {
            // Hours here, in hours of the work's accelerator.
            let worth = quotient(place.performance, place.rework).unwrap_or_default();
            let unserved = product(&[answer.unserved_hours, worth]);
            let asked: Vec<(Decimal, Decimal)> =
                self.served_at(place).map(|at| (work[at].gpu_hours, self.work[at].productive)).collect();
            let all: Decimal = asked.iter().map(|(hours, _)| *hours).sum();
            let share = one() - quotient(unserved, all).unwrap_or_default();
            served += product(&[all, share]);
            productive += asked.iter().map(|(hours, part)| product(&[*hours, *part, share])).sum::<Decimal>();
        }
        (served, productive)
    }
}

fn asked_for(work: &Work, demand: &Profile) -> Result<WorkAnswer, Refused> {
    let hours = count_of(demand.hours().len());
    let sizing = match &work.demand {
        Shape::Serving(service) => service.size(&work.accelerator)?,
        _ => Vec::new(),
    };
    Ok(WorkAnswer {
        name: work.name.clone(),
        gpu_hours: demand.gpu_hours(),
        peak: in_gpus(demand.peak().into()),
        lowest: in_gpus(demand.lowest().into()),
        mean: quotient(demand.gpu_hours(), hours).unwrap_or_default(),
        sizing,
    })
}

#[cfg(test)]
mod bases;
#[cfg(test)]
mod tests;
