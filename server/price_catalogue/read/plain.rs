//! Our own list: the columns of the page's CSV, of which accelerator, supplier, tier and price are needed.

use chrono::NaiveDate;

use super::{About, DOLLARS, Quote, Row, Taken, gpus, paid};
use crate::accelerator::{find_model, model};
use crate::billing::canonical_provider;
use crate::money::Currency;
use crate::price_catalogue::{Price, Tier};

pub(super) fn read(rows: &[Row<'_>], about: &About, taken: &mut Taken) {
    for row in rows {
        if let Some(price) = one(row, about, taken) {
            taken.price(row.number, price);
        }
    }
}

fn one(row: &Row<'_>, about: &About, taken: &mut Taken) -> Option<Price> {
    let mut refuse = |column: &str, expected: &str| -> Option<Price> {
        taken.reject(row.number, column, row.get(column), expected);
        None
    };
    let named = row.get("accelerator");
    let Some(accelerator) = model(named).or_else(|| find_model(named)).filter(|it| it.id != "unknown") else {
        return refuse("accelerator", "a model of the catalog, as nvidia-h100-sxm");
    };
    let named = row.get("supplier");
    let supplier = if named.is_empty() { about.supplier.as_deref().unwrap_or_default() } else { named };
    let supplier = canonical_provider(supplier);
    if supplier.is_empty() {
        return refuse("supplier", "the name of whoever sells it");
    }
    let Some(tier) = Tier::parse(row.get("tier")) else {
        return refuse("tier", "on-demand, 1-year, 3-years, block, spot or marketplace");
    };
    let Some(paid) = paid(tier, row.get("paid")) else {
        let expected = "nothing, or how this tier is paid: per-use, committed, spend-commitment, prepaid-block or market";
        return refuse("paid", expected);
    };
    let currency = match row.get("currency") {
        "" => Currency::exactly(DOLLARS),
        // What is no currency of any country has no rate of exchange, and no other price beside it.
        text => match Currency::parse(text).filter(|_| text.len() == 3) {
            Some(currency) => currency,
            None => return refuse("currency", "a currency of three letters, such as USD"),
        },
    };
    let gpus = match row.get("gpus") {
        "" => None,
        text => match gpus(text) {
            Some(gpus) => Some(gpus),
            None => return refuse("gpus", "a number above zero, or a part of one as 1/8"),
        },
    };
    let term_months = match whole(row.get("term_months"), 120) {
        Ok(months) => months.or(tier.months()),
        Err(()) => return refuse("term_months", "1 to 120, or nothing"),
    };
    let Ok(increment_seconds) = whole(row.get("increment_seconds"), 31_536_000) else {
        return refuse("increment_seconds", "seconds of a year at most, or nothing");
    };
    let date = match row.get("date") {
        "" => about.date,
        text => match text.parse::<NaiveDate>() {
            Ok(date) if date <= about.today => date,
            Ok(_) => return refuse("date", "a day that is over, or today"),
            Err(_) => return refuse("date", "a date such as 2026-09-30"),
        },
    };
    let amount = match taken.quote(row, "price")? {
        Quote::Price(amount) => amount,
        Quote::NotSold => {
            taken.skip(row.number, "0.0: not sold");
            return None;
        }
        Quote::None => {
            taken.reject(row.number, "price", "", "what an hour of one accelerator costs");
            return None;
        }
    };
    let source = match row.get("source") {
        "" => about.source.as_str(),
        text => text,
    };
    Some(Price {
        accelerator: accelerator.id.to_owned(),
        supplier: supplier.into_owned(),
        tier,
        paid,
        amount: amount.normalize(),
        currency,
        gpus,
        sku: row.get("sku").to_owned(),
        region: row.get("region").to_owned(),
        term_months,
        increment_seconds,
        date,
        source: source.to_owned(),
    })
}

/// A whole number from 1, or nothing.
fn whole(text: &str, most: u32) -> Result<Option<u32>, ()> {
    match text {
        "" => Ok(None),
        text => text.parse().ok().filter(|it| (1..=most).contains(it)).map(Some).ok_or(()),
    }
}
