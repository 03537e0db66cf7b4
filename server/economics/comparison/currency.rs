//! The currency of a scenario, and what a US dollar is worth in it.
//!
//! What is shipped with the product is in US dollars: a node of one's own, its people and its energy, what clouds ask for data
//! that leaves them. None of that stands in a scenario in another currency unless it was converted, at a rate with its
//! day and source.

use super::PLACES;
use super::entered::{Dollar, Place, Rate, SHIPPED, Scenario};
use crate::economics::egress::{Hop, Rates};
use crate::economics::price_path::Path;
use crate::money::arithmetic::{one, product};
use crate::money::{Currency, Decimal};

impl Scenario {
    /// What amounts in US dollars are multiplied by to stand in it; none where nobody said what a dollar is worth.
    pub fn of_a_dollar(&self) -> Option<Decimal> {
        if self.currency.as_str() == SHIPPED { Some(one()) } else { self.dollar.worth }
    }

    /// The same in another currency, of which one unit of this one is worth so many. Prices say in their sources how they
    /// were converted.
    #[must_use]
    pub fn in_currency(&self, into: &Currency, rate: Decimal, how: &str) -> Self {
        let mut it = self.clone();
        it.currency = into.clone();
        it.dollar = Dollar::default();
        let scaled = |amount: &mut Decimal| *amount = at_rate(*amount, rate);
        for work in &mut it.work {
            work.unserved_cost.iter_mut().for_each(scaled);
        }
        for option in &mut it.options {
            option.spend.iter_mut().for_each(|spend| scaled(&mut spend.per_hour));
            for place in &mut option.places {
                of_place(place, rate, how);
            }
        }
        it.convert_ranges(self, rate);
        it
    }

    /// Of every number that became another one in this currency, the range that is stated of it.
    fn convert_ranges(&mut self, before: &Self, rate: Decimal) {
        let stated = before.all_stated();
        if stated.is_empty() {
            return;
        }
        let [old, new] = [before, &*self].map(|it| serde_json::to_value(it).unwrap_or_default());
        for (pointer, _) in stated {
            if old.pointer(&pointer) != new.pointer(&pointer)
                && let Some(stated) = self.stated_mut(&pointer)
            {
                stated.low.iter_mut().chain(&mut stated.high).for_each(|end| *end = at_rate(*end, rate));
            }
        }
    }
}

/// No finer than an amount may be entered with.
pub fn at_rate(amount: Decimal, rate: Decimal) -> Decimal {
    product(&[amount, rate]).round(PLACES).normalize()
}

fn of_place(place: &mut Place, rate: Decimal, how: &str) {
    let scaled = |amount: &mut Decimal| *amount = at_rate(*amount, rate);
    let priced = |it: &mut Rate| {
        scaled(&mut it.price);
        if let Path::Entered { prices } = &mut it.path {
            prices.iter_mut().for_each(scaled);
        }
        if !it.price.is_zero() {
            it.source = [it.source.as_str(), how]
                .into_iter()
                .filter(|it| !it.is_empty())
                .collect::<Vec<_>>()
                .join("; ");
        }
    };
    for committed in &mut place.committed {
        priced(&mut committed.rate);
        scaled(&mut committed.upfront);
    }
    place.blocks.iter_mut().for_each(|it| priced(&mut it.rate));
    place.spot.iter_mut().for_each(|it| priced(&mut it.rate));
    let by_use = [&mut place.on_demand, &mut place.spend_rate, &mut place.per_million_tokens];
    by_use.into_iter().flatten().for_each(priced);
    place.owned.iter_mut().for_each(|it| it.machines = it.machines.at_rate(rate));
    for moved in &mut place.moved {
        if let Rates::Flat { price } = &mut moved.rates {
            scaled(price);
        }
        for hop in &mut moved.hops {
            if let Hop::Region { price } = hop {
                scaled(price);
            }
        }
    }
    if let Some(port) = &mut place.porting {
        scaled(&mut port.loaded_cost);
        priced(&mut port.meanwhile);
    }
    place.others.iter_mut().for_each(|it| scaled(&mut it.amount));
}
