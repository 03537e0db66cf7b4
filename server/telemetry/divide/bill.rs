//! Dividing what a machine is charged on a day among those who held it. Pure.
//!
//! | what | rule |
//! |---|---|
//! | by | the accelerators held of those that were paid for, hour by hour ([`share`]) |
//! | of what | every charge of the machine: its hours, what adjusts them, credits; all four costs and the metered quantity alike |
//! | parts | one for each job and what became of its hours, one of what nobody held; what is not known stays with the machine |
//! | time | the hours in which the parts are the same; what belongs to no day is divided as a whole |

use std::ops::Range;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};

use crate::billing::{BilledDay, ChargeCategory, Costs};
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod, Period};
use crate::telemetry::by_machine::{Holder, MachineUsage};
use crate::telemetry::gpu_use::GpuUse;
use crate::telemetry::resolve::NOBODY;
use crate::telemetry::share::{Machine, Paid, split};

/// A part of a charge, and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// No job: nobody held it.
    pub job_no: Option<i64>,
    pub gpu_use: GpuUse,
    pub period: ChargePeriod,
    pub costs: Costs,
    pub quantity: Decimal,
}

/// What a machine is charged for accelerators in a month, and who held them.
pub(super) struct Divided<'a> {
    month: BillingMonth,
    rows: &'a [BilledDay],
    usage: &'a MachineUsage,
}

impl<'a> Divided<'a> {
    pub fn new(month: BillingMonth, rows: &'a [BilledDay], usage: &'a MachineUsage) -> Self {
        Self { month, rows, usage }
    }

    /// The parts of each row. Those of one period stand together.
    pub fn parts(&self) -> Vec<Vec<Part>> {
        let paid: Vec<Paid> = self.rows.iter().map(|row| self.paid(row)).collect();
        let held = self.usage.held_of(&paid);
        let machine = Machine::new(&paid, &held, |hour| self.usage.is_known(hour));
        self.rows.iter().zip(&paid).map(|(row, paid)| self.parts_of(row, paid, &machine)).collect()
    }

    fn paid(&self, row: &BilledDay) -> Paid {
        let hours = Period::from(self.month).hours_of_row(self.month, row.day, row.is_whole_period);
        let weight = row
            .accelerator
            .filter(|_| row.key.category == ChargeCategory::Usage && !row.key.is_unused_commitment)
            .map_or(0, |it| it.per_unit.parts() * i64::from(it.seconds_per_unit));
        Paid::new(hours, &row.hours, row.quantity, weight, row.effective)
    }

    fn parts_of(
        &self,
        row: &BilledDay,
        paid: &Paid,
        machine: &Machine<'_, impl Fn(usize) -> bool>,
    ) -> Vec<Part> {
        let weighed = machine.row(paid);
        let names_hours = !row.is_whole_period && row.hours.iter().any(|it| !it.is_zero());
        let slots = if names_hours {
            alike(paid.hours.clone(), |hours| weighed.weights(hours))
        } else {
            vec![(paid.hours.clone(), weighed.weights(paid.hours.clone()))]
        };
        let weights: Vec<i128> = slots.iter().flat_map(|(_, weights)| weights.iter().copied()).collect();
        let [billed, effective, list, contracted, quantity] =
            [row.billed, row.effective, row.list, row.contracted, row.quantity].map(|it| split(it, &weights));
        let mut parts = Vec::new();
        for (slot, (hours, _)) in slots.iter().enumerate() {
            let period = if names_hours { self.of_hours(hours) } else { self.of_row(row) };
            for place in 0..weighed.places() - 1 {
                let at = slot * weighed.places() + place;
                let costs = Costs {
                    billed: billed[at],
                    effective: effective[at],
                    list: list[at],
                    contracted: contracted[at],
                };
                if weights[at] == 0 || costs.is_zero() && quantity[at].is_zero() {
                    continue;
                }
                let holder = weighed.job(place).map(|job| self.usage.holders[job]);
                let (job_no, gpu_use) = match holder {
                    Some(Holder { job_no: NOBODY, .. }) | None => (None, GpuUse::Unheld),
                    Some(Holder { job_no, gpu_use, .. }) => (Some(job_no), gpu_use),
                };
                parts.push(Part { job_no, gpu_use, period, costs, quantity: quantity[at] });
            }
        }
        merged(parts)
    }

    /// Hours of the month.
    fn of_hours(&self, hours: &Range<usize>) -> ChargePeriod {
        let begins = self.month.first_day().and_time(NaiveTime::MIN).and_utc();
        let at = |hour: usize| -> DateTime<Utc> {
            // A month has few hours.
            begins + TimeDelta::hours(i64::try_from(hour).unwrap_or_default())
        };
        ChargePeriod { start: at(hours.start), end: at(hours.end) }
    }

    /// As the row says it: its day, or more than a day from it.
    fn of_row(&self, row: &BilledDay) -> ChargePeriod {
        let after = |days: u64| row.day.checked_add_days(Days::new(days)).unwrap_or(row.day);
        let end = if row.is_whole_period { after(2).max(self.month.days().end) } else { after(1) };
        let at = |day: chrono::NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        ChargePeriod { start: at(row.day), end: at(end) }
    }
}

/// Hours that follow each other and are weighed alike, with their weights together.
fn alike(hours: Range<usize>, weights: impl Fn(Range<usize>) -> Vec<i128>) -> Vec<(Range<usize>, Vec<i128>)> {
    let mut slots: Vec<(Range<usize>, Vec<i128>)> = Vec::new();
    for hour in hours {
        let of_hour = weights(hour..hour + 1);
        match slots.last_mut() {
            Some((slot, weights)) if *weights == of_hour => slot.end = hour + 1,
            _ => slots.push((hour..hour + 1, of_hour)),
        }
    }
    for (slot, weights) in &mut slots {
        let hours = slot.len() as i128;
        for weight in weights {
            *weight *= hours;
        }
    }
    slots
}

/// What nobody held is one part of a period, whether a meter saw that or it follows.
fn merged(parts: Vec<Part>) -> Vec<Part> {
    let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        let same = merged.iter_mut().rev().take_while(|it| it.period == part.period);
        let mut same = same.filter(|it| it.job_no == part.job_no && it.gpu_use == part.gpu_use);
        match same.next() {
            Some(known) => {
                known.costs = known.costs.plus(part.costs);
                known.quantity += part.quantity;
            }
            None => merged.push(part),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::accelerator::{Recognized, recognize};
    use crate::billing::ChargeKey;
    use crate::money::number;
    use crate::telemetry::hours::OF_AN_HOUR;
    use crate::telemetry::share::Held;

    fn month() -> BillingMonth {
        "2026-09".parse().unwrap()
    }

    fn key() -> ChargeKey {
        ChargeKey {
            provider: "AWS".to_owned(),
            service: "AmazonEC2".to_owned(),
            instance_type: "p5.48xlarge".to_owned(),
            meter: "BoxUsage:p5.48xlarge".to_owned(),
            unit: "Hrs".to_owned(),
            category: ChargeCategory::Usage,
            ..ChargeKey::default()
        }
    }

    fn accelerator() -> Option<Recognized> {
        let found = recognize(&key());
        assert!(found.is_some(), "the machine is one of eight H100");
        found
    }

    fn row(day: &str, costs: [&str; 4], hours: &[(usize, &str)]) -> BilledDay {
        let mut of_day = vec![Decimal::ZERO; 24];
        for (hour, quantity) in hours {
            of_day[*hour] = number(quantity);
        }
        let [billed, effective, list, contracted] = costs.map(number);
        BilledDay {
            key_id: Uuid::nil(),
            key: key(),
            resource_id: "i-1".to_owned(),
            tags: "{}".to_owned(),
            day: day.parse().unwrap(),
            is_whole_period: false,
            billed,
            effective,
            list,
            contracted,
            quantity: of_day.iter().copied().sum(),
            hours: of_day,
            accelerator: accelerator(),
        }
    }

    fn usage(holders: Vec<(i64, GpuUse, Held)>, known: Range<i64>) -> MachineUsage {
        let holder = |(job_no, gpu_use, held)| (Holder { job_no, gpu_use, day: None }, held);
        let (holders, held) = holders.into_iter().map(holder).unzip();
        MachineUsage::new(holders, held, vec![known])
    }

    fn texts(parts: &[Part]) -> Vec<String> {
        let text = |it: &Part| {
            let from = it.period.start.format("%d %H");
            let until = it.period.end.format("%d %H");
            let who = it.job_no.map_or_else(|| "nobody".to_owned(), |job| format!("job {job}"));
            let [cost, quantity] = [it.costs.effective, it.quantity].map(|it| it.normalize().to_string());
            format!("{from}-{until} {who} {}: {cost} {quantity}", it.gpu_use.as_str())
        };
        parts.iter().map(text).collect()
    }

    #[test]
    fn hours_in_which_the_parts_are_the_same_are_one_part() {
        // On for ten hours; eight accelerators by one job for three hours, then four of them for two.
        let hours: Vec<(usize, &str)> = (0..10).map(|hour| (hour, "1")).collect();
        let rows = [row("2026-09-02", ["100", "100", "200", "100"], &hours)];
        let day = 24;
        let held: Held = (0..5).map(|it| (day + it, if it < 3 { 8 } else { 4 } * OF_AN_HOUR)).collect();
        let usage = usage(vec![(7, GpuUse::Used, held)], 24..32);
        let parts = Divided::new(month(), &rows, &usage).parts();
        assert_eq!(
            texts(&parts[0]),
            [
                "02 00-02 03 job 7 Used: 30 3",
                "02 03-02 05 job 7 Used: 10 1",
                "02 03-02 05 nobody Held by nobody: 10 1",
                "02 05-02 08 nobody Held by nobody: 30 3",
            ]
        );
    }

    #[test]
    fn what_belongs_to_no_day_is_divided_as_a_whole() {
        let mut fee = row("2026-09-01", ["0", "-7.2", "0", "0"], &[]);
        fee.is_whole_period = true;
        fee.key.category = ChargeCategory::Credit;
        let rows = [row("2026-09-02", ["20", "20", "20", "20"], &[(0, "1"), (1, "1")]), fee];
        let held: Held = [(24, 8 * OF_AN_HOUR)].into();
        let usage = usage(vec![(7, GpuUse::Idle, held)], 0..720);
        let parts = Divided::new(month(), &rows, &usage).parts();
        assert_eq!(
            texts(&parts[1]),
            ["01 00-01 00 job 7 Held but idle: -3.6 0", "01 00-01 00 nobody Held by nobody: -3.6 0"]
        );
    }

    #[test]
    fn nobody_holds_no_more_than_was_paid_for_and_left() {
        // A meter saw eight accelerators for two hours, of which six were held; one hour was paid for.
        let rows = [row("2026-09-02", ["80", "80", "80", "80"], &[(0, "1")])];
        let hours =
            |accelerators: i64| -> Held { (24..26).map(|it| (it, accelerators * OF_AN_HOUR)).collect() };
        let usage = usage(vec![(7, GpuUse::Used, hours(6)), (NOBODY, GpuUse::Unheld, hours(8))], 0..0);
        let parts = Divided::new(month(), &rows, &usage).parts();
        assert_eq!(
            texts(&parts[0]),
            ["02 00-02 01 job 7 Used: 60 0.75", "02 00-02 01 nobody Held by nobody: 20 0.25"]
        );
    }

    #[test]
    fn what_is_not_known_stays_with_the_machine() {
        let rows = [row("2026-09-02", ["20", "20", "20", "20"], &[(0, "1")])];
        let usage = usage(Vec::new(), 100..200);
        assert!(Divided::new(month(), &rows, &usage).parts()[0].is_empty());
    }

    proptest! {
        #[test]
        fn parts_are_no_more_than_the_row_and_all_of_it_where_all_is_known(
            amounts in proptest::array::uniform4("[0-9]{1,9}\\.[0-9]{1,18}"),
            hours in proptest::collection::btree_map(0_usize..24, "1|0\\.5|0\\.333333", 1..24),
            held in proptest::collection::vec(
                proptest::collection::btree_map(0_usize..30, 0_i64..10 * OF_AN_HOUR, 0..24), 0..5),
            known in 0_i64..30,
        ) {
            let hours: Vec<(usize, &str)> = hours.iter().map(|(hour, it)| (*hour, it.as_str())).collect();
            let rows = [row("2026-09-01", amounts.each_ref().map(String::as_str), &hours)];
            let uses = GpuUse::ALL.iter().cycle();
            let holders: Vec<_> = held.into_iter().zip(uses).zip(0..).map(|((held, gpu_use), job)| (job, *gpu_use, held)).collect();
            let usage = usage(holders, 0..known);
            let parts = Divided::new(month(), &rows, &usage).parts().remove(0);
            let quantity: Decimal = parts.iter().map(|it| it.quantity).sum();
            let costs = parts.iter().fold(Costs::default(), |sum, it| sum.plus(it.costs));
            prop_assert!(quantity <= rows[0].quantity && costs.effective <= rows[0].effective);
            if known >= 24 {
                prop_assert_eq!(quantity, rows[0].quantity);
                prop_assert_eq!(
                    [costs.billed, costs.effective, costs.list, costs.contracted],
                    [rows[0].billed, rows[0].effective, rows[0].list, rows[0].contracted]
                );
            }
            let mut of_key: BTreeMap<_, usize> = BTreeMap::new();
            for it in &parts {
                *of_key.entry((it.period.start, it.job_no, it.gpu_use)).or_default() += 1;
            }
            prop_assert!(of_key.values().all(|count| *count == 1));
        }
    }
}
