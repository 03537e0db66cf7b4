//! What a US dollar is worth in the currency of a scenario.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::money::Decimal;

/// What shipped amounts are in.
pub const SHIPPED: &str = "USD";

/// What a US dollar is worth in the currency of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dollar {
    /// None: nobody said, or the scenario is in dollars.
    pub worth: Option<Decimal>,
    pub date: Option<NaiveDate>,
    pub source: String,
}

impl Dollar {
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}
