//! What is paid for what is committed to, by the month.

use super::answer::PaidWhen;
use super::entered::{Committed, Gpus, Place};
use crate::economics::cash::{Payments, at_its_end};
use crate::economics::commitment::upfront_by_hour;
use crate::economics::mix::{Commitment, Size};
use crate::economics::profile::PARTS;
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, count, one, product, quotient};

/// What an hour of each month amounts to: its price at the start of its term, and a part of what was paid then, without
/// interest: what early payments cost is in what all is worth today.
pub(super) fn commitment(entered: &Committed, months: u32) -> Commitment {
    let term = entered.months.max(1);
    let years = quotient(count(term), 12.into()).unwrap_or_default();
    let upfront = upfront_by_hour(entered.upfront, years, Decimal::ZERO);
    let price = |month: u32| {
        let start = month - month % term;
        let upfront = product(&[upfront.unwrap_or_default(), entered.upfront_factor(start)]);
        entered.rate.in_month(start) + upfront
    };
    let size = match entered.gpus {
        Gpus::Best => Size::Best,
        Gpus::Number(gpus) => Size::Fixed(u64::from(gpus) * PARTS),
    };
    Commitment { prices: (0..months).map(price).collect(), term, size }
}

/// A commitment at what an hour of each month is worth at the start, with support, which is a share of its price.
pub(super) fn at_worth(
    entered: &Committed,
    place: &Place,
    months: u32,
    worth_of_one: &[Decimal],
) -> Commitment {
    let found = commitment(entered, months);
    let support: Vec<Decimal> = found.prices.iter().map(|price| price.multiply(place.support)).collect();
    let support = at_its_end(&support, worth_of_one);
    // What is paid in advance is worth what it is when it is paid.
    let paid = paid_for_one(entered, months).worth(worth_of_one);
    let of_hour = |worth| quotient(worth, HOURS_PER_MONTH.into()).unwrap_or_default();
    let prices = paid.into_iter().zip(support).map(|(worth, support)| of_hour(worth) + support).collect();
    Commitment { prices, ..found }
}

/// What is paid for one GPU that is committed to in all months, without support.
fn paid_for_one(entered: &Committed, months: u32) -> Payments {
    let mut when = PaidWhen::over(months);
    for month in 0..months {
        pay(entered, (month, entered.months.max(1), months - 1), one(), &mut when);
    }
    when.hours.add(&when.upfront);
    when.hours
}

/// Upfront at the start of each term, the hours during their months. What is left of the last term is not lost.
pub(super) fn pay(
    entered: &Committed,
    (month, term_months, last): (u32, u32, u32),
    own: Decimal,
    when: &mut PaidWhen,
) {
    let start = month - month % term_months;
    let price = entered.rate.in_month(start);
    when.hours.during(month, own.times(HOURS_PER_MONTH).multiply(price));
    let upfront = product(&[own, entered.upfront, entered.upfront_factor(start)]);
    if month == start {
        when.upfront.at_start_of(month, upfront);
    }
    let end = start + term_months - 1;
    if month == last && end > last {
        let left = quotient(count(end - last), count(term_months)).unwrap_or_default();
        when.upfront.at_end_of(last, -product(&[upfront, left]));
    }
}
