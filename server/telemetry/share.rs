//! What the charges of a machine are for: who held its accelerators, hour by hour. Pure.
//!
//! Of an hour, each accelerator that was paid for weighs the same. A job has what it held; the rest was held by nobody. Where more
//! was held than paid for, those who held it share what was paid. Cost is split in proportion, and its parts sum to it exactly.

use std::ops::Range;

use super::hours::HOURS;
use crate::accelerator::PARTS;
use crate::money::Decimal;

/// Digits after the point that parts of a cost have at least.
const PLACES: u8 = 10;

/// Something that was paid for a machine over some hours of a period.
#[derive(Clone, Debug)]
pub struct Paid {
    /// Hours of the period that it is for.
    pub hours: Range<usize>,
    /// Accelerator-milliseconds that it pays for in each of these hours. Empty where it says nothing of them: a credit, an adjustment.
    pub by_hour: Vec<i64>,
    pub cost: Decimal,
}

impl Paid {
    /// Of a row of the ledger: what it says of the hours of its day, and what it says of none spread over all of its hours. `weight`:
    /// part-seconds of accelerators in one unit of the quantity.
    pub fn new(
        hours: Range<usize>,
        described: &[Decimal],
        quantity: Decimal,
        weight: i64,
        cost: Decimal,
    ) -> Self {
        let by_hour = paid_by_hour(described, quantity, weight, hours.len());
        Self { hours, by_hour, cost }
    }
}

/// Accelerator-milliseconds by the hour.
fn paid_by_hour(described: &[Decimal], quantity: Decimal, weight: i64, hours: usize) -> Vec<i64> {
    if weight == 0 || hours == 0 {
        return Vec::new();
    }
    let milliseconds = |quantity: Decimal| -> i64 {
        let exact = quantity.times(weight).times(1000).divide(Decimal::from(PARTS), 0).unwrap_or_default();
        i64::try_from(exact.mantissa()).unwrap_or(0).max(0)
    };
    let mut by_hour = vec![0; hours];
    let mut rest = quantity;
    if hours == HOURS {
        for (of_hour, quantity) in by_hour.iter_mut().zip(described) {
            *of_hour += milliseconds(*quantity);
            rest -= *quantity;
        }
    }
    let rest = milliseconds(rest);
    let (each, left) = (rest / hours as i64, rest % hours as i64);
    for (of_hour, place) in by_hour.iter_mut().zip(0..) {
        *of_hour += each + i64::from(place < left);
    }
    by_hour
}

/// Accelerator-milliseconds of each hour of the period, up to the last that has any.
pub struct HourSums(Vec<i64>);

impl HourSums {
    /// What is paid for.
    pub fn paid<'p>(paid: impl IntoIterator<Item = &'p Paid>) -> Self {
        let hours = paid.into_iter().flat_map(|it| it.hours.clone().zip(it.by_hour.iter().copied()));
        Self::sum(hours)
    }

    pub fn sum(hours: impl IntoIterator<Item = (usize, i64)>) -> Self {
        let mut sums = Self(Vec::new());
        for (hour, ms) in hours {
            *sums.of(hour) += ms;
        }
        sums
    }

    pub fn of(&mut self, hour: usize) -> &mut i64 {
        if self.0.len() <= hour {
            self.0.resize(hour + 1, 0);
        }
        &mut self.0[hour]
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn at(&self, hour: usize) -> i64 {
        self.0.get(hour).copied().unwrap_or(0)
    }

    fn iter(&self) -> impl Iterator<Item = (usize, i64)> {
        self.0.iter().copied().enumerate()
    }
}

/// What a job held of a machine, in accelerator-milliseconds by the hour of the period, in their order. Hours without any are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held(Vec<(usize, i64)>);

impl Held {
    pub fn add(&mut self, hour: usize, ms: i64) {
        // Mostly they come in order.
        let place = match self.0.last() {
            Some((last, _)) if *last >= hour => self.0.binary_search_by_key(&hour, |(hour, _)| *hour),
            _ => Err(self.0.len()),
        };
        match place {
            Ok(known) => self.0[known].1 += ms,
            Err(new) => self.0.insert(new, (hour, ms)),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, i64)> {
        self.0.iter().copied()
    }

    pub fn sum(&self) -> i128 {
        self.0.iter().map(|(_, ms)| i128::from(*ms)).sum()
    }

    fn range(&self, hours: &Range<usize>) -> &[(usize, i64)] {
        let until = |end: usize| self.0.partition_point(|(hour, _)| *hour < end);
        self.0.get(until(hours.start)..until(hours.end)).unwrap_or_default()
    }
}

impl FromIterator<(usize, i64)> for Held {
    fn from_iter<I: IntoIterator<Item = (usize, i64)>>(hours: I) -> Self {
        let mut held = Self::default();
        hours.into_iter().for_each(|(hour, ms)| held.add(hour, ms));
        held
    }
}

/// What of the cost of a machine is for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// By job, in the order in which they were given.
    pub jobs: Vec<Decimal>,
    pub nobody: Decimal,
    /// Of hours of which nobody says who held the machine.
    pub unknown: Decimal,
    /// Accelerator-milliseconds paid for, and of these the ones that nobody held.
    pub paid: i128,
    pub unheld: i128,
    pub unknown_hours: i128,
    /// Accelerator-milliseconds held beyond what was paid for.
    pub beyond: i128,
}

/// A machine in a period: what was paid for of it in each hour, and who held it.
pub struct Machine<'h, F> {
    paid: HourSums,
    held: HourSums,
    jobs: &'h [Held],
    is_known: F,
}

/// Something that was paid for a machine, to be divided.
pub struct Row<'m, F> {
    machine: &'m Machine<'m, F>,
    paid: &'m Paid,
    says_hours: bool,
    /// The machine was on at no hour that is known: it is for all of its hours alike.
    is_blind: bool,
    /// The jobs that held the machine in its hours, with their places.
    jobs: Vec<(usize, &'m Held)>,
}

impl<'h, F: Fn(usize) -> bool> Machine<'h, F> {
    /// `is_known`: of which hours it is known that no other job held it.
    pub fn new<'p>(paid: impl IntoIterator<Item = &'p Paid>, jobs: &'h [Held], is_known: F) -> Self {
        let held = HourSums::sum(jobs.iter().flat_map(Held::iter));
        Self { paid: HourSums::paid(paid), held, jobs, is_known }
    }

    pub fn row<'m>(&'m self, paid: &'m Paid) -> Row<'m, F> {
        let says_hours = paid.by_hour.iter().any(|ms| *ms > 0);
        let holds = |(_, job): &(usize, &Held)| !job.range(&paid.hours).is_empty();
        let jobs = self.jobs.iter().enumerate().filter(holds).collect();
        let mut row = Row { machine: self, paid, says_hours, is_blind: false, jobs };
        row.is_blind = !paid.hours.clone().any(|hour| row.paid_in(hour) > 0);
        row
    }
}

impl<F: Fn(usize) -> bool> Row<'_, F> {
    /// Places of [`Self::weights`]: jobs of the machine by their place, then nobody, then what is not known.
    pub fn places(&self) -> usize {
        self.jobs.len() + 2
    }

    /// Of which job of the machine a place is; none: of nobody.
    pub fn job(&self, place: usize) -> Option<usize> {
        self.jobs.get(place).map(|(job, _)| *job)
    }

    fn paid_in(&self, hour: usize) -> i64 {
        if self.says_hours {
            hour.checked_sub(self.paid.hours.start)
                .and_then(|at| self.paid.by_hour.get(at))
                .copied()
                .unwrap_or(0)
        } else {
            self.machine.paid.at(hour)
        }
    }

    /// How much of what was paid is for whom in these hours of it.
    pub fn weights(&self, hours: Range<usize>) -> Vec<i128> {
        let machine = self.machine;
        let weight =
            |hour: usize| if self.is_blind { machine.held.at(hour).max(1) } else { self.paid_in(hour) };
        let (nobody, unknown) = (self.jobs.len(), self.jobs.len() + 1);
        let rest = |hour: usize| if (machine.is_known)(hour) { nobody } else { unknown };
        let mut weights = vec![0_i128; self.places()];
        for hour in hours.clone() {
            weights[rest(hour)] += i128::from(weight(hour));
        }
        for (place, (_, job)) in self.jobs.iter().enumerate() {
            for (hour, ms) in job.range(&hours) {
                let most = machine.paid.at(*hour).max(machine.held.at(*hour)).max(1);
                let part = i128::from(weight(*hour)) * i128::from(*ms) / i128::from(most);
                weights[place] += part;
                weights[rest(*hour)] -= part;
            }
        }
        weights
    }
}

/// Splits what was paid for a machine among the jobs that held it. `is_known`: of which hours it is known that no other job did.
pub fn share(paid: &[Paid], jobs: &[Held], is_known: impl Fn(usize) -> bool) -> Shared {
    let machine = Machine::new(paid, jobs, is_known);
    let mut shared = Shared { jobs: vec![Decimal::ZERO; jobs.len()], ..Shared::default() };
    for (hour, paid) in machine.paid.iter() {
        shared.paid += i128::from(paid);
        let rest = i128::from((paid - machine.held.at(hour)).max(0));
        *(if (machine.is_known)(hour) { &mut shared.unheld } else { &mut shared.unknown_hours }) += rest;
    }
    let beyond = |(hour, held): (usize, i64)| i128::from((held - machine.paid.at(hour)).max(0));
    shared.beyond = machine.held.iter().map(beyond).sum();
    for it in paid {
        let row = machine.row(it);
        let mut parts = split(it.cost, &row.weights(it.hours.clone()));
        shared.unknown += parts.pop().unwrap_or_default();
        shared.nobody += parts.pop().unwrap_or_default();
        for (place, part) in parts.into_iter().enumerate() {
            if let Some(job) = row.job(place) {
                shared.jobs[job] += part;
            }
        }
    }
    shared
}

/// An amount in proportion to weights. All of it is the last one's, which is not known, where they are nothing.
pub fn split(cost: Decimal, weights: &[i128]) -> Vec<Decimal> {
    let decimals: Vec<Decimal> = weights.iter().map(|it| Decimal::new(*it, 0)).collect();
    cost.apportion(&decimals, cost.scale().max(PLACES)).unwrap_or_else(|| {
        let mut parts = vec![Decimal::ZERO; weights.len()];
        if let Some(last) = parts.last_mut() {
            *last = cost;
        }
        parts
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600_000;

    fn day(accelerators: i64, cost: &str) -> Paid {
        Paid { hours: 0..24, by_hour: vec![accelerators * HOUR; 24], cost: cost.parse().unwrap() }
    }

    fn texts(parts: &[Decimal]) -> Vec<String> {
        parts.iter().map(|it| it.normalize().to_string()).collect()
    }

    #[test]
    fn each_hour_is_shared_by_who_held_it() {
        // Eight for a day: one job four of them for twelve hours, another all of them for three.
        let four: Held = (0..12).map(|hour| (hour, 4 * HOUR)).collect();
        let eight: Held = (20..23).map(|hour| (hour, 8 * HOUR)).collect();
        let shared = share(&[day(8, "192")], &[four, eight], |_| true);
        assert_eq!(texts(&shared.jobs), ["48", "24"]);
        assert_eq!(shared.nobody.normalize().to_string(), "120");
        assert_eq!((shared.paid, shared.unheld), (192 * i128::from(HOUR), 120 * i128::from(HOUR)));
    }

    #[test]
    fn what_was_held_beyond_what_was_paid_shares_what_was_paid() {
        let both = Held::from_iter([(0, 8 * HOUR)]);
        let paid = Paid { hours: 0..1, by_hour: vec![8 * HOUR], cost: "10".parse().unwrap() };
        let shared = share(&[paid], &[both.clone(), both], |_| true);
        assert_eq!(texts(&shared.jobs), ["5", "5"]);
        assert!(shared.nobody.is_zero());
        assert_eq!(shared.beyond, 8 * i128::from(HOUR));
    }

    #[test]
    fn hours_that_nobody_reports_are_not_idle() {
        let four: Held = (0..12).map(|hour| (hour, 4 * HOUR)).collect();
        let shared = share(&[day(8, "192")], &[four], |hour| hour < 18);
        assert_eq!(texts(&shared.jobs), ["48"]);
        assert_eq!(texts(&[shared.nobody, shared.unknown]), ["96", "48"]);
        assert_eq!(shared.unknown_hours, 48 * i128::from(HOUR));
    }

    #[test]
    fn a_credit_follows_the_hours_of_its_machine() {
        let held = Held::from_iter([(0, 4 * HOUR)]);
        let usage = Paid { hours: 0..2, by_hour: vec![8 * HOUR, 0], cost: "10".parse().unwrap() };
        let credit = Paid { hours: 0..24, by_hour: Vec::new(), cost: "-1".parse().unwrap() };
        let shared = share(&[usage, credit], &[held], |_| true);
        assert_eq!(texts(&shared.jobs), ["4.5"]);
        assert_eq!(shared.nobody.normalize().to_string(), "4.5");
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_cost(
            costs in proptest::collection::vec(("-?[0-9]{1,12}\\.[0-9]{1,18}", 0_usize..30, 0_usize..40), 1..6),
            paid in proptest::collection::vec(0_i64..10 * HOUR, 24),
            jobs in proptest::collection::vec(
                proptest::collection::vec((0_usize..40, 0_i64..10 * HOUR), 0..24), 0..5),
        ) {
            let paid: Vec<Paid> = costs
                .iter()
                .enumerate()
                .map(|(place, (cost, from, until))| Paid {
                    hours: *from.min(until)..*from.max(until),
                    by_hour: if place % 2 == 0 { paid.clone() } else { Vec::new() },
                    cost: cost.parse().unwrap(),
                })
                .collect();
            let jobs: Vec<Held> = jobs.into_iter().map(Held::from_iter).collect();
            let shared = share(&paid, &jobs, |hour| hour % 3 > 0);
            let whole: Decimal = paid.iter().map(|it| it.cost).sum();
            prop_assert_eq!(shared.jobs.iter().copied().sum::<Decimal>() + shared.nobody + shared.unknown, whole);
            prop_assert!(shared.unheld >= 0 && shared.unheld + shared.unknown_hours <= shared.paid);
        }
    }
}
