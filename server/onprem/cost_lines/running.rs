//! What runs from month to month: staff, colocation, and everything else that is paid now and again.

use super::super::entry::{Colocation, Cost, CostKind, Every, Staff, StaffHours};
use super::line::{Component, Line};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Amounts that are spread over months are in cents, so that the months sum to the whole.
const PLACES: u8 = 2;

/// The part of an amount over `months` that falls on the month of this number, from 0. All of them sum to it.
fn part(amount: Decimal, months: u32, number: u32) -> Decimal {
    let until = |number: u32| match number {
        _ if number == months => Some(amount),
        _ => amount.times(i64::from(number)).divide(Decimal::from(i64::from(months)), PLACES),
    };
    // Nothing is divided by no months: payments are for one, three or twelve.
    until(number + 1).unwrap_or_default() - until(number).unwrap_or_default()
}

pub(super) fn staff(lines: &mut Vec<Line>, id: i64, it: &Staff, month: BillingMonth) {
    let Some(number) = month.months_after(it.months.first).filter(|_| it.months.contains(month)) else {
        return;
    };
    let mut line = Line::new(Component::Staff, id, &it.role, &it.currency, month.days());
    let yearly = it.fte.multiply(it.loaded_cost).multiply(it.share);
    line.effective = part(yearly, 12, number % 12);
    line.billed = line.effective;
    line.description = format!(
        "{}: {} FTE at {} a year, {} % of them, a twelfth",
        it.role,
        it.fte,
        it.loaded_cost,
        it.share.times(100).normalize()
    );
    lines.push(line);
}

pub(super) fn staff_hours(lines: &mut Vec<Line>, id: i64, it: &StaffHours, month: BillingMonth) {
    if it.month != month {
        return;
    }
    let mut line = Line::new(Component::Staff, id, &it.role, &it.currency, month.days());
    line.effective = it.hours.multiply(it.hourly_cost);
    line.billed = line.effective;
    line.description = format!("{}: {} hours at {}", it.role, it.hours, it.hourly_cost);
    lines.push(line);
}

pub(super) fn colocation(lines: &mut Vec<Line>, id: i64, it: &Colocation, month: BillingMonth) {
    if !it.months.contains(month) {
        return;
    }
    let mut line = Line::new(Component::Colocation, id, &it.name, &it.currency, month.days());
    line.effective = it.contracted_kw.multiply(it.price_per_kw);
    line.billed = line.effective;
    line.description = format!(
        "{} contracted kW at {} a month, energy {}",
        it.contracted_kw,
        it.price_per_kw,
        if it.includes_energy { "included" } else { "apart" }
    );
    lines.push(line);
}

pub(super) fn cost(lines: &mut Vec<Line>, id: i64, it: &Cost, month: BillingMonth) {
    let Some(number) = month.months_after(it.months.first).filter(|_| it.months.contains(month)) else {
        return;
    };
    if it.every == Every::Once && number > 0 {
        return;
    }
    let months = it.every.months();
    let mut line = Line::new(it.what.component(), id, &it.name, &it.currency, month.days());
    line.effective = part(it.amount, months, number % months);
    if number % months == 0 {
        // A payment that is cut off by the last month is for those months alone.
        let left = it.months.last.and_then(|last| last.months_after(month)).map_or(months, |left| left + 1);
        line.billed = (0..months.min(left)).map(|number| part(it.amount, months, number)).sum();
    }
    line.description = match it.every {
        Every::Once => format!("{}, once", it.name),
        Every::Month => format!("{}, every month", it.name),
        Every::Quarter => format!("{}: a third of {} a quarter", it.name, it.amount),
        Every::Year => format!("{}: a twelfth of {} a year", it.name, it.amount),
    };
    lines.push(line);
}

impl CostKind {
    fn component(self) -> Component {
        match self {
            Self::Maintenance => Component::Maintenance,
            Self::Licence => Component::Licences,
            Self::Space => Component::Space,
            Self::Link => Component::Links,
            Self::Insurance => Component::Insurance,
            Self::Spares => Component::Spares,
            Self::Other => Component::Other,
        }
    }
}
