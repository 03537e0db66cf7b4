//! Energy by what units draw, the demand charge, and places by the contracted kW.

use super::super::entry::{Asset, Entry};
use super::units::Here;
use super::{InCurrency, fixed, term};
use crate::economics::owning::{Component, Part, Unit};
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_YEAR, count, product};

pub(super) fn components(here: &Here<'_>) -> Vec<InCurrency> {
    let mut components = Vec::new();
    if let Some((tariff, prices)) = here.tariff() {
        let currency = &tariff.price.currency;
        let mean = prices.mean();
        let drawing = here.assets.iter().filter(|(asset, _)| !asset.load_kw.is_zero());
        components
            .extend(drawing.map(|(asset, units)| (currency.clone(), energy(here, asset, *units, mean))));
        let charge = tariff.price.demand_per_kw_month;
        if !charge.is_zero() {
            components.push((currency.clone(), demand(here, charge)));
        }
    }
    components.extend(here.entries().filter_map(|entry| match entry {
        Entry::Colocation(it) if it.months.contains(here.month()) => {
            let terms = vec![
                term("price", it.price_per_kw, Unit::MoneyPerKwMonth),
                term("contracted power", it.contracted_kw, Unit::Kilowatts),
            ];
            let per_year = product(&[12.into(), it.price_per_kw, it.contracted_kw]);
            let formula = "12 × price × contracted power";
            Some((it.currency.clone(), fixed(Part::Colocation, &it.name, per_year, formula, terms)))
        }
        _ => None,
    }));
    components
}

/// kW of the site when every unit is at work.
pub(super) fn peak(here: &Here<'_>) -> Decimal {
    let machines: Decimal =
        here.assets.iter().map(|(asset, units)| product(&[count(*units), asset.load_kw])).sum();
    product(&[machines, here.pue()])
}

fn energy(here: &Here<'_>, asset: &Asset, units: u32, tariff: Decimal) -> Component {
    let available = here.shares.available();
    let busy = product(&[here.shares.utilization, available]);
    let more = asset.load_kw - asset.idle_kw;
    // What a kW that is drawn all year costs, of all units.
    let kw_year = product(&[count(units), here.pue(), HOURS_PER_YEAR.into(), tariff]);
    Component {
        part: Part::Energy,
        name: format!("Energy of {}", asset.name),
        per_year: product(&[asset.idle_kw + product(&[more, busy]), kw_year]),
        variable: product(&[more, available, kw_year]),
        formula: "units × (idle + (load − idle) × busy share of the year) × PUE × 8,760 × tariff",
        terms: vec![
            term("units", count(units), Unit::Number),
            term("idle", asset.idle_kw, Unit::Kilowatts),
            term("load", asset.load_kw, Unit::Kilowatts),
            term("busy share of the year", busy, Unit::Share),
            term("PUE", here.pue(), Unit::Number),
            term("tariff", tariff, Unit::MoneyPerKwh),
        ],
    }
}

fn demand(here: &Here<'_>, charge: Decimal) -> Component {
    let peak = peak(here);
    let terms = vec![term("charge", charge, Unit::MoneyPerKwMonth), term("peak", peak, Unit::Kilowatts)];
    let per_year = product(&[12.into(), charge, peak]);
    fixed(Part::DemandCharge, "Demand charge", per_year, "12 × charge × peak", terms)
}
