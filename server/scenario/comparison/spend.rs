//! Money that is committed to by the hour, whatever it buys (AWS Savings Plans).
//!
//! In each hour it pays for capacity on demand at prices of its own: first where they save the largest share, of those that
//! save as much where they are lowest, until it is used up (AWS, "How Savings Plans apply to your usage"). What is left of
//! it is lost; what it does not reach costs the price on demand. So an hour costs max(commitment, what is covered at its
//! prices) + the rest on demand. Its prices are those of the start of a term. Bases are decided without regard to it.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::place::Asked;
use crate::money::Decimal;
use crate::scenario::arithmetic::{one, quotient};
use crate::scenario::profile::{MONTH, in_gpus};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// Money for every hour of the term.
    pub per_hour: Decimal,
    /// Of a term. It is renewed until the end.
    pub months: u32,
}

/// What a commitment pays for in a place, by the month.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Covered {
    /// What is committed to.
    pub(super) per_hour: Decimal,
    /// GPU-hours, and what they cost of it.
    pub(super) hours: Vec<Decimal>,
    pub(super) cost: Vec<Decimal>,
    /// What is left of it: with the first of its places.
    pub(super) unused: Vec<Decimal>,
}

/// A place under a commitment in an hour's order.
struct Offer {
    place: usize,
    price: Decimal,
    /// What is saved, as a share of the price on demand.
    saved: Decimal,
}

/// What a commitment pays for in each place of an option; none where a place has no price under it. Each place comes with
/// the level of its base by the month.
pub(super) fn covered(spend: &Spend, places: &[(&Asked<'_>, &[u64])]) -> Vec<Option<Covered>> {
    let months = places.first().map_or(0, |(asked, _)| asked.months());
    let none = || vec![Decimal::ZERO; months as usize];
    let new = |(asked, _): &(&Asked<'_>, &[u64])| {
        asked.place.spend_rate.as_ref().map(|_| Covered {
            per_hour: spend.per_hour,
            hours: none(),
            cost: none(),
            unused: none(),
        })
    };
    let mut found: Vec<Option<Covered>> = places.iter().map(new).collect();
    for month in 0..months {
        let offers = offers(places, month, month - month % spend.months.max(1));
        let at = month as usize;
        for hour in at * MONTH..(at + 1) * MONTH {
            let mut left = spend.per_hour;
            for offer in &offers {
                let (asked, base) = places[offer.place];
                let Some(covered) = found[offer.place].as_mut() else { continue };
                let gpus = in_gpus(asked.by_use_in(hour, base[at]).into());
                let all = gpus.multiply(offer.price);
                if all <= left {
                    covered.hours[at] += gpus;
                    covered.cost[at] += all;
                    left -= all;
                } else {
                    covered.hours[at] += quotient(left, offer.price).unwrap_or_default();
                    covered.cost[at] += left;
                    left = Decimal::ZERO;
                }
            }
            if let Some(first) = found.iter_mut().flatten().next() {
                first.unused[at] += left;
            }
        }
    }
    found
}

/// In the order in which they are covered.
fn offers(places: &[(&Asked<'_>, &[u64])], month: u32, start: u32) -> Vec<Offer> {
    let offer = |(place, (asked, _)): (usize, &(&Asked<'_>, &[u64]))| {
        let price = asked.place.spend_rate.as_ref()?.in_month(start);
        let list = asked.by_use.get(month as usize)?;
        let saved = one() - quotient(price, *list)?;
        Some(Offer { place, price, saved })
    };
    let mut offers: Vec<Offer> = places.iter().enumerate().filter_map(offer).collect();
    offers.sort_by_key(|it| (Reverse(it.saved), it.price));
    offers
}
