//! Prices in words.

use crate::accelerator;
use crate::money::Decimal;
use crate::price_catalogue::{Mark, Price};
use crate::web::filters;

/// `H100, SXM5 80 GB`.
pub fn model(id: &str) -> String {
    accelerator::model(id).map_or_else(|| id.to_owned(), |it| format!("{}, {}", it.name, it.variant))
}

/// Two words for a badge, and a sentence.
pub fn mark(mark: &Mark, price: &Price) -> (&'static str, String) {
    match mark {
        Mark::Stale { days } => ("old", format!("read {days} days ago: check the price again")),
        Mark::FarAbove { median, times } => (
            "far above",
            format!(
                "{} times the median of {} prices of the same accelerator, {}: check that the price is per GPU-hour",
                filters::figure(*times, 1),
                price.tier.name(),
                filters::figure(*median, 2)
            ),
        ),
        Mark::Jump { before, date, share } => {
            ("changed", format!("{} than {} of {date}", more_or_less(*share), filters::figure(*before, 2)))
        }
    }
}

/// `12.5 % more`.
pub fn more_or_less(share: Decimal) -> String {
    let percent = filters::figure(share.abs().times(100), 1);
    format!("{percent} % {}", if share.is_negative() { "less" } else { "more" })
}

/// The word by which marks are filtered and written in files.
pub fn word(mark: &Mark) -> &'static str {
    match mark {
        Mark::Stale { .. } => "stale",
        Mark::FarAbove { .. } => "far-above",
        Mark::Jump { .. } => "changed",
    }
}
