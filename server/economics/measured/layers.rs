//! As it is: what was there in every hour as a base, then spot, then everything else at what it came to.
//!
//! Of a model, in whole GPUs, K = the least that was owned, and the least that commitments covered, in any hour: both are
//! paid for all the time, and are always used. Spot is the share that was spot, wherever that much is above the base. The
//! rest, with what of machines and commitments was not there in every hour, costs what is left of the cost ÷ the hours
//! that are left to it. So the option costs over the period what was paid. Where that would make its price another by
//! more than a tenth, because spot and the base meet in most hours, it stays what was paid, and the option differs.
//! Where nothing else was paid for, spot costs as much above its share. What credits covered costs nothing, together with
//! spot if they gave back more. Commitments that nothing used cost what they cost, by the month.

use chrono::NaiveDate;
use serde::Serialize;

use super::{Measured, Used, Way, base};
use crate::accelerator::accelerator_hours;
use crate::economics::comparison::{
    BY_THE_BOOKS, COVERED, Committed, Gpus, OtherCost, PerWhat, Place, Rate, Spot,
};
use crate::economics::mix::{Ladder, Overflow};
use crate::economics::profile::{MONTH, PARTS, Profile, in_gpus};
use crate::economics::spot::Interruptions;
use crate::enum_words::words;
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, count, count_of, floor, one, product, quotient, whole};

/// Digits after the point of a price and a share: no more than a cent in ten million hours is lost.
pub(super) const DIGITS: u8 = 9;
/// Decimals to which an option is shown to cost what was paid: what prices are rounded to is no difference.
const EXACT: u8 = 3;
/// Months of a commitment as it is: how long it goes on is not known.
pub(super) const TERM: u32 = 12;

words! {
    /// How hours are paid for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum HowPaid: name {
        /// Machines of our own, by the books.
        Owned = "on-prem";
        /// Covered by a commitment.
        Committed = "committed";
        Spot = "spot";
        OnDemand = "on demand";
    }
}

impl HowPaid {
    /// What FOCUS calls a PricingCategory.
    pub fn of(pricing: &str) -> Self {
        match pricing {
            "Owned" => Self::Owned,
            "Committed" => Self::Committed,
            "Dynamic" => Self::Spot,
            _ => Self::OnDemand,
        }
    }
}

/// GPUs that were there in every hour.
#[derive(Clone, Debug)]
pub(super) struct BaseLoad {
    pub gpus: u32,
    pub price: Decimal,
}

/// Of a model what serves it now.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    pub owned: Option<BaseLoad>,
    pub committed: Option<BaseLoad>,
    pub spot: Option<Decimal>,
    /// What everything else came to; 0 where credits covered it.
    pub rest: Option<Decimal>,
}

/// What the option costs over the period, and what the ledger says.
#[derive(Clone, Debug, Serialize)]
pub struct Reconciled {
    /// Use of these models, and commitments that nothing used.
    pub ledger: Decimal,
    pub option: Decimal,
    pub difference: Decimal,
}

/// Hours of a model that were paid for in one way, and what they cost.
struct Sum {
    part_seconds: Decimal,
    cost: Decimal,
}

impl Sum {
    fn of(used: &Used, paid: HowPaid) -> Self {
        Self::of_ways(used, |it| it.paid == paid)
    }

    fn of_ways(used: &Used, is_meant: impl Fn(&Way) -> bool) -> Self {
        let ways = || used.ways.iter().filter(|it| is_meant(it));
        Self { part_seconds: ways().map(Way::part_seconds).sum(), cost: ways().map(|it| it.cost).sum() }
    }

    fn price(&self) -> Option<Decimal> {
        let price = quotient(self.cost, accelerator_hours(self.part_seconds, DIGITS))?;
        Some(price.round(DIGITS).normalize()).filter(|it| *it > Decimal::ZERO)
    }
}

/// What an hour of a model came to in one way.
pub(super) fn own_price(used: &Used, paid: HowPaid) -> Option<Decimal> {
    Sum::of(used, paid).price()
}

/// The same of one supplier.
pub(super) fn own_price_of(used: &Used, paid: HowPaid, supplier: &str) -> Option<Decimal> {
    Sum::of_ways(used, |it| it.paid == paid && it.supplier == supplier).price()
}

impl Layers {
    pub(super) fn of(used: &Used) -> Self {
        let hours = used.ways.iter().map(|it| it.hours.len()).max().unwrap_or_default();
        let length = count_of(hours);
        let base = |paid: HowPaid| {
            let in_hour = |hour: usize| -> Decimal {
                let of_hour = used.ways.iter().filter(|it| it.paid == paid);
                of_hour.filter_map(|it| it.hours.get(hour)).copied().sum()
            };
            let least = (0..hours).map(in_hour).min().unwrap_or_default();
            let gpus = whole(floor(accelerator_hours(least, DIGITS)));
            let price = Sum::of(used, paid).price()?;
            (gpus > 0).then_some(BaseLoad { gpus, price })
        };
        let (owned, committed) = (base(HowPaid::Owned), base(HowPaid::Committed));
        let mut spot = own_price(used, HowPaid::Spot);
        let mut left_cost = Decimal::ZERO;
        let mut left_hours = Decimal::ZERO;
        for paid in [HowPaid::Owned, HowPaid::Committed, HowPaid::OnDemand] {
            let sum = Sum::of(used, paid);
            left_cost += sum.cost;
            left_hours += accelerator_hours(sum.part_seconds, DIGITS);
        }
        for layer in [&owned, &committed].into_iter().flatten() {
            let taken = product(&[count(layer.gpus), length]);
            left_hours -= taken;
            left_cost -= product(&[taken, layer.price]);
        }
        // Less than a part of a GPU is what rounding left.
        let is_something = |hours: Decimal| hours > Decimal::new(1, super::THOUSANDTHS);
        // Spot that cost nothing or gave money back, and what would not be taken beside hours that cost nothing.
        if spot.is_none() || (is_something(left_hours) && left_cost <= Decimal::ZERO) {
            let sum = Sum::of(used, HowPaid::Spot);
            left_cost += sum.cost;
            left_hours += accelerator_hours(sum.part_seconds, DIGITS);
            spot = None;
        }
        let rest = if is_something(left_hours) {
            quotient(left_cost, left_hours).map(|it| it.round(DIGITS).normalize().max(Decimal::ZERO))
        } else {
            spot
        };
        let mut layers = Self { owned, committed, spot, rest };
        layers.rest = layers.exact(used).or(rest);
        layers
    }

    /// The price of the rest with which the option costs over the period what was paid.
    fn exact(&self, used: &Used) -> Option<Decimal> {
        let near = self.rest?;
        let base: Vec<(u32, Decimal)> =
            [&self.owned, &self.committed].into_iter().flatten().map(|it| (it.gpus, it.price)).collect();
        let served = Served::of(used, &base, self.spot, Some(near));
        let others = served.cost - product(&[in_gpus(served.rest), near]);
        let exact = quotient(used.cost() - others, in_gpus(served.rest))?.round(DIGITS).normalize();
        let is_near = (exact - near).abs().times(10) <= near;
        let keeps_spot = self.spot.is_none_or(|spot| (spot <= near) == (spot <= exact));
        (is_near && keeps_spot).then_some(exact)
    }
}

/// The rate of a price of one's own.
pub(super) fn own_rate(measured: &Measured, what: &str, price: Decimal) -> Rate {
    Rate {
        price,
        date: Some(last_day(measured)),
        source: format!("our own effective price {what}, {}", measured.when()),
        ..Rate::default()
    }
}

/// The rate of machines of one's own.
pub(super) fn owned_rate(measured: &Measured, price: Decimal) -> Rate {
    let source = format!("{BY_THE_BOOKS}, {}", measured.when());
    Rate { source, ..own_rate(measured, "", price) }
}

/// The rate of what was not there in every hour.
fn rest_rate(measured: &Measured, price: Decimal) -> Rate {
    let rate = own_rate(measured, "of what was not there in every hour", price);
    if price.is_zero() { Rate { source: format!("{COVERED}, {}", measured.when()), ..rate } } else { rate }
}

fn last_day(measured: &Measured) -> NaiveDate {
    let end = measured.period.days().end;
    end.pred_opt().unwrap_or(end)
}

/// Where a model runs now. `otherwise` is for what of growth and rounding is above it all.
pub(super) fn place(measured: &Measured, used: &Used, otherwise: Option<Rate>, months: u32) -> Place {
    let layers = Layers::of(used);
    let owned = layers
        .owned
        .iter()
        .map(|it| base(owned_rate(measured, it.price), months.max(TERM + 1), Gpus::Number(it.gpus)));
    let covered = layers
        .committed
        .iter()
        .map(|it| base(own_rate(measured, "under commitments", it.price), TERM, Gpus::Number(it.gpus)));
    let spot = layers.spot.map(|price| Spot {
        rate: own_rate(measured, "of spot", price),
        // Hours as they were paid for: what was lost and done again is among them.
        rework: Some(one()),
        interruptions: Interruptions::default(),
        gpus: None,
    });
    Place {
        supplier: used.suppliers(|_| true),
        committed: owned.chain(covered).collect(),
        spot,
        on_demand: layers.rest.map(|price| rest_rate(measured, price)).or(otherwise),
        others: unused(measured, used).into_iter().collect(),
        ..used.place()
    }
}

/// What commitments cost that nothing used.
pub(super) fn unused(measured: &Measured, used: &Used) -> Option<OtherCost> {
    (!used.unused.is_zero()).then(|| OtherCost {
        name: "Commitments that nothing used".to_owned(),
        amount: monthly(measured, used.unused),
        per: PerWhat::Month,
    })
}

/// Of an amount of the period what a month of 730 hours has.
fn monthly(measured: &Measured, amount: Decimal) -> Decimal {
    let days = measured.period.days();
    let hours = Decimal::from((days.end - days.start).num_hours());
    quotient(product(&[amount, HOURS_PER_MONTH.into()]), hours).unwrap_or_default().round(DIGITS).normalize()
}

/// The option's cost over the hours of the period, as the engine serves them, against what was paid. Each model has a
/// place of its own.
pub(super) fn reconciled(taken: &[&Used], places: &[Place]) -> Reconciled {
    let (mut ledger, mut option) = (Decimal::ZERO, Decimal::ZERO);
    for (used, place) in taken.iter().zip(places) {
        ledger += used.cost() + used.unused;
        // Else it is in the price of what is committed to.
        let unused = if place.others.is_empty() { Decimal::ZERO } else { used.unused };
        option += over_period(used, place) + unused;
    }
    let difference = (option - ledger).round(EXACT).normalize();
    Reconciled { ledger, option: ledger + difference, difference }
}

fn over_period(used: &Used, place: &Place) -> Decimal {
    let gpus = |it: &Committed| if let Gpus::Number(gpus) = it.gpus { gpus } else { 0 };
    let base: Vec<(u32, Decimal)> = place.committed.iter().map(|it| (gpus(it), it.rate.price)).collect();
    let spot = place.spot.as_ref().map(|it| product(&[it.rate.price, it.hours_for_one()]));
    Served::of(used, &base, spot, place.on_demand.as_ref().map(|it| it.price)).cost
}

/// The hours of the period as the engine serves them.
pub(super) struct Served {
    pub cost: Decimal,
    /// In thousandths of a GPU-hour.
    pub rest: u128,
}

impl Served {
    /// Above a base, in GPUs with their prices, by spot and the rest at theirs.
    pub fn of(used: &Used, base: &[(u32, Decimal)], spot: Option<Decimal>, rest: Option<Decimal>) -> Self {
        let profile = Profile::new(used.gpus(), used.spot_share());
        let hours = count_of(profile.hours().len());
        let always = |price: Decimal| vec![price; profile.hours().len().div_ceil(MONTH)];
        let overflow = Overflow {
            spot: spot.map(|price| (always(price), u64::MAX)),
            burst: rest.map(always).unwrap_or_default(),
        };
        let ladder = Ladder::new(profile.hours(), &overflow);
        let level = base.iter().map(|(gpus, _)| u64::from(*gpus)).sum::<u64>().saturating_mul(PARTS);
        let of_base: Decimal = base.iter().map(|(gpus, price)| product(&[count(*gpus), hours, *price])).sum();
        let months = 0..ladder.months();
        Self {
            rest: months.clone().map(|month| ladder.serve(month, level).burst).sum(),
            cost: of_base + overflow.cost(&ladder, months, level),
        }
    }
}
