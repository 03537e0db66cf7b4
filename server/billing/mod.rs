//! Billing exports: bytes to charges. Pure: no database, no clock, no files of its own.
//!
//! [`open`] recognizes what a stream of bytes is, by its header and never by its name, and answers an
//! [`Export`]: a walk over its rows, each of which becomes a [`Charge`], a [`Rejection`] or is skipped
//! for a stated reason. A file that is no cost at all is a [`Refusal`].
//! Adding a format is one file that implements [`Format`] and one line in [`FORMATS`].

mod account_id;
mod aws;
mod aws_cur;
mod aws_cur_2;
mod azure;
mod billing_period;
mod charge;
mod computed;
mod container;
mod crusoe;
mod currency;
mod date_order;
mod digitalocean;
mod export;
mod fireworks;
mod focus;
pub mod formula_guard;
mod google;
mod guide;
mod header;
mod hyperstack;
mod instance_type;
mod json;
mod machine_cell;
mod manifest;
pub mod mapping;
mod modal;
mod oracle;
mod provider_name;
mod raw_lines;
mod read_as;
mod recognize;
mod refusal;
mod refused_files;
mod reread;
mod row;
mod rows;
mod runpod;
mod spelling;
mod statement;
mod unreadable;
mod value;
mod vast;

use std::sync::{Arc, LazyLock};

pub use account_id::{canonical_account, canonical_sub_account, without_profile};

pub use charge::{Charge, ChargeCategory, ChargeKey, PricingCategory, ScopeOf, Tags};
pub use computed::{BilledDay, ComputedBill, ComputedCharge, ComputedFile, Costs, usage_tags};
pub use container::{Content, PARQUET, WORKBOOK, unpack};
pub use export::{
    Export, HEADER_REPEATED, Identity, Learned, Reopen, Step, open, open_at, open_part, open_with_sink,
};
pub use guide::{ANY_OTHER, Guide};
pub use header::{Columns, Header};
pub use manifest::{MAX_MANIFEST, Manifest, missing_columns};
pub use provider_name::canonical_provider;
pub use raw_lines::PlainRows;
pub use read_as::ReadAs;
pub use refusal::{Refusal, RefusalKind, Rejection, Remark};
pub use row::{Outcome, ReadRow, Row};
pub use rows::{Layout, MAX_RECORD, ReadSeek, START, Start, Workbook};
pub use spelling::{normalized, normalized_key};
pub use statement::Statement;

/// Every export format that is read, the more particular first, and then mappings that are built in.
pub static FORMATS: LazyLock<Vec<Arc<dyn Format>>> = LazyLock::new(|| {
    let mut formats: Vec<Arc<dyn Format>> = vec![
        Arc::new(aws_cur_2::AwsCur2),
        Arc::new(aws_cur::AwsCur),
        Arc::new(google::GoogleBilling),
        Arc::new(azure::AzureUsage),
        Arc::new(oracle::OciCost),
        Arc::new(vast::VastCharges),
        Arc::new(modal::ModalBilling),
        Arc::new(digitalocean::DigitalOceanInvoice),
        Arc::new(crusoe::CrusoeBilling),
        Arc::new(runpod::RunPodBilling),
        Arc::new(hyperstack::HyperstackCosts),
        Arc::new(fireworks::FireworksMetrics),
        Arc::new(computed::Computed(ComputedBill::Adjustments)),
        Arc::new(computed::Computed(ComputedBill::Usage)),
        Arc::new(focus::Focus),
        Arc::new(focus::FocusUsage),
    ];
    formats.extend(mapping::shipped_formats());
    formats
});

/// One kind of billing export.
pub trait Format: Send + Sync {
    /// What people type after `--as` and what the ledger stores: `aws-cur`.
    fn name(&self) -> &str;

    /// What people read: `AWS Cost and Usage Report`.
    fn label(&self) -> &str;

    /// The exports of providers that are read by it.
    fn guides(&self) -> &'static [Guide];

    /// The columns without which no charge can be made; each with its other spellings.
    fn mandatory(&self) -> &'static [Mandatory];

    /// True for a header that holds the mandatory columns and is this format rather than a cousin.
    fn recognizes(&self, header: &Header) -> bool {
        self.mandatory().iter().all(|column| column.is_in(header))
    }

    /// How the rows of a text stand in it.
    fn layout(&self) -> Layout {
        Layout::default()
    }

    /// The sheet of a workbook that has its rows, where one is named.
    fn sheet(&self) -> Option<&str> {
        None
    }

    /// What this product computes from other bills: it is read where it is named, and nobody imports it.
    fn computed(&self) -> Option<ComputedBill> {
        None
    }

    /// Whether it reads files as people said.
    fn is_mapping(&self) -> bool {
        false
    }

    /// Whether a header that it recognizes is complete.
    ///
    /// # Errors
    /// What it lacks.
    fn check(&self, _header: &Header) -> Result<(), String> {
        Ok(())
    }

    /// Whether the columns are named in its manner: what lacks one of its mandatory columns is called by this name.
    fn has_its_columns(&self, _header: &Header) -> bool {
        true
    }

    /// The columns that hold a map in one cell, whose names are data: of these an object of nested records stays whole. As
    /// [`Header::find`] wants them, with the path in place of the name.
    fn maps(&self) -> &'static [&'static str] {
        &[]
    }

    /// The member that holds the rows, where its JSON is one object: an answer of an API. Behind `*.`, that of any of its members.
    fn list(&self) -> Option<&'static str> {
        None
    }

    /// The columns that it reads, by their names: those of nested records may be met in later rows only.
    fn names(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The columns whose amounts add up to what a row is billed, each as [`Header::find_any`] wants it. For whoever checks the
    /// reader: in a cell that is a list, each `amount` counts.
    fn billed_columns(&self) -> Vec<Vec<&str>>;

    /// The columns whose cells count once where a workbook merges them over several rows, whatever they hold.
    fn counted_once(&self, header: &Header) -> Vec<usize> {
        let billed = self.billed_columns().into_iter().flatten();
        billed.filter_map(|name| header.find(&header::key_of(name).0)).collect()
    }

    /// Whether a comma stands before decimals in the columns of what is billed.
    fn has_decimal_commas(&self) -> bool {
        false
    }

    /// Whether a file may state what was billed of a month or what is effective, and another one the rest
    /// ([`Export::statement`]).
    fn states_halves(&self) -> bool {
        false
    }

    /// How deliveries of files with this header add up.
    fn accumulation(&self, _header: &Header) -> Accumulation {
        Accumulation::WholePeriod
    }

    /// Which columns it does not know and which optional ones are not there.
    fn columns(&self, header: &Header) -> Columns;

    /// The column of FOCUS that a column becomes, for people who look at a row. `key` is its name in letters and
    /// digits alone, as [`Header::find`] wants it.
    fn feeds(&self, key: &str) -> Option<&'static str>;

    /// The same of a column as a file writes it.
    fn feeds_by_name(&self, name: &str) -> Option<&'static str> {
        self.feeds(&header::key_of(name).0)
    }

    /// Resolves the columns once and answers what turns rows into charges.
    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send>;
}

/// A column that a format cannot do without: its name and, as [`Header::find_any`] wants them, the keys
/// under which it is accepted.
#[derive(Debug)]
pub struct Mandatory {
    pub name: &'static str,
    pub keys: &'static [&'static str],
}

impl Mandatory {
    fn is_in(&self, header: &Header) -> bool {
        header.find_any(self.keys).is_some()
    }

    /// Where the last of them stands in a file.
    fn last(columns: &[Self], header: &Header) -> usize {
        columns.iter().filter_map(|column| header.find_any(column.keys)).max().unwrap_or(0)
    }
}

/// What a delivery states about its billing period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulation {
    /// All of it: a later delivery of the same scope replaces this one.
    WholePeriod,
    /// A part, named after the file: it adds to the others and is replaced only by the same slice.
    Slice,
    /// All of it of one kind of usage, of which there are several exports: a slice of this name.
    Kind(&'static str),
}

/// Whether a row was skipped because its amount is no cost: a payment, a total of other rows.
pub fn is_no_cost(reason: &str) -> bool {
    reason == vast::PAYMENT || mapping::is_left_out(reason)
}

/// For the lists of unknown and missing columns: names, at most `most` of them, and of each as much as one reads.
fn listed<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> String {
    const LONGEST: usize = 80;
    let names: Vec<&str> = names.collect();
    let short = |name: &&str| name.chars().take(LONGEST).collect::<String>();
    let shown = names.iter().take(most).map(short).collect::<Vec<_>>().join(", ");
    if names.len() > most { format!("{shown} and {} more", names.len() - most) } else { shown }
}
