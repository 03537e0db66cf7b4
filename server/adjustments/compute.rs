//! Computing the adjustments of a bill from what the ledger has of it, into a file that is imported beside it.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use futures_util::{Stream, TryStreamExt as _};
use sqlx::PgConnection;

use super::bill::{Bill, BilledDay, TooLong};
use super::due::{AdjustedBill, Due};
use super::internal_price::{InternalPricing, Unpriced};
use crate::accelerator::Recognized;
use crate::billing::{ChargeCategory, ChargeKey, PricingCategory};
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
    let rows = sqlx::query_as!(
        DayRow,
        r#"select k.charge_key_id, k.provider, k.billing_account, k.sub_account, k.service, k.service_category, k.sku, k.region,
               k.instance_type, k.meter, k.stated_accelerators, k.category, k.is_correction, k.pricing, k.commitment_discount_id,
               k.is_unused_commitment, k.unit, k.currency, coalesce(k.resource_id, '') as "resource_id!", k.tags::text as "tags!",
               k.accelerator, k.accelerator_parts, k.unit_seconds, d.day, d.is_whole_period,
               d.billed_cost as "billed: Decimal", d.effective_cost as "effective: Decimal",
               d.contracted_cost as "contracted: Decimal", d.metered_quantity as "quantity: Decimal"
           from daily_costs d
           join charge_keys k using (charge_key_id)
           where d.billing_month = $1 and d.scope_id = $2 and d.delivery_id = any($3)
           order by d.day, d.charge_key_id, d.is_whole_period, d.delivery_id"#,
        bill.month.first_day(),
        bill.scope_id,
        &bill.active,
    );
    rows.fetch(db).map_ok(DayRow::into_day)
}

struct DayRow {
    charge_key_id: uuid::Uuid,
    provider: String,
    billing_account: String,
    sub_account: String,
    service: String,
    service_category: String,
    sku: String,
    region: String,
    instance_type: String,
    meter: String,
    stated_accelerators: String,
    category: String,
    is_correction: bool,
    pricing: String,
    commitment_discount_id: String,
    is_unused_commitment: bool,
    unit: String,
    currency: String,
    resource_id: String,
    tags: String,
    accelerator: Option<String>,
    accelerator_parts: Option<i64>,
    unit_seconds: Option<i32>,
    day: chrono::NaiveDate,
    is_whole_period: bool,
    billed: Decimal,
    effective: Decimal,
    contracted: Decimal,
    quantity: Decimal,
}

impl DayRow {
    fn into_day(self) -> BilledDay {
        let accelerator =
            Recognized::stored(self.accelerator.as_deref(), self.accelerator_parts, self.unit_seconds);
        let pricing = PricingCategory::ALL.into_iter().find(|it| it.as_str() == self.pricing);
        BilledDay {
            key_id: self.charge_key_id,
            key: ChargeKey {
                provider: self.provider,
                billing_account: self.billing_account,
                sub_account: self.sub_account,
                service: self.service,
                service_category: self.service_category,
                sku: self.sku,
                region: self.region,
                instance_type: self.instance_type,
                meter: self.meter,
                stated_accelerators: self.stated_accelerators,
                category: ChargeCategory::parse(&self.category).unwrap_or_default(),
                is_correction: self.is_correction,
                pricing: pricing.unwrap_or_default(),
                commitment_discount_id: self.commitment_discount_id,
                is_unused_commitment: self.is_unused_commitment,
                unit: self.unit,
                currency: self.currency,
            },
            resource_id: self.resource_id,
            tags: self.tags,
            day: self.day,
            is_whole_period: self.is_whole_period,
            billed: self.billed,
            effective: self.effective,
            contracted: self.contracted,
            quantity: self.quantity,
            accelerator,
        }
    }
}
