//! What became of an import: the JSON of `gpuledger import --json`.

use serde::Serialize;

use crate::enum_words::words;
use crate::money::{Currency, Decimal, Money};

use super::group_files::Bundle;
use super::load;
use super::loaded::{Loaded, Source};
use super::original::Sha256;
use super::reading::Reading;
use super::scope::Scope;

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Status: as_str {
        Loaded = "loaded";
        /// The same bytes are active already.
        Duplicate = "duplicate";
        /// The file is not what it should be.
        Refused = "refused";
        /// The file may be good, the machine was not.
        Failed = "failed";
        /// Someone must say whether it replaces or adds.
        Waiting = "waiting";
        /// Someone cancelled it while it was loaded. Never on the command line.
        Cancelled = "cancelled";
    }
}

/// What became of one delivery: the JSON of `gpuledger import --json`.
#[derive(Debug, Serialize)]
pub struct Report {
    pub files: Vec<ReportFile>,
    pub format: Option<String>,
    pub delivery: Option<i64>,
    pub status: Status,
    pub scopes: Vec<ReportScope>,
    pub rows_read: u64,
    pub charges: u64,
    /// Of the charges, those beyond the first of a row; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub further_charges: u64,
    pub rejected: u64,
    pub skipped: u64,
    /// The first few; all of what was loaded are in the ledger.
    pub rejections: Vec<ReportRejection>,
    pub message: Option<String>,
    /// What a file of usage states, which is no cost; left out of what is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageOfFile>,
}

/// What a file says about who used accelerators.
#[derive(Debug, Serialize)]
pub struct UsageOfFile {
    pub import: i64,
    pub jobs: u64,
    /// Rows or series of a meter.
    pub samples: u64,
    /// Of its jobs, whether or not another file says the same.
    pub accelerator_hours: Decimal,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Serialize)]
pub struct ReportFile {
    pub file: String,
    pub sha256: Option<Sha256>,
}

#[derive(Debug, Serialize)]
pub struct ReportScope {
    #[serde(flatten)]
    pub scope: Scope,
    /// One amount per currency.
    pub billed_cost: Vec<Money>,
    pub effective_cost: Vec<Money>,
}

#[derive(Debug, Serialize)]
pub struct ReportRejection {
    pub file: String,
    pub row: u64,
    pub column: String,
    pub found: String,
    pub expected: String,
}

impl Report {
    /// A delivery that the database failed.
    pub fn failed(bundle: &Bundle, error: &sqlx::Error) -> Self {
        let sources = match bundle {
            Bundle::Files(sources) => sources.as_slice(),
            Bundle::Refused { manifest, .. } => std::slice::from_ref(manifest),
        };
        Self::ended(
            sources,
            Status::Failed,
            None,
            format!("nothing was imported: {}", load::of_database(error)),
        )
    }

    /// Files that came to nothing, and why.
    pub fn ended(sources: &[Source], status: Status, delivery: Option<i64>, message: String) -> Self {
        Self {
            files: sources
                .iter()
                .map(|source| ReportFile { file: source.name.clone(), sha256: None })
                .collect(),
            format: None,
            delivery,
            status,
            scopes: Vec::new(),
            rows_read: 0,
            charges: 0,
            further_charges: 0,
            rejected: 0,
            skipped: 0,
            rejections: Vec::new(),
            message: Some(message),
            usage: None,
        }
    }

    pub(super) fn loaded(delivery_id: i64, loaded: &Loaded) -> Self {
        let reading = &loaded.reading;
        let report = Self {
            files: loaded
                .files
                .iter()
                .map(|file| ReportFile { file: file.name.clone(), sha256: Some(file.sha256) })
                .collect(),
            format: Some(loaded.format.name().to_owned()),
            delivery: Some(delivery_id),
            status: Status::Loaded,
            scopes: reading
                .scopes
                .iter()
                .map(|(id, (scope, _))| ReportScope::new(*id, scope, loaded))
                .collect(),
            rows_read: 0,
            charges: 0,
            further_charges: 0,
            rejected: 0,
            skipped: 0,
            rejections: Vec::new(),
            message: (reading.rows_read == 0).then(|| "the file has a header and no rows".to_owned()),
            usage: None,
        };
        report.with_rows(reading)
    }

    /// The same with what its rows were.
    pub(super) fn with_rows(self, reading: &Reading) -> Self {
        let rejections = reading.rejected.first.iter().map(|(file_no, rejection)| ReportRejection {
            file: self.files.get(*file_no as usize).map(|file| file.file.clone()).unwrap_or_default(),
            row: rejection.row,
            column: rejection.column.clone(),
            found: rejection.found.clone(),
            expected: rejection.expected.clone(),
        });
        Self {
            rows_read: reading.rows_read,
            charges: reading.charges,
            further_charges: reading.further_charges,
            rejected: reading.rejected.count,
            skipped: reading.skips.values().sum(),
            rejections: rejections.collect(),
            ..self
        }
    }
}

impl ReportScope {
    fn new(scope_id: i64, scope: &Scope, loaded: &Loaded) -> Self {
        let totals = || loaded.reading.totals.iter().filter(|((of, _), _)| *of == scope_id);
        let money = |amount, currency: &Currency| Money { amount, currency: currency.clone() };
        Self {
            scope: scope.clone(),
            billed_cost: totals().map(|((_, c), sums)| money(sums.billed_cost, c)).collect(),
            effective_cost: totals().map(|((_, c), sums)| money(sums.effective_cost, c)).collect(),
        }
    }
}
