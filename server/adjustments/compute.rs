//! Computing the adjustments of a bill from what the ledger has of it, into a file that is imported beside it.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use futures_util::{Stream, TryStreamExt as _};
use sqlx::PgConnection;

use super::bill::{Bill, TooLong};
use super::due::{AdjustedBill, Due};
use super::internal_price::{InternalPricing, Unpriced};
use crate::billing::BilledDay;
use crate::ledger::{self, BillDays};
use crate::money::Decimal;

/// Rows between which the file is written on.
const ROWS: u64 = 2000;
const TOO_LONG: &str = "an adjusted amount has more digits than amounts hold";

/// What became of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Computed {
    /// Rows of the file; it is to be imported where there are some.
    pub rows: u64,
    /// What of it is not adjusted as one may expect: a month of a cluster that stays charged by its cost, though some of its hours
    /// have internal prices.
    pub note: Option<String>,
    /// Why nothing of it is adjusted.
    pub problem: Option<String>,
}

/// Writes the adjustments of a bill into a file.
///
/// # Errors
/// Of the database, or of the disk.
pub async fn compute(db: &mut PgConnection, due: &Due, path: &Path) -> sqlx::Result<Computed> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut bill = Bill::new(due.bill.month, due.bill.is_final, due.entries.iter().collect());
    let differences = match internal_differences(&mut *db, due).await? {
        Ok(differences) => differences,
        Err(unpriced) => {
            bill.notes.push(unpriced.to_string());
            None
        }
    };
    match adjust(db, due, differences, (&mut bill, &mut out)).await? {
        Ok(()) => {}
        // What is not known to the last digit is not charged at all.
        Err(TooLong) => return Ok(Computed { problem: Some(TOO_LONG.to_owned()), ..Computed::default() }),
    }
    out.write_all(&bill.file.take())?;
    out.into_inner().map_err(io::Error::from)?.sync_all()?;
    let note = (!bill.notes.is_empty()).then(|| bill.notes.join("; "));
    Ok(Computed { rows: bill.rows, note, problem: None })
}

/// What each day of a cluster's month is charged more than it costs, in the order of [`days`]; none where no internal price is for it.
async fn internal_differences(
    db: &mut PgConnection,
    due: &Due,
) -> sqlx::Result<Result<Option<Vec<Decimal>>, Unpriced>> {
    if due.internal_prices.is_empty() {
        return Ok(Ok(None));
    }
    let mut pricing = InternalPricing::new(due.bill.month, &due.internal_prices);
    let mut differences = Vec::new();
    let mut days = days(db, &due.bill);
    while let Some(day) = days.try_next().await? {
        differences.push(pricing.difference(&day));
    }
    Ok(pricing.finish().map(|is_priced| is_priced.then_some(differences)))
}

async fn adjust(
    db: &mut PgConnection,
    due: &Due,
    differences: Option<Vec<Decimal>>,
    (bill, out): (&mut Bill<'_>, &mut BufWriter<File>),
) -> sqlx::Result<Result<(), TooLong>> {
    let is_priced = differences.is_some();
    let mut differences = differences.into_iter().flatten();
    let mut written = 0;
    let mut days = days(db, &due.bill);
    while let Some(day) = days.try_next().await? {
        let charged = bill.add(&day).and_then(|()| match differences.next() {
            Some(difference) => bill.charge_internally(&day, difference),
            None => Ok(()),
        });
        if let Err(too_long) = charged {
            return Ok(Err(too_long));
        }
        if bill.rows >= written + ROWS {
            written = bill.rows;
            out.write_all(&bill.file.take())?;
        }
    }
    if is_priced {
        bill.charge_difference(&due.bill.billing_account);
    }
    Ok(bill.finish(&due.bill.provider, &due.bill.billing_account, due.bill.is_over))
}

/// What each key of a bill costs on each day, in the order of the days.
pub fn days<'d>(
    db: &'d mut PgConnection,
    bill: &'d AdjustedBill,
) -> impl Stream<Item = sqlx::Result<BilledDay>> + Unpin + 'd {
    let scopes = std::slice::from_ref(&bill.scope_id);
    ledger::bill_days(db, BillDays { month: bill.month, scopes, deliveries: &bill.active, machines: None })
}
