//! What a file of prices had besides those that change the list.

use serde::{Deserialize, Serialize};

use crate::entered_csv::RefusedRow;
use crate::price_catalogue::read::{Format, Skipped};

/// What a file had besides prices that change something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub format: Option<Format>,
    pub rows: usize,
    /// Prices that were in the list already.
    pub known: usize,
    pub skipped: Vec<Skipped>,
    /// The first of them.
    pub rejected: Vec<RefusedRow>,
    pub rejected_count: usize,
}
