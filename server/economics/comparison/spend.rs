//! Money that is committed to by the hour, whatever it buys (AWS Savings Plans).
//!
//! In each hour it pays for capacity on demand at prices of its own: first where they save the largest share, of those that
//! save as much where they are lowest, until it is used up (AWS, "How Savings Plans apply to your usage"). What is left of
//! it is lost; what it does not reach costs the price on demand. So an hour costs max(commitment, what is covered at its
//! prices) + the rest on demand. Its prices are those of the start of a term. Bases are decided without regard to it.

use std::cmp::Reverse;

use super::entered::Spend;
use super::place::Asked;
use crate::economics::profile::{MONTH, in_gpus};
use crate::money::Decimal;
use crate::money::arithmetic::{one, quotient};

/// Digits after the point of what places bear of it.
const PLACES: u8 = 20;

/// What a commitment pays for in a place, by the month.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Covered {
    /// What is committed to.
    pub(super) per_hour: Decimal,
    /// GPU-hours, and what they cost of it.
    pub(super) hours: Vec<Decimal>,
    pub(super) cost: Vec<Decimal>,
    /// What is left of it, of which each place bears as much as it has of what is paid for in that month; all as much where
    /// nothing is.
    pub(super) unused: Vec<Decimal>,
    /// What it pays for in all places over all months, and this place's share of what is left.
    pub(super) everywhere: Decimal,
    pub(super) share: Decimal,
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
            everywhere: Decimal::ZERO,
            share: Decimal::ZERO,
        })
    };
    let mut found: Vec<Option<Covered>> = places.iter().map(new).collect();
    for month in 0..months {
        let offers = offers(places, month, month - month % spend.months.max(1));
        let at = month as usize;
        let mut unused = Decimal::ZERO;
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
            unused += left;
        }
        bear(&mut found, at, unused);
    }
    let sum = |amounts: &[Decimal]| amounts.iter().copied().sum::<Decimal>();
    let everywhere = found.iter().flatten().map(|it| sum(&it.cost)).sum();
    let unused = found.iter().flatten().map(|it| sum(&it.unused)).sum();
    for it in found.iter_mut().flatten() {
        it.everywhere = everywhere;
        it.share = quotient(sum(&it.unused), unused).unwrap_or_default();
    }
    found
}

/// What is left of a month, in each of the places.
fn bear(found: &mut [Option<Covered>], month: usize, unused: Decimal) {
    let paid: Vec<Decimal> = found.iter().flatten().map(|it| it.cost[month]).collect();
    let unused = unused.round(PLACES);
    let evenly = vec![one(); paid.len()];
    let borne = unused.apportion(&paid, PLACES).or_else(|| unused.apportion(&evenly, PLACES));
    for (it, borne) in found.iter_mut().flatten().zip(borne.unwrap_or_default()) {
        it.unused[month] = borne;
    }
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
