//! Hardware: purchases, depreciation, interest, leases, and what becomes of units.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chrono::NaiveDate;

use super::super::depreciation::{Method, Schedule};
use super::super::entry::{Asset, EventKind, Paid};
use super::super::loan::Loan;
use super::super::location_history::{LocationHistory, Stay};
use super::line::{Component, Line, Machine, days_of, one_day};
use crate::money::Decimal;
use crate::period::BillingMonth;

pub(super) fn push(
    lines: &mut Vec<Line>,
    (id, asset): (i64, &Asset),
    location_history: &LocationHistory<'_>,
    cluster: &str,
    month: BillingMonth,
) {
    let it = Hardware { id, asset, cluster, month, location_history };
    it.paid(lines);
    // An entry of the asset register has been through `read`, which refuses what has no schedule.
    let Ok(schedule) = asset.schedule() else { return };
    it.days(lines, &schedule);
    it.left(lines, &schedule);
}

impl Asset {
    /// How one unit becomes cost day by day: its depreciation, or the payments of its lease.
    ///
    /// # Errors
    /// What is impossible about its price, residual value or life.
    pub fn schedule(&self) -> Result<Schedule, super::super::depreciation::Refused> {
        match &self.paid {
            Paid::Leased { monthly, months } => {
                let total = monthly.times(i64::from(*months));
                Schedule::new(total, Decimal::ZERO, self.in_service, *months, Method::StraightLine)
            }
            Paid::Bought | Paid::Financed { .. } => {
                let Self { price, residual, in_service, life_months, depreciation, .. } = self;
                Schedule::new(*price, *residual, *in_service, *life_months, *depreciation)
            }
        }
    }

    fn is_leased(&self) -> bool {
        matches!(self.paid, Paid::Leased { .. })
    }
}

struct Hardware<'a> {
    id: i64,
    asset: &'a Asset,
    cluster: &'a str,
    month: BillingMonth,
    location_history: &'a LocationHistory<'a>,
}

impl Hardware<'_> {
    fn line(&self, component: Component, days: Range<NaiveDate>, description: String) -> Line {
        let Asset { name, currency, tags, .. } = self.asset;
        let line = Line::new(component, self.id, name, currency, days);
        Line { tags: tags.clone(), description, ..line }
    }

    /// What is paid for it in the month: by the cluster it was bought for, wherever it is now.
    fn paid(&self, lines: &mut Vec<Line>) {
        let Asset { cluster, in_service, count, price, .. } = self.asset;
        if cluster != self.cluster {
            return;
        }
        let whole = price.times(i64::from(*count));
        let begins = BillingMonth::of(*in_service);
        match &self.asset.paid {
            Paid::Bought if begins == self.month => {
                let text = format!("Purchase of {count} × {}", self.asset.what_it_is());
                let mut line = self.line(Component::Purchase, one_day(*in_service), text);
                line.billed = whole;
                lines.push(line);
            }
            Paid::Bought => {}
            Paid::Financed { yearly_rate, months } => {
                let Some(number) = self.month.months_after(begins).filter(|it| (1..=*months).contains(it))
                else {
                    return;
                };
                let Some(due) =
                    Loan::new(whole, *yearly_rate, *months).and_then(|loan| loan.installment(number))
                else {
                    return;
                };
                let text = format!(
                    "Installment {number} of {months}: {} back, {} of interest",
                    due.principal, due.interest
                );
                let mut line = self.line(Component::Interest, self.month.days(), text);
                line.billed = due.principal + due.interest;
                line.effective = due.interest;
                lines.push(line);
            }
            Paid::Leased { monthly, months } => {
                let Some(number) = self.month.months_after(begins).filter(|it| it < months) else { return };
                let text =
                    format!("Payment {} of {months} for {count} × {}", number + 1, self.asset.what_it_is());
                let mut line = self.line(Component::Lease, self.month.days(), text);
                line.billed = monthly.times(i64::from(*count));
                lines.push(line);
            }
        }
    }

    /// What belongs to each day: of nodes for each unit, with its hours; of everything else in all.
    fn days(&self, lines: &mut Vec<Line>, schedule: &Schedule) {
        let component = if self.asset.is_leased() { Component::Lease } else { Component::Depreciation };
        let stays: Vec<&Stay<'_>> =
            self.location_history.stays.iter().filter(|stay| stay.cluster == self.cluster).collect();
        for day in days_of(&self.month.days()) {
            let cost = schedule.between(one_day(day));
            let here: Vec<&Stay<'_>> = stays.iter().copied().filter(|stay| stay.is_on(day)).collect();
            if here.is_empty() {
                continue;
            }
            if self.asset.bears_accelerators() {
                let text = format!("{} of one {}", component.name(), self.asset.what_it_is());
                let mut line = self.line(component, one_day(day), text);
                line.effective = cost;
                line.quantity = Some((Decimal::from(24), "Hours"));
                line.machine = Some(Machine {
                    model: self.asset.model.clone(),
                    accelerator: self.asset.accelerator.clone(),
                    accelerators: self.asset.accelerators,
                });
                line.for_each(together(&here), self.asset.count > 1);
                lines.push(line);
            } else {
                let count: u32 = here.iter().map(|stay| stay.count()).sum();
                let text = format!("{} of {count} × {}", component.name(), self.asset.what_it_is());
                let mut line = self.line(component, one_day(day), text);
                line.effective = cost.times(i64::from(count));
                lines.push(line);
            }
        }
    }

    /// What units that leave in the month were still worth.
    fn left(&self, lines: &mut Vec<Line>, schedule: &Schedule) {
        let mut by_event: BTreeMap<i64, Vec<_>> = BTreeMap::new();
        for leaving in &self.location_history.leavings {
            if leaving.cluster == self.cluster && self.month.contains(leaving.day) {
                by_event.entry(leaving.event_id).or_default().push(leaving);
            }
        }
        for (event_id, leavings) in by_event {
            for leaving in leavings {
                let worth = schedule.book_value(leaving.day);
                let (proceeds, how) = match leaving.what {
                    EventKind::Disposal { proceeds } => (*proceeds, "Sold"),
                    _ => (Decimal::ZERO, "Written off"),
                };
                let text = format!("{how}: {}, still worth {worth}", self.asset.unit(leaving.unit));
                let mut line = self.line(Component::Disposal, one_day(leaving.day), text);
                line.input = event_id;
                line.billed = -proceeds;
                line.effective = worth - proceeds;
                line.for_each([leaving.unit].into(), self.asset.count > 1);
                lines.push(line);
            }
        }
    }
}

/// The units of several stays, in their order.
fn together(stays: &[&Stay<'_>]) -> Arc<[u32]> {
    if let [only] = stays {
        return Arc::clone(&only.units);
    }
    let mut units: Vec<u32> = stays.iter().flat_map(|stay| stay.units.iter().copied()).collect();
    units.sort_unstable();
    units.into()
}

impl Asset {
    /// `DGX H100`, or its name where it has no model.
    pub fn what_it_is(&self) -> &str {
        if self.model.is_empty() { &self.name } else { &self.model }
    }
}
