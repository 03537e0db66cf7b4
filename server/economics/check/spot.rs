//! Spot capacity.

use super::Findings;
use crate::economics::spot::{Interruptions, Job, Preemptions, Spot};
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, one, product};

/// What is odd about spot capacity and what is to run on it.
pub fn spot(spot: &Spot) -> Findings {
    let mut found = Findings::default();
    for (field, price) in [("price", spot.price), ("on_demand", spot.on_demand)] {
        found.price(field, price);
    }
    if spot.price > spot.on_demand {
        found.warn("price", spot.price, "more than on demand, which is not interrupted");
    } else if spot.price < product(&[spot.on_demand, decimal(5, 2)]) {
        let message = "more than 95% below on demand; is one of them the price of a whole instance?";
        found.warn("price", spot.price, message);
    }
    found.within("interruptions", |found| interruptions(&spot.interruptions, found));
    if let Some(interval) = spot.interval_hours {
        let message = "expected hours between checkpoints, from 0.001 to 8,760";
        found.between("interval_hours", interval, decimal(1, 3), 8760.into(), message);
    }
    if let Some(it) = &spot.job {
        found.within("job", |found| job(it, found));
    }
    found.sorted()
}

pub(super) fn interruptions(stops: &Interruptions, found: &mut Findings) {
    match stops.preemptions {
        Preemptions::Hour { rate } => {
            let message = "expected interruptions per instance and hour, from 0 to 60, mostly far below 1";
            found.between("preemptions.rate", rate, Decimal::ZERO, 60.into(), message);
        }
        Preemptions::Month { share } => {
            found.part("preemptions.share", share);
        }
    }
    let message = "expected failures per instance and hour, from 0 to 60, mostly far below 1";
    found.between("failures", stops.failures, Decimal::ZERO, 60.into(), message);
    found.whole("instances", stops.instances, 1..=100_000, "expected 1 to 100,000");
    for (field, minutes) in [
        ("pause_minutes", stops.pause_minutes),
        ("restart_minutes", stops.restart_minutes),
        ("notice_minutes", stops.notice_minutes),
    ] {
        let message = "expected minutes, from 0 to 1,440 (a day)";
        found.between(field, minutes, Decimal::ZERO, 1440.into(), message);
    }
}

fn job(job: &Job, found: &mut Findings) {
    let most = Decimal::from(1_000_000);
    let mut hours = |field: &str, hours| {
        found.between(field, hours, Decimal::ZERO, most, "expected 0 to a million hours");
    };
    hours("useful_hours", job.useful_hours);
    hours("wait_hours", job.wait_hours);
    if let Some(deadline) = job.deadline_hours {
        hours("deadline_hours", deadline);
    }
    let message = "expected a speed factor from 0.001 to 1,000; 1 for the same";
    found.between("speed", job.speed, decimal(1, 3), one().times(1000), message);
}
