//! People, and what is paid again and again or once.

use super::super::entry::{Cost, CostKind, Entry, Every, Staff};
use super::units::Here;
use super::{InCurrency, capital, fixed, term};
use crate::economics::owning::capital::capital_recovery_factor;
use crate::economics::owning::{Component, Part, Unit};
use crate::money::arithmetic::{count, product, quotient};
use crate::money::{Currency, Decimal};
use crate::period::{BillingMonth, Period};

pub(super) fn components(here: &Here<'_>) -> Vec<InCurrency> {
    let month = here.month();
    let mut components = Vec::new();
    for entry in here.entries() {
        match entry {
            Entry::Staff(it) if it.months.contains(month) => {
                components.push((it.currency.clone(), staff(it)));
            }
            Entry::Cost(it) if it.every == Every::Once => {
                components.extend(once(here, it).map(|component| (it.currency.clone(), component)));
            }
            Entry::Cost(it) if it.months.contains(month) => {
                components.push((it.currency.clone(), again(it)));
            }
            _ => {}
        }
    }
    components.extend(staff_hours(here));
    components
}

fn staff(it: &Staff) -> Component {
    let terms = vec![
        term("people", it.fte, Unit::Number),
        term("share", it.share, Unit::Share),
        term("loaded cost", it.loaded_cost, Unit::MoneyPerYear),
    ];
    let per_year = product(&[it.fte, it.share, it.loaded_cost]);
    fixed(Part::Staff, &it.role, per_year, "people × share × loaded cost", terms)
}

/// Payments of such a cost in a year.
fn payments(every: Every) -> Decimal {
    count(12 / every.months())
}

fn again(it: &Cost) -> Component {
    let payments = payments(it.every);
    let terms = vec![term("payments a year", payments, Unit::Number), term("amount", it.amount, Unit::Money)];
    let part = match it.what {
        CostKind::Maintenance => Part::Maintenance,
        CostKind::Licence => Part::Software,
        _ => Part::Other,
    };
    fixed(part, &it.name, product(&[payments, it.amount]), "payments a year × amount", terms)
}

/// How long what was paid once counts, in years: as long as the machines live after it. `None` before and after.
pub(super) fn life_of_payment(here: &Here<'_>, it: &Cost) -> Option<Decimal> {
    let (main, _) = here.main()?;
    here.month().months_after(it.months.first).filter(|months| *months < main.life_months)?;
    Some(capital::life(main))
}

fn once(here: &Here<'_>, it: &Cost) -> Option<Component> {
    let (rate, life) = (here.cluster.cost_of_capital, life_of_payment(here, it)?);
    let factor = capital_recovery_factor(rate, life)?;
    let terms = vec![
        term("amount", it.amount, Unit::Money),
        term("cost of capital", rate, Unit::SharePerYear),
        term("life of the machines", life, Unit::Years),
        term("capital recovery factor", factor, Unit::SharePerYear),
    ];
    let per_year = product(&[it.amount, factor]);
    Some(fixed(Part::OneOff, &it.name, per_year, "amount × capital recovery factor", terms))
}

/// The months whose hours stand for a year: the last twelve that are over, or as many as there are. Of one that goes on
/// not all hours are written down yet, so it counts only where nothing is over; one that the cluster began in the middle
/// of, where nothing else is.
fn months_of_hours(here: &Here<'_>) -> Option<(Period, &'static str)> {
    let (this, since) = (here.month(), here.cluster.since);
    let (begun, last) = (BillingMonth::of(since), this.previous());
    let first_whole = if since == begun.first_day() { begun } else { begun.next() };
    let whole = Period::new(first_whole.max(last.minus(11)), last);
    let over = whole.or_else(|| Period::new(begun, last));
    over.map(|period| (period, "12 × their cost ÷ months that are over"))
        .or_else(|| Some((Period::new(this, this)?, "12 × their cost in the month that goes on")))
}

/// Hours that were worked, as of a year.
fn staff_hours(here: &Here<'_>) -> Vec<InCurrency> {
    let Some((period, formula)) = months_of_hours(here) else { return Vec::new() };
    let months = count(period.length());
    let mut sums: Vec<(&Currency, &str, Decimal, Decimal)> = Vec::new();
    for entry in here.entries() {
        let Entry::StaffHours(it) = entry else { continue };
        if it.month < period.first() || it.month > period.last() {
            continue;
        }
        let cost = product(&[it.hours, it.hourly_cost]);
        match sums.iter_mut().find(|(currency, role, ..)| **currency == it.currency && *role == it.role) {
            Some((_, _, hours, amount)) => {
                *hours += it.hours;
                *amount += cost;
            }
            None => sums.push((&it.currency, &it.role, it.hours, cost)),
        }
    }
    let of_role = |(currency, role, hours, amount): (&Currency, &str, Decimal, Decimal)| {
        let terms = vec![
            term("hours worked", hours, Unit::Hours),
            term("their cost", amount, Unit::Money),
            term("months", months, Unit::Months),
        ];
        let per_year = quotient(product(&[12.into(), amount]), months).unwrap_or_default();
        (currency.clone(), fixed(Part::Staff, role, per_year, formula, terms))
    };
    sums.into_iter().map(of_role).collect()
}
