//! Dividing what a machine is charged on a day among those who held it. Pure.
//!
//! | what | rule |
//! |---|---|
//! | by | the accelerators held of those that were paid for, hour by hour ([`share`]) |
//! | of what | every charge of the machine: its hours, what adjusts them, credits; all four costs and the metered quantity alike |
//! | parts | one for each job and what became of its hours, one of what nobody held; what is not known stays with the machine |
//! | time | a part is of a day, from the first hour that it has some of to the last, and says how much of each; what belongs to no day is divided as a whole |

use chrono::{Days, NaiveDate, NaiveTime, TimeDelta};

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
    /// What each hour of the day has of the quantity. Empty where the row names no hours.
    pub hours: Vec<(u8, Decimal)>,
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
        let by_hour: Vec<Vec<i128>> = if names_hours {
            paid.hours.clone().map(|hour| weighed.weights(hour..hour + 1)).collect()
        } else {
            vec![weighed.weights(paid.hours.clone())]
        };
        let whole: Vec<i128> =
            (0..weighed.places()).map(|place| by_hour.iter().map(|weights| weights[place]).sum()).collect();
        let [billed, effective, list, contracted] =
            [row.billed, row.effective, row.list, row.contracted].map(|it| split(it, &whole));
        let quantities = split(row.quantity, &by_hour.concat());
        let mut parts = Vec::new();
        for place in (0..weighed.places() - 1).filter(|place| whole[*place] != 0) {
            let costs = Costs {
                billed: billed[place],
                effective: effective[place],
                list: list[place],
                contracted: contracted[place],
            };
            let of_hours = quantities.iter().skip(place).step_by(weighed.places());
            let quantity = of_hours.clone().copied().sum::<Decimal>();
            if costs.is_zero() && quantity.is_zero() {
                continue;
            }
            let hours: Vec<(u8, Decimal)> = if names_hours {
                let hours = (0..).zip(of_hours).zip(&by_hour);
                let held = hours.filter(|(_, weights)| weights[place] != 0);
                held.map(|((hour, quantity), _)| (hour, *quantity)).collect()
            } else {
                Vec::new()
            };
            let holder = weighed.job(place).map(|job| self.usage.holders[job]);
            let (job_no, gpu_use) = match holder {
                Some(Holder { gpu_use, job_no, .. }) if job_no > NOBODY => (Some(job_no), gpu_use),
                Some(Holder { gpu_use, .. }) => (None, gpu_use),
                None => (None, GpuUse::Unheld),
            };
            parts.push(Part {
                job_no,
                gpu_use,
                period: of_row(row, self.month, &hours),
                costs,
                quantity,
                hours,
            });
        }
        merged(parts)
    }
}

/// From the first of these hours to the end of the last; else as the row says it: its day, or more than a day from it.
fn of_row(row: &BilledDay, month: BillingMonth, hours: &[(u8, Decimal)]) -> ChargePeriod {
    let after = |days: u64| row.day.checked_add_days(Days::new(days)).unwrap_or(row.day);
    let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    if let (Some((first, _)), Some((last, _))) = (hours.first(), hours.last()) {
        let at = |hour: u8| midnight(row.day) + TimeDelta::hours(hour.into());
        return ChargePeriod { start: at(*first), end: at(last + 1) };
    }
    let end = if row.is_whole_period { after(2).max(month.days().end) } else { after(1) };
    ChargePeriod { start: midnight(row.day), end: midnight(end) }
}

impl Part {
    /// What takes it away.
    pub fn negative(self) -> Self {
        let hours = self.hours.into_iter().map(|(hour, quantity)| (hour, -quantity)).collect();
        Self { costs: self.costs.negative(), quantity: -self.quantity, hours, ..self }
    }

    /// With another of the same row.
    pub fn add(&mut self, other: Self) {
        self.costs = self.costs.plus(other.costs);
        self.quantity += other.quantity;
        self.period = ChargePeriod {
            start: self.period.start.min(other.period.start),
            end: self.period.end.max(other.period.end),
        };
        for (hour, quantity) in other.hours {
            match self.hours.binary_search_by_key(&hour, |(hour, _)| *hour) {
                Ok(at) => self.hours[at].1 += quantity,
                Err(at) => self.hours.insert(at, (hour, quantity)),
            }
        }
    }
}

/// What nobody held is one part, whether a meter saw that or it follows.
fn merged(parts: Vec<Part>) -> Vec<Part> {
    let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match merged.iter_mut().find(|it| it.job_no == part.job_no && it.gpu_use == part.gpu_use) {
            Some(known) => known.add(part),
            None => merged.push(part),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::Range;

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
    fn what_a_job_held_on_a_day_is_one_part_that_says_its_hours() {
        // On for ten hours; eight accelerators by one job for three hours, then four of them for two.
        let hours: Vec<(usize, &str)> = (0..10).map(|hour| (hour, "1")).collect();
        let rows = [row("2026-09-02", ["100", "100", "200", "100"], &hours)];
        let day = 24;
        let held: Held = (0..5).map(|it| (day + it, if it < 3 { 8 } else { 4 } * OF_AN_HOUR)).collect();
        let usage = usage(vec![(7, GpuUse::Used, held)], 24..32);
        let parts = Divided::new(month(), &rows, &usage).parts();
        assert_eq!(
            texts(&parts[0]),
            ["02 00-02 05 job 7 Used: 40 4", "02 03-02 08 nobody Held by nobody: 40 4"]
        );
        let of_hours: Vec<_> =
            parts[0][0].hours.iter().map(|(hour, it)| format!("{hour}:{}", it.normalize())).collect();
        assert_eq!(of_hours, ["0:1", "1:1", "2:1", "3:0.5", "4:0.5"]);
    }

    #[test]
    fn what_belongs_to_no_day_is_divided_as_a_whole() {
        let mut fee = row("2026-09-01", ["0", "-7.2", "0", "0"], &[]);
        fee.is_whole_period = true;
        fee.key.category = ChargeCategory::Credit;
        let rows = [row("2026-09-02", ["20", "20", "20", "20"], &[(0, "1"), (1, "1")]), fee];
        let held = Held::from_iter([(24, 8 * OF_AN_HOUR)]);
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
            let holders: Vec<_> = held.into_iter().zip(uses).zip(0..).map(|((held, gpu_use), job)| (job, *gpu_use, Held::from_iter(held))).collect();
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
                *of_key.entry((it.job_no, it.gpu_use)).or_default() += 1;
                prop_assert_eq!(it.hours.iter().map(|(_, it)| *it).sum::<Decimal>(), it.quantity);
                let hours: Vec<u8> = it.hours.iter().map(|(hour, _)| *hour).collect();
                prop_assert!(hours.is_sorted() && it.period.end - it.period.start <= TimeDelta::days(1));
            }
            prop_assert!(of_key.values().all(|count| *count == 1));
        }
    }
}
