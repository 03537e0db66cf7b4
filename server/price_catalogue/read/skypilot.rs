//! SkyPilot's catalogues, `vms.csv` of a cloud: a row is an instance type in a region, with what it costs on demand and
//! on spot. Apache-2.0; columns as of version 5 to 9.
//!
//! Google's rows are of two kinds: hosts, whose price is without accelerators, and accelerators without an instance type.
//! A host whose type fixes its accelerators is priced with the row of these; others are skipped.

use std::collections::BTreeMap;

use super::model::{memory_of, recognize};
use super::{About, GOOGLE, Machine, Quote, Row, Taken, gpus, supplier};
use crate::money::Decimal;

/// Families of Google whose price here is that of the host.
const HOSTS: &[&str] = &["a2-", "a3-", "a4-"];

pub(super) fn read(rows: &[Row<'_>], about: &About, taken: &mut Taken) -> Result<(), String> {
    let supplier = supplier(about)?;
    let beside = if supplier == GOOGLE { accelerators_alone(rows) } else { BTreeMap::new() };
    for row in rows {
        one(row, &supplier, &beside, about, taken);
    }
    Ok(())
}

/// Rows of accelerators alone: by model, count, region and zone, what they cost on demand and on spot.
type Beside<'a> = BTreeMap<(&'static str, i64, &'a str, &'a str), [Option<Decimal>; 2]>;

fn accelerators_alone<'a>(rows: &[Row<'a>]) -> Beside<'a> {
    let amount = |text: &str| text.parse::<Decimal>().ok().filter(|it| *it > Decimal::ZERO);
    let mut found = BTreeMap::new();
    for row in rows.iter().filter(|row| row.get("instancetype").is_empty()) {
        let memory = memory_of(row.get("gpuinfo"));
        let model = recognize(GOOGLE, "", row.get("acceleratorname"), memory);
        let (Some(model), Some(count)) = (model, gpus(row.get("acceleratorcount"))) else { continue };
        let prices = [amount(row.get("price")), amount(row.get("spotprice"))];
        let place = (row.get("region"), row.get("availabilityzone"));
        found.entry((model.model.id, count.parts(), place.0, place.1)).or_insert(prices);
    }
    found
}

fn one(row: &Row<'_>, supplier: &str, beside: &Beside<'_>, about: &About, taken: &mut Taken) {
    let (sku, name) = (row.get("instancetype"), row.get("acceleratorname"));
    let is_host = supplier == GOOGLE && HOSTS.iter().any(|family| sku.starts_with(family));
    if name.is_empty() && !is_host {
        return taken.skip(row.number, "without accelerators");
    }
    if sku.is_empty() {
        return taken.skip(row.number, "an accelerator alone: its host is a row of its own");
    }
    let info = row.get("gpuinfo");
    let Some(known) = recognize(supplier, sku, name, memory_of(info)) else {
        return taken.unknown(row.number, name);
    };
    let counted = row.get("acceleratorcount");
    let gpus = match known.count(counted, info) {
        Ok(gpus) => gpus,
        Err(expected) => {
            let expected =
                expected.unwrap_or("a number above zero, or GpuPartitionSize in GpuInfo".to_owned());
            return taken.reject(row.number, "AcceleratorCount", counted, expected);
        }
    };
    let Some((on_demand, spot)) = taken.quote(row, "price").zip(taken.quote(row, "spotprice")) else {
        return;
    };
    let machine = Machine { supplier, sku, region: row.get("region"), model: known.model.id, gpus };
    let with = if is_host {
        let key = (known.model.id, gpus.parts(), row.get("region"), row.get("availabilityzone"));
        let Some(with) = beside.get(&key) else {
            let reason = "the price of a host alone, without a row of its accelerators";
            return taken.skip(row.number, reason);
        };
        *with
    } else {
        [Some(Decimal::ZERO); 2]
    };
    if matches!(on_demand, Quote::None) && matches!(spot, Quote::None) {
        return taken.skip(row.number, "without a price");
    }
    let amounts = [amount(&on_demand, with[0]), amount(&spot, with[1])];
    let has_no_other = |quote: &Quote, at: usize| matches!(quote, Quote::Price(_)) && with[at].is_none();
    if has_no_other(&on_demand, 0) || has_no_other(&spot, 1) {
        taken.skip(row.number, "the price of a host alone: the row of its accelerators has none");
    }
    if matches!(on_demand, Quote::NotSold) || matches!(spot, Quote::NotSold) {
        taken.skip(row.number, "0.0: not sold");
    }
    for (amount, is_spot) in [(amounts[0], false), (amounts[1], true)] {
        let price = amount.and_then(|it| machine.price(it, is_spot, about));
        if let Some(price) = price {
            taken.price(row.number, price);
        }
    }
}

fn amount(quote: &Quote, with: Option<Decimal>) -> Option<Decimal> {
    match quote {
        Quote::Price(amount) => with.map(|with| *amount + with),
        Quote::None | Quote::NotSold => None,
    }
}
