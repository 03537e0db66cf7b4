//! What each key of a bill costs by day: what is computed from bills begins with it.

use chrono::NaiveDate;
use futures_util::{Stream, TryStreamExt as _};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::accelerator::Recognized;
use crate::billing::{BilledDay, ChargeCategory, ChargeKey, PricingCategory};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Which days of which bill are asked for.
#[derive(Clone, Copy, Debug)]
pub struct BillDays<'a> {
    pub month: BillingMonth,
    pub scopes: &'a [i64],
    pub deliveries: &'a [i64],
    /// Only those of these machines, machine by machine.
    pub machines: Option<&'a [String]>,
}

/// What each key costs on each day, in the order of the machines that are asked for, and of the days.
pub fn bill_days<'d>(
    db: &'d mut PgConnection,
    asked: BillDays<'d>,
) -> impl Stream<Item = sqlx::Result<BilledDay>> + Unpin + 'd {
    let rows = sqlx::query_as!(
        DayRow,
        r#"select k.charge_key_id, k.provider, k.billing_account, k.sub_account, k.service, k.service_category, k.sku, k.region,
               k.instance_type, k.meter, k.stated_accelerators, k.category, k.is_correction, k.pricing, k.commitment_discount_id,
               k.is_unused_commitment, k.unit, k.currency, coalesce(k.resource_id, '') as "resource_id!", k.tags::text as "tags!",
               k.accelerator, k.accelerator_parts, k.unit_seconds, d.day, d.is_whole_period,
               d.billed_cost as "billed: Decimal", d.effective_cost as "effective: Decimal", d.list_cost as "list: Decimal",
               d.contracted_cost as "contracted: Decimal", d.metered_quantity as "quantity: Decimal",
               -- Of hours without any, nothing is stored.
               case when $4::text[] is not null and d.hourly_quantity is not null then array(
                   select coalesce(d.hourly_quantity[hour], 0) from generate_series(1, 24) hour order by hour
               ) end as "hours: Vec<Decimal>"
           from daily_costs d
           join charge_keys k using (charge_key_id)
           where d.billing_month = $1 and d.scope_id = any($2) and d.delivery_id = any($3)
             and ($4::text[] is null or k.accelerator is not null and k.resource_id = any($4))
           order by case when $4 is null then '' else k.resource_id end, d.day, d.charge_key_id, d.is_whole_period, d.delivery_id"#,
        asked.month.first_day(),
        asked.scopes,
        asked.deliveries,
        asked.machines,
    );
    rows.fetch(db).map_ok(DayRow::into_day)
}

struct DayRow {
    charge_key_id: Uuid,
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
    day: NaiveDate,
    is_whole_period: bool,
    billed: Decimal,
    effective: Decimal,
    list: Decimal,
    contracted: Decimal,
    quantity: Decimal,
    hours: Option<Vec<Decimal>>,
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
            list: self.list,
            contracted: self.contracted,
            quantity: self.quantity,
            hours: self.hours.unwrap_or_default(),
            accelerator,
        }
    }
}
