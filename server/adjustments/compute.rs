//! Computing the adjustments of a bill from what the ledger has of it, into a file that is imported beside it.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use futures_util::{Stream, TryStreamExt as _};
use sqlx::PgConnection;

use super::bill::{Bill, BilledDay, TooLong};
use super::due::{AdjustedBill, Due};
use super::internal_price::{Unpriced, differences};
use crate::accelerator::{self, Accelerators, Recognized};
use crate::billing::{ChargeCategory, ChargeKey, PricingCategory};
use crate::money::Decimal;
use crate::rating::Rates;

/// Rows between which the file is written on.
const ROWS: u64 = 2000;
const TOO_LONG: &str = "an adjusted amount has more digits than amounts hold";

/// What became of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Computed {
    /// Rows of the file; it is to be imported where there are some.
    pub rows: u64,
    /// What could not be adjusted, for people.
    pub problem: Option<String>,
}

/// Writes the adjustments of a bill into a file.
///
/// # Errors
/// Of the database, or of the disk.
pub async fn compute(
    db: &mut PgConnection,
    due: &Due,
    rates: &Arc<Rates>,
    path: &Path,
) -> sqlx::Result<Computed> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut bill = Bill::new(due.bill.month, due.bill.is_final, due.entries.iter().collect());
    let adjusted = adjust(db, due, rates, (&mut bill, &mut out)).await?;
    let computed = match adjusted {
        Ok(problem) => Computed { rows: bill.rows, problem },
        // What is not known to the last digit is not charged at all.
        Err(TooLong) => return Ok(Computed { rows: 0, problem: Some(TOO_LONG.to_owned()) }),
    };
    out.write_all(&bill.file.take())?;
    out.into_inner().map_err(io::Error::from)?.sync_all()?;
    Ok(computed)
}

async fn adjust(
    db: &mut PgConnection,
    due: &Due,
    rates: &Arc<Rates>,
    (bill, out): (&mut Bill<'_>, &mut BufWriter<File>),
) -> sqlx::Result<Result<Option<String>, TooLong>> {
    // Of a cluster there are few: its units are lines that are charged alike.
    let mut of_cluster = Vec::new();
    let mut days = days(db, &due.bill);
    while let Some(day) = days.try_next().await? {
        if let Err(too_long) = bill.add(&day) {
            return Ok(Err(too_long));
        }
        if due.is_priced_internally {
            of_cluster.push(day);
        }
        if bill.rows.is_multiple_of(ROWS) {
            out.write_all(&bill.file.take())?;
        }
    }
    let problem = if due.is_priced_internally {
        match differences(&mut of_cluster, due.bill.month, rates) {
            Ok(differences) => {
                if let Err(too_long) =
                    bill.charge_internally(&of_cluster, &differences, &due.bill.billing_account)
                {
                    return Ok(Err(too_long));
                }
                None
            }
            Err(Unpriced::TooLong) => return Ok(Err(TooLong)),
            Err(unpriced) => Some(unpriced.to_string()),
        }
    } else {
        None
    };
    let is_finished = bill.finish(&due.bill.provider, &due.bill.billing_account, due.bill.is_over);
    Ok(is_finished.map(|()| problem))
}

/// What each key of a bill costs on each day.
pub fn days<'d>(
    db: &'d mut PgConnection,
    bill: &'d AdjustedBill,
) -> impl Stream<Item = sqlx::Result<BilledDay>> + Unpin + 'd {
    let rows = sqlx::query_as!(
        DayRow,
        r#"select k.charge_key_id, k.provider, k.billing_account, k.sub_account, k.service, k.service_category, k.sku, k.region,
               k.instance_type, k.meter, k.stated_accelerators, k.category, k.pricing, k.commitment_discount_id,
               k.is_unused_commitment, k.unit, k.currency, coalesce(k.resource_id, '') as "resource_id!", k.tags::text as "tags!",
               k.accelerator, k.accelerator_parts, k.unit_seconds, d.day, d.is_whole_period,
               d.billed_cost as "billed: Decimal", d.effective_cost as "effective: Decimal",
               d.contracted_cost as "contracted: Decimal", d.metered_quantity as "quantity: Decimal"
           from daily_costs d
           join charge_keys k using (charge_key_id)
           where d.billing_month = $1 and d.scope_id = $2 and d.delivery_id = any($3)
           order by d.delivery_id, d.charge_key_id, d.day, d.is_whole_period"#,
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
        let model = self.accelerator.as_deref();
        let model = model.and_then(|name| accelerator::models().iter().find(|model| model.name == name));
        let amounts = self.accelerator_parts.zip(self.unit_seconds);
        let accelerator = model.zip(amounts).map(|(model, (parts, seconds))| Recognized {
            model,
            per_unit: Accelerators::from_parts(parts),
            seconds_per_unit: seconds.unsigned_abs(),
        });
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
                is_correction: false,
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
