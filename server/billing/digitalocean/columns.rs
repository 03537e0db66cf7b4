//! Which columns an invoice of DigitalOcean has, as CSV and as JSON, and which one holds its amounts.

use std::sync::LazyLock;

use crate::billing::Mandatory;
use crate::billing::header::{Columns, Header, absent, feeds_by, key_of, unknown};
use crate::money::Currency;

/// What JSON states its amounts in without saying so.
const UNSTATED: &str = "USD";

/// Columns that a line cannot do without, those of a CSV first.
pub(super) static MANDATORY: LazyLock<[Mandatory; 6]> = LazyLock::new(|| {
    [
        Mandatory { name: "product", keys: &["product"] },
        Mandatory { name: "description", keys: &["description"] },
        Mandatory { name: "hours or duration", keys: HOURS },
        Mandatory { name: "start or start_time", keys: START },
        Mandatory { name: "end or end_time", keys: END },
        Mandatory { name: "USD or amount", keys: amount_keys() },
    ]
});

pub(super) const HOURS: &[&str] = &["hours", "duration"];
pub(super) const START: &[&str] = &["start", "starttime"];
pub(super) const END: &[&str] = &["end", "endtime"];

/// The columns that amounts may be in: `amount`, or one that is named after its currency.
pub(super) fn amount_keys() -> &'static [&'static str] {
    static CODES: LazyLock<Vec<String>> =
        LazyLock::new(|| Currency::codes().map(str::to_ascii_lowercase).collect());
    static KEYS: LazyLock<Vec<&str>> =
        LazyLock::new(|| std::iter::once("amount").chain(CODES.iter().map(String::as_str)).collect());
    &KEYS
}

/// Where the amounts are, and what they are counted in.
pub(super) struct Amount {
    pub column: usize,
    pub currency: String,
}

/// `None` where several columns could be meant.
pub(super) fn amount(header: &Header) -> Option<Amount> {
    let mut found = amount_keys().iter().filter_map(|key| {
        let column = header.find(key)?;
        let currency = if *key == "amount" { UNSTATED.to_owned() } else { key.to_ascii_uppercase() };
        Some(Amount { column, currency })
    });
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let mut unknown = unknown(header, COLUMNS);
    unknown.retain(|name| feeds(&key_of(name).0).is_none());
    let mut columns = Columns { unknown, absent: absent(header, &["project_name"]), ..Columns::default() };
    if header.has("amount") {
        columns.notes.push(format!("no currency is stated: DigitalOcean bills in {UNSTATED}"));
    }
    columns.notes.push("without list prices: list and contracted cost are the billed cost".to_owned());
    columns
}

/// Which column of FOCUS a column becomes. `key` as of [`key_of`].
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    if amount_keys().contains(&key) {
        return Some("BilledCost, EffectiveCost, ListCost, ContractedCost, BillingCurrency");
    }
    feeds_by(COLUMNS.iter(), key)
}

/// Columns of JSON that are read, and may be met in later lines only.
pub(super) const NAMES: &[&str] =
    &["resource_uuid", "resource_id", "duration", "duration_unit", "project_name"];

/// Every column of either form beside the amounts, and which one of FOCUS it becomes; nothing of those that become none.
const COLUMNS: &[(&str, &str)] = &[
    ("product", "ServiceName, ServiceCategory, ChargeCategory"),
    ("resource_uuid", "ResourceId"),
    ("resource_id", "ResourceId"),
    ("group_description", ""),
    ("description", "ResourceId, SkuMeter, instance type"),
    ("hours", "ConsumedQuantity"),
    ("duration", "ConsumedQuantity"),
    ("duration_unit", "ConsumedUnit"),
    ("start", "ChargePeriodStart, BillingPeriodStart"),
    ("start_time", "ChargePeriodStart, BillingPeriodStart"),
    ("end", "ChargePeriodEnd"),
    ("end_time", "ChargePeriodEnd"),
    ("project_name", "SubAccountId"),
    ("category", ""),
];
