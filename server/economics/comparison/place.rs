//! What serving work in one place costs.
//!
//! The demand of a place is that of its works, in its own GPUs: hours × F ÷ q. Blocks serve their hours of it
//! ([`super::block`]). Of the rest the base is what is owned or committed
//! to, as entered or as costs least; then comes spot, then on demand ([`crate::economics::mix`]). What costs least is what
//! options are ranked by: what all that is paid for the base and for what comes after it is worth at the start.
//!
//! Capacity on demand is there when asked for with a chance α; an hour that is not served costs π. So an hour of overflow
//! is expected to cost α × p + (1 − α) × π, and the higher that is, the larger the base. Where nobody said what π is, it
//! counts as one that is bought, so that nothing that is missing looks like a saving; and the option does not do the work.

use std::ops::Range;

use super::cheaper::{moved, rebates};
use super::entered::{Committed, Place, Rate, Scenario, Spot};
use super::{block, committed};
use crate::cancellation;
use crate::economics::cash::{Payments, at_its_end, worth_of_one};
use crate::economics::mix::{Commitment, Ladder, Overflow, Size, Stack};
use crate::economics::profile::{MONTH, PARTS, Profile, in_gpus, parts};
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, one, product, quotient};

/// A place, what is asked of it, and the prices it is served at.
pub(super) struct Asked<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) place: &'a Place,
    /// Which of the option's places it is.
    pub(super) at: usize,
    /// In GPUs of this place, 730 hours of each month.
    pub(super) demand: Profile,
    /// What blocks leave of it, and GPU-hours that each of them serves.
    pub(super) rest: Profile,
    pub(super) in_blocks: Vec<Decimal>,
    /// What is expected of it: prices of an hour that is served, with support, and what one costs that is not.
    pub(super) overflow: Overflow,
    /// What one unit of money is worth at the start that is paid after 0, 1, 2, … months, and the overflow at that: what
    /// sizes are decided by.
    worth_of_one: Vec<Decimal>,
    worth: Overflow,
    /// What can be committed to, the longest first, and at what an hour of each month is worth at the start.
    pub(super) committed: Vec<&'a Committed>,
    pub(super) commitments: Vec<Commitment>,
    /// What a useful hour of spot costs in each month; empty where none is sold.
    pub(super) spot: Vec<Decimal>,
    /// What an hour by use costs in each month; empty where none is sold.
    pub(super) by_use: Vec<Decimal>,
    /// α: of the hours that are asked for by use, those that are there. 0 where none are sold.
    pub(super) obtainable: Decimal,
    /// π, of an hour here.
    pub(super) per_unserved_hour: Option<Decimal>,
    /// What cheaper hours take off spot and off what is used in each month; empty where there are none.
    pub(super) rebates: Vec<[Decimal; 2]>,
    /// GPU-hours that moved there.
    pub(super) shifted_hours: Decimal,
    pub(super) ladder: Ladder,
}

impl<'a> Asked<'a> {
    /// `demands` are those of the scenario's works over all months.
    pub(super) fn new(scenario: &'a Scenario, demands: &[Profile], (at, place): (usize, &'a Place)) -> Self {
        cancellation::check();
        let mut demand = Profile::default();
        for work in scenario.served_at(place) {
            demand = demand.with(&demands[work]);
        }
        let demand = demand.taking(place.rework, place.performance);
        let by_use = by_use(scenario, place);
        let obtainable = if by_use.is_empty() { Decimal::ZERO } else { place.obtainable };
        let per_unserved_hour = per_unserved_hour(scenario, demands, place);
        let spot = place.spot.as_ref().map(|it| spot(it, scenario.months)).unwrap_or_default();
        let cap = place.spot.as_ref().map(|it| it.gpus.map_or(u64::MAX, parts));
        let overflow = Overflow {
            spot: cap.map(|cap| (with_support(place, &spot), cap)),
            burst: expected(&with_support(place, &by_use), obtainable, per_unserved_hour, scenario.months),
        };
        let (demand, shifted_hours) = moved(scenario, demands, place, (demand, &overflow));
        let rebates = rebates(place, &demand, &overflow, (&spot, &by_use, obtainable));
        let mut parts = vec![0_u128; place.blocks.len()];
        let rest = block::served(&place.blocks, &demand, |at, _, served| parts[at] += u128::from(served));
        let in_blocks = parts.into_iter().map(in_gpus).collect();
        let ladder = Ladder::new(rest.hours(), &overflow);
        let worth_of_one = worth_of_one(scenario.cost_of_capital, scenario.months);
        let worth = Overflow {
            spot: overflow.spot.as_ref().map(|(prices, cap)| (at_its_end(prices, &worth_of_one), *cap)),
            burst: at_its_end(&overflow.burst, &worth_of_one),
        };
        let mut committed: Vec<&Committed> = place.committed.iter().collect();
        committed.sort_by_key(|it| std::cmp::Reverse(it.months));
        let commitments = committed
            .iter()
            .map(|it| committed::at_worth(it, place, scenario.months, &worth_of_one))
            .collect();
        Self {
            scenario,
            place,
            at,
            demand,
            rest,
            in_blocks,
            overflow,
            worth_of_one,
            worth,
            committed,
            commitments,
            spot,
            by_use,
            obtainable,
            per_unserved_hour,
            rebates,
            shifted_hours,
            ladder,
        }
    }

    pub(super) fn step(&self) -> u64 {
        u64::from(self.place.gpus_per_node.max(1)) * PARTS
    }

    pub(super) fn months(&self) -> u32 {
        self.scenario.months
    }

    /// Of a place that is paid by the token, millions of them that an hour makes.
    pub(super) fn millions_per_hour(&self) -> Option<Decimal> {
        self.scenario.millions_per_hour(self.place)
    }

    /// Whether anything serves what the base does not, or what is not served has a price.
    pub(super) fn has_overflow(&self) -> bool {
        !self.overflow.burst.is_empty()
    }

    /// What serving the rest of all months is worth at the start above a level, with support.
    pub(super) fn rest(&self, level: u64) -> Decimal {
        self.rest_of(0..self.months(), level)
    }

    pub(super) fn rest_of(&self, months: Range<u32>, level: u64) -> Decimal {
        self.worth.cost(&self.ladder, months, level)
    }

    /// What payments are worth at the start.
    pub(super) fn worth_of(&self, payments: &Payments) -> Decimal {
        payments.worth(&self.worth_of_one).into_iter().sum()
    }

    /// The level of base that serves all that nothing else does: the peak, unless on demand is there.
    pub(super) fn least_level(&self) -> u64 {
        if self.has_overflow() {
            return 0;
        }
        let cap = self.overflow.spot.as_ref().map_or(0, |(_, cap)| *cap);
        let needed = self.rest.hours().iter().map(|it| it.all() - it.interruptible.min(cap));
        needed.max().unwrap_or_default()
    }

    /// Thousandths of a GPU that an hour asks for by use, above a level of base.
    pub(super) fn by_use_in(&self, hour: usize, level: u64) -> u64 {
        let Some(it) = self.rest.hours().get(hour) else { return 0 };
        let over = it.all().saturating_sub(level);
        over - over.min(it.interruptible).min(self.overflow.spot_of(hour / MONTH))
    }

    /// GPU-hours that a month asks for.
    pub(super) fn hours_of(&self, month: u32) -> Decimal {
        let hours = self.demand.hours().iter().skip(month as usize * MONTH).take(MONTH);
        in_gpus(hours.map(|it| u128::from(it.all())).sum())
    }

    /// What commitments above a level of machines are worth at the start with what comes after them and support, and
    /// thousandths of GPU-hours that nothing serves.
    pub(super) fn above(&self, owned: u64) -> (u128, Decimal) {
        let mut cost = Decimal::ZERO;
        let mut base = vec![owned; self.months() as usize];
        for (commitment, level) in self.commitments.iter().zip(self.levels_above(owned)) {
            for ((price, level), below) in commitment.prices.iter().zip(&level).zip(&base) {
                cost += in_gpus((level - below).into()).times(HOURS_PER_MONTH).multiply(*price);
            }
            base = level;
        }
        let mut missing = 0;
        for (month, level) in (0..).zip(base) {
            cost += self.rest_of(month..month + 1, level);
            if !self.has_overflow() {
                missing += self.ladder.serve(month, level).burst;
            }
        }
        (missing, cost)
    }

    /// How far up each commitment reaches, the longest first, above a level of machines.
    pub(super) fn levels_above(&self, owned: u64) -> Vec<Vec<u64>> {
        // What is owned lies below all of them, for nothing more than it costs already.
        let whole = Commitment {
            prices: vec![Decimal::ZERO; self.months() as usize],
            term: self.months(),
            size: Size::Fixed(owned),
        };
        let all: Vec<Commitment> = std::iter::once(whole).chain(self.commitments.iter().cloned()).collect();
        let overflow = if self.has_overflow() { &self.worth } else { &self.without_rest() };
        let stack = Stack { ladder: &self.ladder, commitments: &all, overflow, step: self.step() };
        let mut levels = stack.levels();
        levels.remove(0);
        levels
    }

    /// What comes after commitments where nothing serves the rest: the thousandth part of a GPU-hour that is missing costs
    /// more than a machine under all of them for all months, so that they are as large as they have to be, and what serves
    /// it is what costs least.
    fn without_rest(&self) -> Overflow {
        let all: Decimal = self.commitments.iter().flat_map(|it| &it.prices).copied().sum();
        let parts = Decimal::from(i64::try_from(self.step()).unwrap_or(i64::MAX));
        let price = parts.multiply(all).times(HOURS_PER_MONTH).round(0) + one();
        Overflow { burst: vec![price; self.months() as usize], ..self.worth.clone() }
    }
}

/// A rate's price in each month.
fn prices(rate: &Rate, months: u32) -> Vec<Decimal> {
    (0..months).map(|month| rate.in_month(month)).collect()
}

/// What an hour by use costs in each month; nothing where none is sold.
fn by_use(scenario: &Scenario, place: &Place) -> Vec<Decimal> {
    let months = scenario.months;
    let on_demand = place.on_demand.as_ref().map(|it| prices(it, months));
    let by_tokens = || {
        let of_millions = prices(place.per_million_tokens.as_ref()?, months);
        of_millions.into_iter().map(|price| scenario.hour_by_tokens(place, price)).collect()
    };
    on_demand.or_else(by_tokens).unwrap_or_default()
}

/// What a useful hour of spot costs in each month.
fn spot(entered: &Spot, months: u32) -> Vec<Decimal> {
    let rework = entered.hours_for_one();
    prices(&entered.rate, months).into_iter().map(|price| product(&[price, rework])).collect()
}

/// Prices of the supplier with support, which is a share of them: what a base is chosen by.
fn with_support(place: &Place, prices: &[Decimal]) -> Vec<Decimal> {
    prices.iter().map(|price| *price + price.multiply(place.support)).collect()
}

/// What an hour beyond base and spot is expected to cost in each month.
fn expected(
    by_use: &[Decimal],
    obtainable: Decimal,
    per_unserved_hour: Option<Decimal>,
    months: u32,
) -> Vec<Decimal> {
    let missing = one() - obtainable;
    if by_use.is_empty() {
        return per_unserved_hour.map_or_else(Vec::new, |cost| vec![cost; months as usize]);
    }
    let hour = |price: &Decimal| match per_unserved_hour {
        Some(cost) if !missing.is_zero() => product(&[obtainable, *price]) + product(&[missing, cost]),
        _ => *price,
    };
    by_use.iter().map(hour).collect()
}

/// What an hour of a place costs that is not served: that of its works, each by how much it asks for. None unless each of
/// them says it.
fn per_unserved_hour(scenario: &Scenario, demands: &[Profile], place: &Place) -> Option<Decimal> {
    let (mut cost, mut hours, mut same) = (Decimal::ZERO, Decimal::ZERO, None);
    let mut is_same = true;
    for at in scenario.served_at(place) {
        let each = scenario.work[at].unserved_cost?;
        is_same &= same.is_none_or(|same| same == each);
        same = Some(each);
        let asked = demands[at].gpu_hours();
        cost += product(&[asked, each]);
        hours += asked;
    }
    let of_work = if is_same { same } else { quotient(cost, hours) };
    Some(product(&[of_work?, quotient(place.performance, place.rework)?]))
}
