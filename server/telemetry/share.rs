//! What the charges of a machine are for: who held its accelerators, hour by hour. Pure.
//!
//! Of an hour, each accelerator that was paid for weighs the same. A job has what it held; the rest was held by nobody. Where more
//! was held than paid for, those who held it share what was paid. Cost is split in proportion, and its parts sum to it exactly.

use std::collections::BTreeMap;
use std::ops::Range;

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

/// What a job held of a machine, in accelerator-milliseconds by the hour of the period. Hours without any are left out.
pub type Held = BTreeMap<usize, i64>;

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

/// Splits what was paid for a machine among the jobs that held it. `is_known`: of which hours it is known that no other job did.
pub fn share(paid: &[Paid], jobs: &[Held], is_known: impl Fn(usize) -> bool) -> Shared {
    let mut of_hour: BTreeMap<usize, i64> = BTreeMap::new();
    for it in paid {
        for (hour, paid) in it.hours.clone().zip(&it.by_hour) {
            *of_hour.entry(hour).or_default() += *paid;
        }
    }
    let mut held: BTreeMap<usize, i64> = BTreeMap::new();
    for job in jobs {
        for (hour, ms) in job {
            *held.entry(*hour).or_default() += *ms;
        }
    }
    let of = |hours: &BTreeMap<usize, i64>, hour: usize| hours.get(&hour).copied().unwrap_or(0);
    let mut shared = Shared { jobs: vec![Decimal::ZERO; jobs.len()], ..Shared::default() };
    for (hour, paid) in &of_hour {
        let held = of(&held, *hour);
        shared.paid += i128::from(*paid);
        let rest = i128::from((*paid - held).max(0));
        *(if is_known(*hour) { &mut shared.unheld } else { &mut shared.unknown_hours }) += rest;
    }
    shared.beyond = held.iter().map(|(hour, held)| i128::from((*held - of(&of_hour, *hour)).max(0))).sum();
    for it in paid {
        let says_hours = it.by_hour.iter().any(|ms| *ms > 0);
        let of_this = |hour: usize| {
            if says_hours {
                it.by_hour.get(hour - it.hours.start).copied().unwrap_or(0)
            } else {
                of(&of_hour, hour)
            }
        };
        // What is paid for a machine that was on at no hour that is known is for all of its hours alike.
        let is_blind = !it.hours.clone().any(|hour| of_this(hour) > 0);
        let weight = |hour: usize| if is_blind { of(&held, hour).max(1) } else { of_this(hour) };
        // By job, then nobody's, then what is not known.
        let mut weights = vec![0_i128; jobs.len() + 2];
        let (nobody, unknown) = (jobs.len(), jobs.len() + 1);
        for hour in it.hours.clone() {
            weights[if is_known(hour) { nobody } else { unknown }] += i128::from(weight(hour));
        }
        for (place, job) in jobs.iter().enumerate() {
            for (hour, ms) in job.range(it.hours.clone()) {
                let most = of(&of_hour, *hour).max(of(&held, *hour)).max(1);
                let part = i128::from(weight(*hour)) * i128::from(*ms) / i128::from(most);
                weights[place] += part;
                weights[if is_known(*hour) { nobody } else { unknown }] -= part;
            }
        }
        let mut parts = split(it.cost, &weights);
        let unknown = parts.pop().unwrap_or_default();
        let nobody = parts.pop().unwrap_or_default();
        for (sum, part) in shared.jobs.iter_mut().zip(parts) {
            *sum += part;
        }
        shared.nobody += nobody;
        shared.unknown += unknown;
    }
    shared
}

/// A cost in proportion to weights. All of it is the last one's, which is not known, where they are nothing.
fn split(cost: Decimal, weights: &[i128]) -> Vec<Decimal> {
    let decimals: Vec<Decimal> = weights.iter().map(|it| Decimal::new(*it, 0)).collect();
    cost.apportion(&decimals, cost.scale().max(PLACES)).unwrap_or_else(|| {
        let mut parts = vec![Decimal::ZERO; weights.len()];
        if let Some(last) = parts.last_mut() {
            *last = cost;
        }
        parts
    })
}

/// A job's cost by what it did with what it held: at work, idle, and not measured.
pub fn by_use(cost: Decimal, held: i128, measured: i128, busy: i128) -> [Decimal; 3] {
    let weights = [busy, measured - busy, held - measured].map(|it| Decimal::new(it.max(0), 0));
    match cost.apportion(&weights, cost.scale().max(PLACES)).as_deref() {
        Some([used, idle, unmeasured]) => [*used, *idle, *unmeasured],
        _ => [Decimal::ZERO, Decimal::ZERO, cost],
    }
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
        let both: Held = [(0, 8 * HOUR)].into();
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
        let held: Held = [(0, 4 * HOUR)].into();
        let usage = Paid { hours: 0..2, by_hour: vec![8 * HOUR, 0], cost: "10".parse().unwrap() };
        let credit = Paid { hours: 0..24, by_hour: Vec::new(), cost: "-1".parse().unwrap() };
        let shared = share(&[usage, credit], &[held], |_| true);
        assert_eq!(texts(&shared.jobs), ["4.5"]);
        assert_eq!(shared.nobody.normalize().to_string(), "4.5");
    }

    #[test]
    fn what_nobody_measured_is_not_idle() {
        let parts = by_use("9".parse().unwrap(), 9, 6, 4);
        assert_eq!(texts(&parts), ["4", "2", "3"]);
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_cost(
            costs in proptest::collection::vec(("-?[0-9]{1,12}\\.[0-9]{1,18}", 0_usize..30, 0_usize..40), 1..6),
            paid in proptest::collection::vec(0_i64..10 * HOUR, 24),
            jobs in proptest::collection::vec(
                proptest::collection::btree_map(0_usize..40, 0_i64..10 * HOUR, 0..24), 0..5),
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
            let shared = share(&paid, &jobs, |hour| hour % 3 > 0);
            let whole: Decimal = paid.iter().map(|it| it.cost).sum();
            prop_assert_eq!(shared.jobs.iter().copied().sum::<Decimal>() + shared.nobody + shared.unknown, whole);
            prop_assert!(shared.unheld >= 0 && shared.unheld + shared.unknown_hours <= shared.paid);
        }
    }
}
