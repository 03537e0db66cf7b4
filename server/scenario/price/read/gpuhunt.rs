//! gpuhunt's catalogues, a file for each provider: a row is what a machine costs an hour in a location, on demand or on
//! spot. Its columns are those of its `RawCatalogItem`; `provider` is there in files of several.

use super::model::recognize;
use super::{About, Machine, Quote, Row, Taken, gpus, supplier};
use crate::billing::canonical_provider;
use crate::money::Decimal;

pub(super) fn read(rows: &[Row<'_>], about: &About, taken: &mut Taken) -> Result<(), String> {
    let is_named = rows.iter().all(|row| !row.get("provider").is_empty());
    let named = if is_named { "" } else { supplier(about)? };
    for row in rows {
        let provider = row.get("provider");
        one(row, if provider.is_empty() { named } else { canonical_provider(provider) }, about, taken);
    }
    Ok(())
}

fn one(row: &Row<'_>, supplier: &str, about: &About, taken: &mut Taken) {
    let (sku, name, counted) = (row.get("instance_name"), row.get("gpu_name"), row.get("gpu_count"));
    let is_none = counted.trim_start_matches('0').trim_start_matches('.').trim_matches('0').is_empty();
    let memory = row.get("gpu_memory").parse::<Decimal>().ok().filter(|it| *it > Decimal::ZERO);
    if name.is_empty() {
        return taken.skip(row.number, "without accelerators");
    }
    let Some(known) = recognize(supplier, sku, name, memory) else {
        return taken.unknown(row.number, name);
    };
    let stated = if is_none { None } else { gpus(counted) };
    let gpus = match (known.instance.map(|it| it.accelerators), stated) {
        (Some(known), _) => known,
        (None, Some(counted)) => counted,
        (None, None) => return taken.reject(row.number, "gpu_count", counted, "a number above zero"),
    };
    let is_spot = match row.get("spot").to_ascii_lowercase().as_str() {
        "true" => true,
        "false" | "" => false,
        found => return taken.reject(row.number, "spot", found, "True or False"),
    };
    let machine = Machine { supplier, sku, region: row.get("location"), model: known.model.id, gpus };
    match taken.quote(row, "price") {
        None => {}
        Some(Quote::None) => taken.skip(row.number, "without a price"),
        Some(Quote::NotSold) => taken.skip(row.number, "0.0: not sold"),
        Some(Quote::Price(amount)) => {
            if let Some(price) = machine.price(amount, is_spot, about) {
                taken.price(row.number, price);
            }
        }
    }
}
