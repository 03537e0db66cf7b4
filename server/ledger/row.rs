//! A row of a kept file, read again as the import read it: its columns, and the keys of the charges it made.

use std::io::{self, Cursor, Read as _};
use std::sync::Arc;

use serde::Serialize;
use uuid::Uuid;

use crate::accelerator::Catalog;
use crate::billing::{self, Charge, PlainRows, ReadAs, Refusal, Step};

use super::key::Keyer;
use super::noise::NoisyTags;
use super::original::{Originals, Sha256};
use super::payer::Payer;

/// A row of a file.
#[derive(Clone, Debug)]
pub struct OriginalRow {
    pub columns: Vec<OriginalColumn>,
    /// The charges that it made.
    pub charges: Vec<ChargeOfRow>,
}

/// A charge that a row made.
#[derive(Clone, Debug)]
pub struct ChargeOfRow {
    /// Where it is found without looking at the others. It differs from the charge's own where keys were derived in another
    /// way when the file was loaded.
    pub key: Uuid,
    /// Why it pays for accelerators or does not, in a sentence.
    pub why: String,
    /// Whether it came without cost, so that rate cards price it.
    pub lacks_cost: bool,
}

impl OriginalRow {
    /// The names of the columns that the row leaves empty.
    pub fn empty(&self) -> Vec<&str> {
        let empty = self.columns.iter().filter(|column| column.value.is_empty());
        empty.map(|column| column.name.as_str()).collect()
    }
}

impl OriginalRow {
    /// The billing account as the file writes it.
    pub fn billing_accounts(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|it| it.feeds == Some("BillingAccountId")).map(|it| it.value.as_str())
    }

    /// Takes out who pays.
    pub fn hide(&mut self, payer: &Payer) {
        for column in self.columns.iter_mut().filter(|it| !it.value.is_empty()) {
            if column.is_of_payer() {
                NOT_SHOWN.clone_into(&mut column.value);
            } else if column.feeds != Some("SubAccountId") {
                column.value = payer.hide(&column.value);
            }
        }
    }
}

impl OriginalColumn {
    fn is_of_payer(&self) -> bool {
        let name: String = self.name.chars().filter(char::is_ascii_alphanumeric).collect();
        let name = name.to_ascii_lowercase();
        self.feeds == Some("BillingAccountId")
            || ["payer", "billingaccount", "billingprofile"].iter().any(|word| name.contains(word))
    }
}

/// Instead of what tells who pays.
const NOT_SHOWN: &str = "not shown to team leads";

/// A column as the file writes it.
#[derive(Clone, Debug, Serialize)]
pub struct OriginalColumn {
    /// Empty beyond the header.
    pub name: String,
    pub value: String,
    /// The column of FOCUS that it becomes; `None` where it is not read.
    pub feeds: Option<&'static str>,
}

/// Reads a row (1-based, the header not counted). Opens no more of the file than the thousand rows around it.
pub fn original_row(
    originals: &Originals,
    sha256: &Sha256,
    row: u64,
    read_as: &ReadAs,
    noisy_tags: Vec<String>,
    catalog: Arc<Catalog>,
) -> io::Result<OriginalRow> {
    let whole = originals.clone();
    let of = *sha256;
    let whole: billing::Reopen = Box::new(move || match whole.content(&of) {
        Ok(content) => billing::unpack(content),
        Err(error) => {
            Err(Refusal::new(format!("that the original cannot be read ({error})"), "all of it")
                .failed(&error))
        }
    });
    let mut magic = Vec::new();
    originals.content(sha256)?.take(billing::PARQUET.len() as u64).read_to_end(&mut magic)?;
    let mut charge = Charge::default();
    let mut export = if [billing::PARQUET, billing::WORKBOOK].contains(&magic.as_slice()) {
        billing::open_at("the original", originals.content(sha256)?, row, read_as).map_err(unreadable)?
    } else {
        let (rows, first) = originals.rows_around(sha256, row)?;
        let rows = Cursor::new(rows);
        let start = originals.content(sha256)?.take(billing::START);
        let export = billing::open_part("the original", start, rows, read_as, whole);
        let mut export = export.map_err(unreadable)?;
        for _ in first..row {
            export.next(&mut charge).map_err(unreadable)?;
        }
        export
    };
    let step = export.next(&mut charge).map_err(unreadable)?.ok_or_else(no_such_row)?;
    let mut keyer = Keyer::new(catalog, NoisyTags::default().with(noisy_tags));
    let mut charges = Vec::new();
    let mut is_charge = step == Step::Charge;
    while is_charge {
        let key = keyer.key(&charge).charge_key_id;
        let (why, lacks_cost) = (keyer.catalog().why(&charge.key), charge.lacks_cost);
        charges.push(ChargeOfRow { key, why, lacks_cost });
        is_charge = export.further(&mut charge, |_| false).map_err(unreadable)?;
    }
    let columns = export.original().into_iter().map(|(name, value)| OriginalColumn {
        feeds: export.format().feeds_by_name(&name),
        name,
        value,
    });
    Ok(OriginalRow { columns: columns.collect(), charges })
}

/// A walk over the rows of a kept file, field by field and uninterpreted.
pub struct RowsOf {
    rows: PlainRows,
    header: csv::ByteRecord,
}

impl RowsOf {
    pub fn open(originals: &Originals, sha256: &Sha256, read_as: &ReadAs) -> io::Result<Self> {
        let content = billing::unpack(originals.content(sha256)?).map_err(unreadable)?;
        let rows = PlainRows::open(content, |start| read_as.layout(start)).map_err(unreadable)?;
        let header = rows.names().iter().collect();
        Ok(Self { rows, header })
    }

    pub fn header(&self) -> &csv::ByteRecord {
        &self.header
    }

    /// A row further on (1-based, the header not counted).
    pub fn row(&mut self, row: u64) -> io::Result<csv::ByteRecord> {
        while self.rows.row() < row {
            if !self.rows.advance().map_err(unreadable)? {
                return Err(no_such_row());
            }
        }
        Ok(self.rows.fields().collect())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a function to map errors by")]
fn unreadable(refusal: Refusal) -> io::Error {
    io::Error::other(refusal.message())
}

fn no_such_row() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the file has no such row")
}
