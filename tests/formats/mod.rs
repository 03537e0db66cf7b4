//! Billing exports: golden fixtures, other people's files, and anything at all.

use std::fs::File;
use std::io::Cursor;
use std::path::Path;

use gpuledger::billing::{self, Charge, Export, Refusal, Rejection, Statement, Step};
use gpuledger::money::Decimal;

mod anything;
mod azure;
mod bad_input;
mod crusoe;
mod damaged;
mod damaged_parquet;
mod digitalocean;
mod fireworks;
mod focus_publishers;
mod focus_usage;
mod golden;
mod google;
mod hostile;
mod hyperstack;
mod mapped;
mod modal;
mod nebius;
mod oracle;
mod other_peoples_files;
mod row_sources;
mod runpod;
mod scope_and_time;
mod shipped_mappings;
mod split_costs;
mod suggestions;
mod vast;
mod workbooks;

/// What a file came to.
#[derive(Default)]
struct Reading {
    format: String,
    rows: u64,
    charges: Vec<Charge>,
    /// Of the charges, those beyond the first of a row.
    further: u64,
    rejected: Vec<Rejection>,
    skipped: Vec<&'static str>,
    remarks: Vec<String>,
    notes: Vec<String>,
    statement: Statement,
}

impl Reading {
    fn billed(&self) -> Decimal {
        self.charges.iter().map(|charge| charge.billed_cost).sum()
    }

    fn effective(&self) -> Decimal {
        self.charges.iter().map(|charge| charge.effective_cost).sum()
    }

    fn list(&self) -> Decimal {
        self.charges.iter().map(|charge| charge.list_cost).sum()
    }

    fn contracted(&self) -> Decimal {
        self.charges.iter().map(|charge| charge.contracted_cost).sum()
    }
}

fn read_path(path: &Path) -> Result<Reading, Refusal> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    read(billing::open(&name, File::open(path).unwrap(), &billing::ReadAs::any())?)
}

fn read_text(text: impl Into<Vec<u8>>) -> Result<Reading, Refusal> {
    read(billing::open("bill.csv", Cursor::new(text.into()), &billing::ReadAs::any())?)
}

fn read(mut export: Export) -> Result<Reading, Refusal> {
    let mut reading = Reading { format: export.format().name().to_owned(), ..Reading::default() };
    let mut charge = Charge::default();
    while let Some(step) = export.next(&mut charge)? {
        match step {
            Step::Charge => {
                reading.charges.push(charge.clone());
                while export.further(&mut charge, |_| false)? {
                    reading.charges.push(charge.clone());
                    reading.further += 1;
                }
            }
            Step::Rejected(rejection) => reading.rejected.push(rejection),
            Step::Skipped(reason) => reading.skipped.push(reason),
        }
    }
    reading.rows = export.row();
    reading.statement = export.statement();
    reading.notes.clone_from(&export.columns().notes);
    reading.remarks = export.remarks().iter().map(ToString::to_string).collect();
    let steps = reading.charges.len() + reading.rejected.len() + reading.skipped.len();
    assert_eq!(reading.rows + reading.further, steps as u64, "every row is a charge, rejected or skipped");
    Ok(reading)
}
