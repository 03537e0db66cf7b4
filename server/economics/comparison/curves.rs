//! What charts of a comparison show: the cost of an hour by utilization, and where what is owned is repaid.
//!
//! An hour of work is one of the work's accelerator, so prices are those of a place × F ÷ q. Per use it costs the same
//! whatever the utilization u; committed at r it costs r ÷ u; owned it costs c(u).

use serde::Serialize;

use super::answer::{Comparison, LayerKind};
use super::entered::{Place, Scenario};
use crate::cancellation;
use crate::economics::break_even::{BreakEven, Verdict};
use crate::economics::cash::Payback;
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, one, product, quotient};

/// From 5 to 100 %, in steps of 5.
const STEPS: i64 = 20;

/// What an hour of work costs by utilization.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curves {
    pub curves: Vec<Curve>,
    pub crossings: Vec<Crossing>,
    /// Above it curves only go on rising: twice the highest price of full use.
    pub top: Decimal,
}

/// What is owned, or a price. Prices that several options have in common are one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// By its place in the list.
    pub option: usize,
    pub supplier: String,
    pub kind: LayerKind,
    /// Utilization, and what an hour costs.
    pub points: Vec<(Decimal, Decimal)>,
}

/// From where on one costs less than another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// Which becomes the cheaper, and than which, by their places among the curves.
    pub curve: usize,
    pub than: usize,
    pub utilization: Decimal,
    pub cost: Decimal,
}

/// When an option that owns has come down to what another paid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repaid {
    /// By their places in the list.
    pub option: usize,
    pub other: usize,
    pub months: Decimal,
    /// Whether it takes what is sold then.
    pub is_by_sale: bool,
    /// What both have paid then.
    pub paid: Decimal,
}

/// Curves of all options that are in one place.
pub fn curves(scenario: &Scenario, compared: &Comparison) -> Curves {
    let mut curves: Vec<Curve> = Vec::new();
    // By option, what it owns; and by option and kind, its price.
    let mut owned: Vec<Option<usize>> = vec![None; scenario.options.len()];
    let mut priced: Vec<Priced> = Vec::new();
    for (option, (entered, answer)) in scenario.options.iter().zip(&compared.options).enumerate() {
        cancellation::check();
        let ([place], [found]) = (&entered.places[..], &answer.places[..]) else { continue };
        let supplier = place.supplier.clone();
        if place.owned.is_some() {
            let Some(cost) = found.owning else { continue };
            let points = points(|u| Some(product(&[cost.per_productive_hour(u)?, worth(place)?])));
            if !points.is_empty() {
                owned[option] = Some(curves.len());
                curves.push(Curve { option, supplier, kind: LayerKind::Owned, points });
            }
            continue;
        }
        for (kind, price, _) in scenario.rates(place) {
            let of = |u| {
                let hour = product(&[price, worth(place)?]);
                if kind.is_paid_unused() { quotient(hour, u) } else { Some(hour) }
            };
            let curve = Curve { option, supplier: supplier.clone(), kind, points: points(of) };
            let is_same =
                |it: &Curve| (&it.supplier, it.kind, &it.points) == (&curve.supplier, kind, &curve.points);
            let at = curves.iter().position(is_same).unwrap_or_else(|| {
                curves.push(curve);
                curves.len() - 1
            });
            priced.push(Priced { option, kind, price, curve: at });
        }
    }
    let crossings = crossings(compared, &curves, &owned, &priced);
    let full = curves.iter().filter_map(|it| it.points.last()).map(|it| it.1).max();
    Curves { crossings, top: full.unwrap_or_default().times(2), curves }
}

/// A price of an option, and which curve it is.
struct Priced {
    option: usize,
    kind: LayerKind,
    price: Decimal,
    curve: usize,
}

fn crossings(
    compared: &Comparison,
    curves: &[Curve],
    owned: &[Option<usize>],
    priced: &[Priced],
) -> Vec<Crossing> {
    let mut found: Vec<Crossing> = Vec::new();
    let mut add = |crossing: Crossing| {
        if !found.iter().any(|it| (it.curve, it.than) == (crossing.curve, crossing.than)) {
            found.push(crossing);
        }
    };
    let flat = |at: usize| curves.get(at).and_then(|it| it.points.last()).map(|it| it.1);
    for against in &compared.break_evens {
        let BreakEven::PerUse { verdict: Verdict::At { utilization }, .. } = &against.break_even else {
            continue;
        };
        let is_it =
            |it: &&Priced| (it.option, it.kind, it.price) == (against.renting, against.kind, against.price);
        let (Some(curve), Some(than)) = (owned[against.owning], priced.iter().find(is_it)) else { continue };
        if let Some(cost) = flat(than.curve) {
            add(Crossing { curve, than: than.curve, utilization: *utilization, cost });
        }
    }
    // A commitment against the price per use of the same option.
    for it in priced.iter().filter(|it| it.kind.is_paid_unused()) {
        let used = priced.iter().filter(|other| other.option == it.option && !other.kind.is_paid_unused());
        for other in used {
            let utilization = quotient(it.price, other.price).filter(|it| *it < one());
            if let (Some(utilization), Some(cost)) = (utilization, flat(other.curve)) {
                add(Crossing { curve: it.curve, than: other.curve, utilization, cost });
            }
        }
    }
    found
}

fn points(cost: impl Fn(Decimal) -> Option<Decimal>) -> Vec<(Decimal, Decimal)> {
    let utilizations = (1..=STEPS).map(|step| decimal(5 * step, 2));
    utilizations.filter_map(|it| Some((it, cost(it)?))).collect()
}

/// F ÷ q: hours of a place for one of the work.
fn worth(place: &Place) -> Option<Decimal> {
    quotient(place.rework, place.performance)
}

/// Where what is owned is repaid, for a chart of what was paid by the month.
pub fn repaid(compared: &Comparison) -> Vec<Repaid> {
    let of_option = |(option, answer): (usize, &super::answer::OptionAnswer)| {
        let at = |&(other, payback): &(usize, Payback)| match payback {
            Payback::After { months } | Payback::WithSale { months } => {
                let is_by_sale = matches!(payback, Payback::WithSale { .. });
                Some(Repaid { option, other, months, is_by_sale, paid: answer.payments.paid_after(months) })
            }
            Payback::AtOnce | Payback::Never => None,
        };
        answer.paybacks.iter().filter_map(at).collect::<Vec<_>>()
    };
    compared.options.iter().enumerate().flat_map(of_option).collect()
}
