//! What reading hands out: blocks ready for `COPY`, sums, and why it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use chrono::NaiveDate;
use serde_json::Value;
use uuid::Uuid;

use crate::billing::{Identity, Refusal, Rejection, ScopeOf};
use crate::money::Currency;
use crate::period::BillingMonth;
use crate::store::CopyRows;

use super::correction::Mark;
use super::duplicate_rows::Known;
use super::rejected::Rejected;
use super::rollup::{Part, Sums};
use super::scope::{Coverage, Scope};
use super::totals;

pub const CHARGE_COLUMNS: &str = "billing_month, charge_key_id, delivery_id, scope_id, row_no, file_no, is_metered, \
     charge_period_start, charge_period_end, billed_cost, effective_cost, list_cost, contracted_cost, \
     consumed_quantity, resource_id, tag_set_id";

/// What reading produces for the database.
pub enum Block {
    Charges {
        month: BillingMonth,
        rows: CopyRows,
    },
    /// No charges follow.
    ChargesEnd,
    Rollup(Part),
    Keys(CopyRows),
    UsageWithoutCost(CopyRows),
    Identities {
        part: i32,
        identities: Vec<Identity>,
    },
    TagSets(Vec<(Uuid, Value)>),
    Rejections {
        file_no: i16,
        rejections: Vec<Rejection>,
    },
    /// Rows, and the rejected rows for which they stand.
    Corrected {
        file_no: i16,
        rows: Vec<(u64, Mark)>,
    },
}

/// Where blocks go and scopes come from.
pub trait Sink {
    /// Errors mean that nobody listens any more; reading stops.
    fn send(&mut self, block: Block) -> Result<(), Stopped>;
    fn scope_id(&mut self, scope: &Scope, of: ScopeOf) -> Result<i64, Stopped>;
    /// Whether charges go to a table with an index: then they are wanted in the order of their keys.
    fn has_index(&self) -> bool;
}

/// The writing half has stopped; its own error says why.
#[derive(Debug)]
pub struct Stopped;

/// Why reading ended early.
#[derive(Debug)]
pub enum ReadError {
    Refused(Refusal),
    Stopped,
    /// Someone wished it.
    Cancelled,
    /// Rows are there twice: read again from the beginning, with what is known of them now.
    Again(Known),
    Disk(io::Error),
    /// More rows were rejected than anybody corrects.
    Rejected(Box<Reading>),
}

/// What the files of a delivery stated, row by row: read + further charges = charges + rejected + skipped.
#[derive(Debug, Default)]
pub struct Reading {
    pub rows_read: u64,
    pub charges: u64,
    /// Of the charges, those beyond the first of a row.
    pub further_charges: u64,
    /// Whether rows stand twice in its files, of which the first counts.
    pub has_rows_twice: bool,
    pub rejected: Rejected,
    pub skips: BTreeMap<String, u64>,
    pub totals: BTreeMap<totals::Place, Sums>,
    /// Of these, what rows are billed that correct an earlier row, which counts as well.
    pub corrections: BTreeMap<Currency, Sums>,
    pub scopes: BTreeMap<i64, (Scope, Coverage)>,
    pub rows_by_file: Vec<u64>,
    /// Of each file, the last day that a charge of a day or less is of.
    pub last_days: Vec<Option<NaiveDate>>,
    /// Tags that were kept out of the key.
    pub noisy_tags: BTreeSet<String>,
    /// Whether what resources cost was summed, too.
    pub has_resources: bool,
    /// Of the catalog that recognized the accelerators.
    pub catalog_version: u32,
    /// Of the rate cards that priced what arrived without cost, where something did.
    pub rates_version: Option<i64>,
}
