//! gpuhunt's catalogues, a file for each provider: a row is what a machine costs an hour in a location, on demand or on
//! spot. Its columns are those of its `RawCatalogItem`; `provider` is there in files of several.

use super::model::recognize;
use super::{About, Machine, Quote, Row, Taken, supplier};
use crate::billing::canonical_provider;
use crate::money::Decimal;

pub(super) fn read(rows: &[Row<'_>], about: &About, taken: &mut Taken) -> Result<(), String> {
    let is_named = rows.iter().all(|row| !row.get("provider").is_empty());
    let named = if is_named { String::new() } else { supplier(about)? };
    for row in rows {
        let provider = row.get("provider");
        let supplier = if provider.is_empty() { named.as_str().into() } else { canonical_provider(provider) };
        one(row, &supplier, about, taken);
    }
    Ok(())
}

fn one(row: &Row<'_>, supplier: &str, about: &About, taken: &mut Taken) {
    let (sku, name, counted) = (row.get("instance_name"), row.get("gpu_name"), row.get("gpu_count"));
    let memory = row.get("gpu_memory").parse::<Decimal>().ok().filter(|it| *it > Decimal::ZERO);
    if name.is_empty() {
        return taken.skip(row.number, "without accelerators");
    }
    let Some(known) = recognize(supplier, sku, name, memory) else {
        return taken.unknown(row.number, name);
    };
    let gpus = match known.count(counted, "") {
        Ok(gpus) => gpus,
        Err(expected) => {
            let expected = expected.unwrap_or("a number above zero".to_owned());
            return taken.reject(row.number, "gpu_count", counted, expected);
        }
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
