//! What a file becomes by a mapping, before anything is imported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::document::{self, Mapping};
use super::format::read_by;
use crate::accelerator::Catalog;
use crate::billing::{Charge, Export, Header, ReadAs, ReadSeek, Refusal, Rejection, Step, open_with_sink};
use crate::money::{Decimal, TooManyDigits};
use crate::period::BillingMonth;

/// Rows that are read, so that a page answers at once.
const MOST_ROWS: u64 = 20_000;
/// Words of the column of categories that are collected: a column of more has other texts.
const MOST_WORDS: usize = 200;
/// Charges and rejected rows that are shown.
const SHOWN: usize = 20;

/// What a file becomes.
#[derive(Default)]
pub struct Preview {
    pub rows: u64,
    /// Whether the file has more rows than were read.
    pub is_begun: bool,
    pub charges: u64,
    pub skipped: u64,
    pub rejected: u64,
    /// The first of them.
    pub first: Vec<PreviewedCharge>,
    pub rejections: Vec<Rejection>,
    /// By month and currency.
    pub months: BTreeMap<(BillingMonth, String), MonthOfPreview>,
    /// The words of the column of categories.
    pub words: BTreeSet<String>,
    pub notes: Vec<String>,
}

/// What a month sums to.
#[derive(Clone, Debug, Default)]
pub struct MonthOfPreview {
    pub charges: u64,
    pub billed_cost: Decimal,
    pub accelerator_hours: Decimal,
    /// By unit, the quantity of usage that lacks its cost: what that costs is not known before it is imported.
    pub without_cost: BTreeMap<String, Decimal>,
}

/// A charge, as a page shows it.
#[derive(Clone, Debug)]
pub struct PreviewedCharge {
    pub row: u64,
    pub charge: Charge,
    /// The model that it pays for, where one is recognized.
    pub accelerator: Option<&'static str>,
}

/// Reads a file by a mapping.
///
/// # Errors
/// Why it cannot be read by it.
pub fn preview(file: Box<dyn ReadSeek>, mapping: &Mapping, catalog: &Catalog) -> Result<Preview, Refusal> {
    let format = read_by(mapping.clone(), 0);
    let read_as = ReadAs::named(Some(format.name())).with_mappings(Arc::from([Arc::clone(&format)]));
    let mut export = open_with_sink("the file", file, &read_as, std::io::sink())?;
    let mut preview = Preview::default();
    let mut charge = Charge::default();
    let header = Header::new(export.columns().names.clone());
    let of_category = mapping.category.as_ref().and_then(|it| document::find(&header, &it.column));
    while let Some(step) = export.next(&mut charge)? {
        preview.add_word(&export, of_category);
        match step {
            Step::Skipped(_) => preview.skipped += 1,
            Step::Rejected(rejection) => {
                preview.rejected += 1;
                if preview.rejections.len() < SHOWN {
                    preview.rejections.push(rejection);
                }
            }
            Step::Charge => loop {
                let too_wide = |_: TooManyDigits| Refusal::new("sums of too many digits", "amounts of money");
                preview.add(export.row(), &charge, catalog).map_err(too_wide)?;
                if !export.further(&mut charge, |_| false)? {
                    break;
                }
            },
        }
        if export.row() >= MOST_ROWS {
            preview.is_begun = true;
            break;
        }
    }
    preview.rows = export.row();
    preview.notes.clone_from(&export.columns().notes);
    Ok(preview)
}

impl Preview {
    /// Whether usage of the file lacks its cost until a rate prices it.
    pub fn lacks_cost(&self) -> bool {
        self.months.values().any(|month| !month.without_cost.is_empty())
    }

    fn add_word(&mut self, export: &Export, column: Option<usize>) {
        let Some(column) = column.filter(|_| self.words.len() < MOST_WORDS) else { return };
        let cell = export.cell(column);
        let word = String::from_utf8_lossy(&cell);
        let word = word.trim();
        if !word.is_empty() && !self.words.contains(word) {
            self.words.insert(word.replace('\0', "\u{fffd}"));
        }
    }

    fn add(&mut self, row: u64, charge: &Charge, catalog: &Catalog) -> Result<(), TooManyDigits> {
        self.charges += 1;
        let found = catalog.recognize(&charge.key);
        let month = self.months.entry((charge.billing_month(), charge.key.currency.clone())).or_default();
        month.charges += 1;
        month.billed_cost = month.billed_cost.checked_add(charge.billed_cost)?;
        if charge.lacks_cost {
            let quantity = month.without_cost.entry(charge.key.unit.clone()).or_default();
            *quantity = quantity.checked_add(charge.consumed_quantity.unwrap_or_default())?;
        }
        if let (Some(found), Some(quantity), true) = (found, charge.consumed_quantity, charge.is_metered) {
            let seconds = quantity.times(found.per_unit.parts()).times(found.seconds_per_unit.into());
            let hours = crate::accelerator::accelerator_hours(seconds, 6);
            month.accelerator_hours = month.accelerator_hours.checked_add(hours)?;
        }
        if self.first.len() < SHOWN {
            let accelerator = found.map(|found| found.model.name);
            self.first.push(PreviewedCharge { row, charge: charge.clone(), accelerator });
        }
        Ok(())
    }
}
