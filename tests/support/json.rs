//! Figures of answers in JSON.

use gpuledger::money::Decimal;
use serde_json::Value;

/// A number, which is a text: `"12.5"`.
pub fn decimal(value: &Value) -> Decimal {
    value.as_str().unwrap_or_else(|| panic!("{value} is no number")).parse().unwrap()
}

/// What an amount of money says beside its currency.
pub fn amount(money: &Value) -> Decimal {
    decimal(&money["amount"])
}

/// What groups cost together.
pub fn sum(groups: &Value) -> Decimal {
    groups.as_array().unwrap().iter().map(|group| amount(&group["cost"])).sum()
}
