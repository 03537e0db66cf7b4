//! From sorted sums to the rows of the database: by key and day, and by key.

use std::io;

use uuid::Uuid;

use super::amount::Amounts;
use super::cell::{Cell, Day, Place};
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::store::CopyRows;

const HOURS: usize = 24;
/// Bytes that a part begins with.
const CAPACITY: usize = 1 << 20;

/// What rows are summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// By charge key.
    Keys,
    /// By key without machine and tags. These have no hours.
    PlainKeys,
    /// By charge key and the resource that charges name, of keys that have none: those without accelerators. These have no hours,
    /// and only days.
    Resources,
}

impl Grain {
    /// The table of its days, and the columns in the order in which they are written.
    pub fn daily(self) -> (&'static str, &'static str) {
        match self {
            Self::Keys => (
                "daily_costs",
                "billing_month, charge_key_id, delivery_id, scope_id, day, is_whole_period, charges, billed_cost, \
                 effective_cost, list_cost, contracted_cost, metered_quantity, hourly_quantity",
            ),
            Self::PlainKeys => (
                "daily_totals",
                "billing_month, charge_key_id, delivery_id, scope_id, day, is_whole_period, charges, billed_cost, \
                 effective_cost, list_cost, contracted_cost, metered_quantity",
            ),
            Self::Resources => (
                "daily_resources",
                "billing_month, charge_key_id, delivery_id, scope_id, day, is_whole_period, charges, billed_cost, \
                 effective_cost, list_cost, contracted_cost, metered_quantity, resource_id",
            ),
        }
    }

    /// The same of its months, where it has any.
    pub fn monthly(self) -> Option<(&'static str, &'static str)> {
        let columns = "billing_month, charge_key_id, delivery_id, scope_id, charges, billed_cost, effective_cost, list_cost, \
                       contracted_cost, metered_quantity";
        match self {
            Self::Keys => Some(("monthly_costs", columns)),
            Self::PlainKeys => Some(("monthly_totals", columns)),
            Self::Resources => None,
        }
    }
}

/// Some rows of one month.
pub struct Part {
    pub grain: Grain,
    pub month: BillingMonth,
    pub daily: CopyRows,
    pub monthly: CopyRows,
}

/// Makes rows of what comes in order, and sends them.
pub(super) struct Rows<P, S> {
    delivery_id: i64,
    grain: Grain,
    part_bytes: usize,
    send: S,
    /// The last that came: more of it may follow.
    last: Option<(P, Day)>,
    /// Of its key and month, without it.
    total: Amounts,
    part: Option<Part>,
}

impl<P: Place, E: From<io::Error>, S: FnMut(Part) -> Result<(), E>> Rows<P, S> {
    pub(super) fn new(delivery_id: i64, grain: Grain, part_bytes: usize, send: S) -> Self {
        Self { delivery_id, grain, part_bytes, send, last: None, total: Amounts::default(), part: None }
    }

    pub(super) fn add(&mut self, place: P, day: Day) -> Result<(), E> {
        match &mut self.last {
            Some((last, sums)) if *last == place => sums.merge(day),
            _ => {
                self.end_place(Some(place.cell()))?;
                self.last = Some((place, day));
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), E> {
        self.end_place(None)?;
        match self.part.take() {
            Some(part) => (self.send)(part),
            None => Ok(()),
        }
    }

    /// Writes the row of the last place, and that of its key where another one follows.
    fn end_place(&mut self, next: Option<&Cell>) -> Result<(), E> {
        let Some((place, day)) = self.last.take() else { return Ok(()) };
        let cell = place.cell();
        let part = match &mut self.part {
            Some(part) => part,
            none => none.insert(Part {
                grain: self.grain,
                month: cell.month,
                daily: CopyRows::with_capacity(self.part_bytes.min(CAPACITY)),
                monthly: CopyRows::with_capacity(self.part_bytes.min(CAPACITY) / 8),
            }),
        };
        write_day(self.delivery_id, self.grain, &place, &day, &mut part.daily);
        self.total.merge(&day.sums);
        let same_month = next.filter(|next| next.month == cell.month);
        if same_month.is_none_or(|next| next.charge_key_id != cell.charge_key_id) {
            let total = std::mem::take(&mut self.total);
            if self.grain.monthly().is_some() {
                write_month(self.delivery_id, cell, &total, &mut part.monthly);
            }
        }
        if (part.daily.len() >= self.part_bytes || same_month.is_none())
            && let Some(part) = self.part.take()
        {
            (self.send)(part)?;
        }
        Ok(())
    }
}

fn write_day(delivery_id: i64, grain: Grain, place: &impl Place, day: &Day, rows: &mut CopyRows) {
    let cell = place.cell();
    rows.row(if grain == Grain::PlainKeys { 12 } else { 13 })
        .date(cell.month.first_day())
        .uuid(Uuid::from_u128(cell.charge_key_id))
        .bigint(delivery_id)
        .bigint(cell.scope_id)
        .date(cell.day)
        .bool(cell.is_whole_period);
    write_sums(&day.sums, rows);
    match (grain, &day.hours) {
        (Grain::PlainKeys, _) => {}
        (Grain::Resources, _) => {
            rows.text(place.resource().unwrap_or_default());
        }
        (Grain::Keys, Some(hours)) => {
            // From the first that has something to the last: most machines of a fleet run for some hours of a day.
            let first = hours.first().map_or(0, |(hour, _)| *hour);
            let mut all = [Decimal::ZERO; HOURS];
            for (hour, quantity) in hours {
                all[usize::from(*hour - first)] = quantity.decimal();
            }
            let length = hours.last().map_or(0, |(last, _)| usize::from(*last - first) + 1);
            // PostgreSQL counts from 1.
            rows.numerics(i32::from(first) + 1, &all[..length]);
        }
        (Grain::Keys, None) => {
            rows.null();
        }
    }
}

fn write_month(delivery_id: i64, cell: &Cell, total: &Amounts, rows: &mut CopyRows) {
    rows.row(10)
        .date(cell.month.first_day())
        .uuid(Uuid::from_u128(cell.charge_key_id))
        .bigint(delivery_id)
        .bigint(cell.scope_id);
    write_sums(total, rows);
}

fn write_sums(sums: &Amounts, rows: &mut CopyRows) {
    rows.bigint(sums.charges);
    for amount in &sums.amounts {
        rows.numeric(&amount.decimal());
    }
}
