//! The best mix: a demand of which only the least and the most are known, and one of three levels.

use gpuledger::economics::mix::{Commitment, Ladder, Overflow, Size, Stack};
use gpuledger::economics::owning::Hours;
use gpuledger::economics::profile::{Hour, MONTH, PARTS, Spread, in_gpus};
use gpuledger::economics::published_figures::{first_example_of_spot, worked_example};
use gpuledger::money::Decimal;
use gpuledger::money::arithmetic::{product, quotient};

use super::{Computed, number, owning};

/// 400 to 800 GPU-hours a day.
fn spread() -> Spread {
    Spread { low: 400.into(), high: 800.into() }
}

fn reserved() -> Decimal {
    number("5.25")
}

fn on_demand() -> Decimal {
    number("12.29")
}

/// What is missing comes from spot, 70 % off, with a checkpoint every half hour.
fn spot() -> Decimal {
    let factor = first_example_of_spot().factor(number("0.5")).unwrap();
    product(&[on_demand(), number("0.3"), factor])
}

/// A day of the example at a level, with what is missing at a price.
fn day_at(level: i64, missing: Decimal) -> Decimal {
    spread().cost(level.into(), reserved(), missing)
}

/// Days that make whole months.
const DAYS: usize = MONTH;
const MONTHS: usize = 24;

/// Days of eight hours each of 2, 4 and 8 GPUs, all of which can be interrupted.
fn steps() -> Vec<Hour> {
    let of = |gpus: u64| vec![Hour { firm: 0, interruptible: gpus * PARTS }; 8];
    [of(2), of(4), of(8)].concat().repeat(DAYS)
}

/// What is not in the base: spot at 3 as far as there is any, and 10 on demand.
fn overflow(spot: u64) -> Overflow {
    let flat = |price: i64| vec![price.into(); MONTHS];
    Overflow { spot: Some((flat(3), spot * PARTS)), burst: flat(10) }
}

/// What a day of them costs at a level, with so many GPUs of spot.
fn stepped(level: u64, base: Decimal, spot: u64) -> Decimal {
    let overflow = overflow(spot);
    let ladder = Ladder::new(&steps(), &overflow);
    let rest = overflow.cost(&ladder, 0..ladder.months(), level);
    product(&[in_gpus(level.into()), 24.into(), base]) + quotient(rest, (DAYS as i64).into()).unwrap()
}

/// The level that costs least, in GPUs.
fn best(base: Decimal, spot: u64) -> Decimal {
    let overflow = overflow(spot);
    let ladder = Ladder::new(&steps(), &overflow);
    let term = ladder.months();
    let commitments = [Commitment { prices: vec![base; MONTHS], term, size: Size::Best }];
    let stack = Stack { ladder: &ladder, commitments: &commitments, overflow: &overflow, step: PARTS };
    in_gpus(stack.levels()[0][0].into())
}

/// What an owned hour of the worked example costs: nothing of it moves with utilization.
fn owned_hour() -> Decimal {
    owning::cost(&worked_example()).per_hour(Hours::Owned).unwrap()
}

fn owned(burst: &str) -> Decimal {
    spread().cheapest(owned_hour(), number(burst))
}

fn two_thirds() -> Decimal {
    quotient(20.into(), 3.into()).unwrap()
}

pub fn computed() -> Vec<Computed> {
    let level = spread().cheapest(reserved(), on_demand());
    vec![
        ("N01", level),
        ("N03", day_at(400, on_demand())),
        ("N04", spread().cost(level, reserved(), on_demand())),
        ("N06", day_at(0, on_demand())),
        ("N07", day_at(300, spot())),
        ("N09", best(5.into(), 0)),
        ("N10", stepped(4 * PARTS, 5.into(), 0)),
        ("N12", stepped(4 * PARTS, two_thirds(), 0)),
        ("N14", spread().exceeds(owned("12.29"))),
        ("N15", owned("12.29")),
        ("N17", best(5.into(), 2)),
        ("N18_0", stepped(0, 5.into(), 2)),
        ("N18_4", stepped(4 * PARTS, 5.into(), 2)),
        ("N18_6", stepped(6 * PARTS, 5.into(), 2)),
    ]
}

pub fn described() -> Vec<Computed> {
    vec![
        ("N02", day_at(300, on_demand())),
        // With spot for the rest it costs least to reserve nothing.
        ("N08", spread().cheapest(reserved(), spot())),
        ("N11", best(two_thirds(), 0)),
        ("N13", owned_hour()),
        ("N16", owned("6.88")),
        ("N18", stepped(2 * PARTS, 5.into(), 2)),
    ]
}
