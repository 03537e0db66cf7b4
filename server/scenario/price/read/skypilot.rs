//! SkyPilot's catalogues, `vms.csv` of a cloud: a row is an instance type in a region, with what it costs on demand and
//! on spot. Apache-2.0; columns as of version 5 to 9.
//!
//! Google's rows are of two kinds: hosts, whose price is without accelerators, and accelerators without an instance type.
//! A host whose type fixes its accelerators is priced with the row of these; others are skipped.

use std::collections::BTreeMap;

use super::model::{memory_of, partition_of, recognize};
use super::{About, Machine, Quote, Row, Taken, gpus, supplier};
use crate::accelerator::Accelerators;
use crate::money::Decimal;

const GOOGLE: &str = "Google Cloud";
/// Machines that Google lists a price on demand for, and sells as spot and flex-start alone.
const SPOT_ALONE: &[&str] = &["a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g"];
/// Families of Google whose price here is that of the host.
const HOSTS: &[&str] = &["a2-", "a3-", "a4-"];

pub(super) fn read(rows: &[Row<'_>], about: &About, taken: &mut Taken) -> Result<(), String> {
    let supplier = supplier(about)?;
    let beside = if supplier == GOOGLE { accelerators_alone(rows) } else { BTreeMap::new() };
    for row in rows {
        one(row, supplier, &beside, about, taken);
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
    let Some(gpus) = count(counted, known.instance.map(|it| it.accelerators), info) else {
        let expected = match known.instance {
            Some(instance) => format!("{}, as many as {sku} has", instance.accelerators),
            None => "a number above zero, or GpuPartitionSize in GpuInfo".to_owned(),
        };
        return taken.reject(row.number, "AcceleratorCount", counted, expected);
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
    let is_sold = !(supplier == GOOGLE && SPOT_ALONE.contains(&sku));
    if matches!(on_demand, Quote::NotSold) || matches!(spot, Quote::NotSold) {
        taken.skip(row.number, "0.0: not sold");
    }
    if let Some(amount) = amounts[0] {
        if is_sold {
            put(&machine, amount, false, row, about, taken);
        } else {
            taken.skip(row.number, "a price on demand of what is sold as spot alone");
        }
    }
    if let Some(spot) = amounts[1] {
        if amounts[0].is_some_and(|on_demand| spot >= on_demand) {
            taken.skip(row.number, "a price of spot that is not below on demand: no quote");
        } else {
            put(&machine, spot, true, row, about, taken);
        }
    }
}

fn amount(quote: &Quote, with: Option<Decimal>) -> Option<Decimal> {
    match quote {
        Quote::Price(amount) => with.map(|with| *amount + with),
        Quote::None | Quote::NotSold => None,
    }
}

fn put(
    machine: &Machine<'_>,
    amount: Decimal,
    is_spot: bool,
    row: &Row<'_>,
    about: &About,
    taken: &mut Taken,
) {
    if let Some(price) = machine.price(amount, is_spot, about) {
        taken.price(row.number, price);
    }
}

/// How many accelerators a machine has. One that the catalog of accelerators knows has as many as that says: lists count
/// a part of one as 0, or as 1.
fn count(text: &str, known: Option<Accelerators>, info: &str) -> Option<Accelerators> {
    let counted = gpus(text);
    match (known, counted) {
        (Some(known), None) => Some(known),
        (Some(known), Some(counted)) => {
            let is_part = known.parts() < Accelerators::ONE.parts();
            let is_one_or_less = counted.parts() <= Accelerators::ONE.parts();
            (known == counted || (is_part && is_one_or_less)).then_some(known)
        }
        (None, None) => partition_of(info),
        (None, Some(counted)) => Some(counted),
    }
}
