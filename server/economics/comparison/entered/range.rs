//! Between which values a number lies that is entered: as somebody stated it, with where that is from.
//!
//! Without it a number is drawn between what is usual for its kind ([`crate::economics::uncertainty`]). What is entered is
//! what is most likely: a claim's best case is the end of a range, never its middle.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::money::Decimal;

/// The ends of a range. One that is not entered is what is usual.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stated {
    pub low: Option<Decimal>,
    pub high: Option<Decimal>,
    /// Who states it.
    pub source: String,
}

/// By the number they are of, as it is reached from where they stand: `performance`, `on_demand.price`,
/// `committed.0.rate.price`.
pub type Ranges = BTreeMap<String, Stated>;
