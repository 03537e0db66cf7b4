//! Which columns Fireworks' billing metrics have, and which of them may be missing.

use super::CACHED;
use crate::billing::header::{Columns, Header, absent, feeds_by, names_of, unknown};

/// Every column that is documented, and which one of FOCUS it becomes; nothing of those that become none.
const COLUMNS: &[(&str, &str)] = &[
    ("email", "BillingAccountId"),
    ("start_time", "ChargePeriodStart, BillingPeriodStart"),
    ("end_time", "ChargePeriodEnd"),
    ("usage_type", "SkuMeter, Tags"),
    ("accelerator_type", "SkuMeter, instance type"),
    ("accelerator_seconds", "ConsumedQuantity"),
    ("base_model_name", "SkuId, SkuMeter"),
    ("model_bucket", "Tags"),
    ("parameter_count", ""),
    ("prompt_tokens", "ConsumedQuantity"),
    ("completion_tokens", "ConsumedQuantity"),
    ("cached_prompt_tokens", "ConsumedQuantity"),
    ("uncached_prompt_tokens", ""),
];

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[&str] = &["model_bucket", "cached_prompt_tokens"];

pub(super) fn names() -> Vec<&'static str> {
    names_of(COLUMNS)
}

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let mut notes =
        vec!["without cost: tokens and GPU time have no cost until a rate card covers them".to_owned()];
    if !header.has(CACHED) {
        notes.push(
            "without cached_prompt_tokens: all input is priced as input that was not cached".to_owned(),
        );
    }
    Columns {
        unknown: unknown(header, COLUMNS),
        absent: absent(header, OPTIONAL),
        notes,
        ..Columns::default()
    }
}

/// Which column of FOCUS a column becomes. `key` as [`Header::find`] wants it.
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(COLUMNS.iter(), key)
}
