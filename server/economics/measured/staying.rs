//! What is paid on whichever option is taken: machines of one's own, and commitments with what nothing used of them.
//!
//! It keeps the hours that it served. In whole GPUs, K = as many as there were in any hour, paid for in every hour at what they
//! came to: so they cost what was paid, and what of commitments is not used is what the ledger says. Where it is not, because
//! commitments began or ended within the period, no K says what they were: their hours cost what they came to, and what
//! nothing used stands beside them.

use serde::Serialize;

use super::layers::{self, Served, TERM, own_rate, owned_rate};
use super::{HowPaid, Measured, PLACES, Used, Way, base};
use crate::accelerator::accelerator_hours;
use crate::economics::comparison::{Gpus, Place, Rate};
use crate::economics::profile::in_gpus;
use crate::money::Decimal;
use crate::money::arithmetic::{ceiling, count, product, quotient, whole};

/// Of what commitments cost, how far what K leaves unused may be from what the ledger says: a hundredth.
const NEAR: i64 = 100;

/// What is paid on of a model, in one way.
#[derive(Clone, Debug, Serialize)]
pub struct PaidOn {
    pub name: String,
    pub paid: HowPaid,
    pub gpu_hours: Decimal,
    /// With what nothing used.
    pub cost: Decimal,
    pub unused: Decimal,
    /// Of commitments, the part of the model's hours that they covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Decimal>,
}

/// A model in what could run elsewhere, and what is paid on.
pub(super) struct Parts {
    pub moving: Option<Used>,
    pub staying: Option<Used>,
}

fn stays(way: &Way) -> bool {
    matches!(way.paid, HowPaid::Owned | HowPaid::Committed)
}

fn has_hours(ways: &[Way]) -> bool {
    ways.iter().any(|way| !way.part_seconds().is_zero())
}

/// Whether nothing of a model could run elsewhere.
pub(super) fn is_all(used: &Used) -> bool {
    used.ways.iter().filter(|way| !way.part_seconds().is_zero()).all(stays)
}

/// How many works it takes.
pub(super) fn works(used: &Used) -> usize {
    let parts = Parts::of(used);
    usize::from(parts.moving.is_some()) + usize::from(parts.staying.is_some())
}

impl Parts {
    pub fn of(used: &Used) -> Self {
        let (staying, moving): (Vec<Way>, Vec<Way>) = used.ways.iter().cloned().partition(stays);
        if !has_hours(&staying) {
            return Self::whole(used);
        }
        let has_moving = has_hours(&moving);
        // What is no time goes with what there is.
        let (staying, moving) =
            if has_moving { (staying, moving) } else { ([staying, moving].concat(), Vec::new()) };
        let moving = Used { ways: moving, unused: Decimal::ZERO, ..used.clone() };
        let staying = Used { name: format!("{}, paid on", used.name), ways: staying, ..used.clone() };
        Self { moving: has_moving.then_some(moving), staying: Some(staying) }
    }

    /// All of it could.
    pub fn whole(used: &Used) -> Self {
        Self { moving: Some(used.clone()), staying: None }
    }
}

/// What is paid on of models, machines first.
pub(super) fn paid_on(taken: &[&Used]) -> Vec<PaidOn> {
    let mut found = Vec::new();
    for paid in [HowPaid::Owned, HowPaid::Committed] {
        for used in taken {
            let ways = || used.ways.iter().filter(|way| way.paid == paid);
            let part_seconds: Decimal = ways().map(Way::part_seconds).sum();
            let unused = if paid == HowPaid::Committed { used.unused } else { Decimal::ZERO };
            let cost = ways().map(|way| way.cost).sum::<Decimal>() + unused;
            if part_seconds.is_zero() && cost.is_zero() {
                continue;
            }
            let coverage = quotient(part_seconds, used.part_seconds()).map(|it| it.round(PLACES).normalize());
            found.push(PaidOn {
                name: used.name.clone(),
                paid,
                gpu_hours: accelerator_hours(part_seconds, PLACES).normalize(),
                cost,
                unused,
                coverage: coverage.filter(|_| paid == HowPaid::Committed),
            });
        }
    }
    found
}

/// Where it runs, in every option. `otherwise` is for what of growth and rounding is above it all.
pub(super) fn place(measured: &Measured, used: &Used, otherwise: Option<Rate>, months: u32) -> Place {
    always(measured, used, otherwise.clone(), months)
        .unwrap_or_else(|| by_hour(measured, used, otherwise, months))
}

/// As many GPUs as there were at most, in every hour. `None` where that is not what was paid for.
fn always(measured: &Measured, used: &Used, otherwise: Option<Rate>, months: u32) -> Option<Place> {
    let ways = |paid: HowPaid| used.ways.iter().filter(move |way| way.paid == paid);
    let hours = used.ways.iter().map(|way| way.hours.len()).max()?;
    let length = count(u32::try_from(hours).ok()?);
    let at_most = |paid: HowPaid| {
        let in_hour =
            |hour: usize| ways(paid).filter_map(|way| way.hours.get(hour)).copied().sum::<Decimal>();
        let most = (0..hours).map(in_hour).max().unwrap_or_default();
        whole(ceiling(accelerator_hours(most, PLACES)))
    };
    let cost = |paid: HowPaid| ways(paid).map(|way| way.cost).sum::<Decimal>();
    let (owned, committed) = (at_most(HowPaid::Owned), at_most(HowPaid::Committed));
    // What is neither, such as a credit without time, has no place here.
    if ways(HowPaid::OnDemand).chain(ways(HowPaid::Spot)).any(|way| !way.cost.is_zero()) {
        return None;
    }
    let of_owned = cost(HowPaid::Owned);
    let mut of_committed = cost(HowPaid::Committed) + used.unused;
    if of_owned.is_negative() || of_committed.is_negative() || (owned == 0 && !of_owned.is_zero()) {
        return None;
    }
    if committed == 0 && !of_committed.is_zero() {
        return None;
    }
    if committed > 0 {
        let covered = ways(HowPaid::Committed).map(Way::part_seconds).sum();
        let covered = accelerator_hours(covered, PLACES);
        let paid = product(&[count(committed), length]);
        let unused = quotient(product(&[of_committed, paid - covered]), paid)?;
        if (unused - used.unused).abs().times(NEAR) > of_committed {
            return None;
        }
    }
    let price = |gpus: u32, cost: Decimal| {
        let per_hour = quotient(cost, product(&[count(gpus), length]))?;
        Some(per_hour.round(layers::DIGITS).normalize())
    };
    // What rounding leaves above all of them is in their cost already.
    let rest = Served::of(used, &[(owned + committed, Decimal::ZERO)], None, None).rest;
    if let Some(rate) = otherwise.as_ref().filter(|_| committed > 0) {
        of_committed -= product(&[in_gpus(rest), rate.price]);
    }
    let mut bases = Vec::new();
    if owned > 0 {
        let rate = owned_rate(measured, price(owned, of_owned)?);
        bases.push(base(rate, months.max(TERM + 1), Gpus::Number(owned)));
    }
    if committed > 0 {
        let rate = own_rate(measured, "under commitments, used or not", price(committed, of_committed)?);
        bases.push(base(rate, TERM, Gpus::Number(committed)));
    }
    // Machines that cost nothing are no price.
    if bases.iter().any(|it| it.rate.price <= Decimal::ZERO) {
        return None;
    }
    let supplier = used.suppliers(|_| true);
    Some(Place { supplier, committed: bases, on_demand: otherwise, ..used.place() })
}

/// What its hours came to, and beside it what nothing used.
fn by_hour(measured: &Measured, used: &Used, otherwise: Option<Rate>, months: u32) -> Place {
    let as_used = |way: &Way| match way.paid {
        HowPaid::Committed => Way { paid: HowPaid::OnDemand, ..way.clone() },
        _ => way.clone(),
    };
    let mapped = Used { ways: used.ways.iter().map(as_used).collect(), ..used.clone() };
    let mut place = layers::place(measured, &mapped, otherwise, months);
    if let Some(rate) = place.on_demand.as_mut().filter(|rate| !rate.price.is_zero()) {
        rate.source = format!("what is paid on, by its hours, {}", measured.when());
    }
    place
}
