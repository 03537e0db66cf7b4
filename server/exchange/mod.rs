//! Exchange rates: one a month and pair of currencies, entered or read from a file, never guessed.
//!
//! A rate is a decimal number, so an amount times its rate is exact, and converted groups sum to their
//! converted total like all others. The rate that a pair lacks is derived from those it has (the inverse,
//! or by way of a third currency), rounded once, and shown as the rate that was used. Where a month has
//! none, nothing is converted and the page says what is missing. Setting rates is a version of the ledger: a
//! page asked as of an earlier sequence converts as it did then.

mod file;
mod rates;
mod set;

pub use file::{parse_rate, read};
pub use rates::{Rate, Rates, Used};
pub use set::{
    Change, Held, Missing, chosen_reporting_currency, is_known, missing, nearest, rates, remove,
    reporting_currency, reporting_currency_as_of, set, set_reporting_currency, table,
};
