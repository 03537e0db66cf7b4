//! What arrives without cost, as it is read: priced where a rate is for it, and summed by key and day, so that pages know what is
//! unpriced and what other rates would move without reading a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::NaiveDate;
use sqlx::PgConnection;
use uuid::Uuid;

use super::key::{Keyed, Keyer};
use super::noise::NoisyTags;
use super::rates::VersionedRates;
use crate::accelerator::{Catalog, Recognized};
use crate::billing::{Charge, ChargeCategory, ChargeKey, PricingCategory};
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::rating::{Pricing, Usage};
use crate::store::CopyRows;

pub const COLUMNS: &str =
    "delivery_id, scope_id, charge_key_id, day, part, charges, quantity, priced_quantity, cost";

/// Keys and days that are summed at once: they take some 10 MB.
const MOST: usize = 50_000;

/// What prices charges that lack their cost: rates, with what was known of accelerators when they were applied.
pub struct Pricer {
    /// The version of the rates.
    pub version: i64,
    pricing: Pricing,
    keyer: Keyer,
}

impl Pricer {
    pub fn new(VersionedRates { version, rates }: VersionedRates, catalog: Arc<Catalog>) -> Self {
        Self { version, pricing: Pricing::new(rates), keyer: Keyer::new(catalog, NoisyTags::default()) }
    }

    /// Fills in what a charge costs that lacks its cost. False where no rate is for it: its quantity is none that was paid for then.
    /// Whether it will be is not known, and hours beside no cost would make all others look cheaper.
    ///
    /// An agreed rate is what is billed, effective and contracted; it stands for the list price, too, which is not known.
    pub fn price(&mut self, charge: &mut Charge) -> bool {
        let Keyed { plain_key_id, accelerator, .. } = self.keyer.key(charge);
        let usage = Usage {
            key: &charge.key,
            key_id: plain_key_id,
            accelerator,
            month: charge.billing_month,
            day: charge.period.day(),
            quantity: charge.consumed_quantity.unwrap_or_default(),
        };
        let cost = self.pricing.price(usage);
        charge.is_metered &= cost.is_some();
        let amount = cost.unwrap_or_default();
        charge.billed_cost = amount;
        charge.effective_cost = amount;
        charge.contracted_cost = amount;
        charge.list_cost = amount;
        cost.is_some()
    }
}

/// What prices, and the sums that were not sent yet.
pub struct UsageWithoutCost {
    pub pricer: Pricer,
    sums: BTreeMap<(i64, u128, NaiveDate), Sum>,
    /// Sent so far.
    parts: i32,
}

#[derive(Default)]
struct Sum {
    charges: i64,
    quantity: Decimal,
    priced_quantity: Decimal,
    cost: Decimal,
}

impl UsageWithoutCost {
    pub fn new(pricer: Pricer) -> Self {
        Self { pricer, sums: BTreeMap::new(), parts: 0 }
    }

    /// The version of the rates, where there was such usage.
    pub fn rates_version(&self) -> Option<i64> {
        (self.parts > 0 || !self.sums.is_empty()).then_some(self.pricer.version)
    }

    /// Adds a charge, and whether a rate was for it.
    pub fn add(&mut self, charge: &Charge, is_priced: bool, scope_id: i64, key: Uuid) {
        let quantity = charge.consumed_quantity.unwrap_or_default();
        let sum = self.sums.entry((scope_id, key.as_u128(), charge.period.day())).or_default();
        sum.charges += 1;
        sum.quantity += quantity;
        if is_priced {
            sum.priced_quantity += quantity;
            sum.cost += charge.billed_cost;
        }
    }

    pub fn is_full(&self) -> bool {
        self.sums.len() >= MOST
    }

    /// Those that were not sent yet.
    pub fn take(&mut self, delivery_id: i64) -> CopyRows {
        let mut rows = CopyRows::with_capacity(self.sums.len() * 100);
        for ((scope_id, key, day), sum) in std::mem::take(&mut self.sums) {
            rows.row(9)
                .bigint(delivery_id)
                .bigint(scope_id)
                .uuid(Uuid::from_u128(key))
                .date(day)
                .integer(self.parts)
                .bigint(sum.charges)
                .numeric(&sum.quantity)
                .numeric(&sum.priced_quantity)
                .numeric(&sum.cost);
        }
        self.parts += 1;
        rows
    }
}

/// What of an import arrived without cost, of one key and day.
#[derive(Clone, Debug)]
pub struct UsageOfKey {
    pub delivery: i64,
    pub charge_key_id: Uuid,
    pub key: ChargeKey,
    pub accelerator: Option<Recognized>,
    pub month: BillingMonth,
    pub day: NaiveDate,
    pub quantity: Decimal,
    /// Of this, what a rate was for.
    pub priced_quantity: Decimal,
    pub cost: Decimal,
}

/// Which usage is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All of an import, whether it is active or not.
    Of(i64),
    /// That of one key and day of an import, whether it is active or not.
    OfKey { delivery: i64, key: Uuid, day: NaiveDate },
    /// What is active.
    Active,
    /// What is active and has no price.
    Unpriced,
}

/// What arrived without cost, by key and day.
pub async fn usage_without_cost(db: &mut PgConnection, which: Which) -> sqlx::Result<Vec<UsageOfKey>> {
    let (delivery, key, day) = match which {
        Which::Of(delivery) => (Some(delivery), None, None),
        Which::OfKey { delivery, key, day } => (Some(delivery), Some(key), Some(day)),
        Which::Active | Which::Unpriced => (None, None, None),
    };
    let rows = sqlx::query!(
        r#"with usage as (
               select delivery_id, scope_id, charge_key_id, day, sum(quantity) as quantity,
                   sum(priced_quantity) as priced_quantity, sum(cost) as cost
               from usage_without_cost u
               where (
                       delivery_id = $1
                       or $1::bigint is null and exists (
                           select from visibility v
                           where v.delivery_id = u.delivery_id and v.scope_id = u.scope_id and v.until_sequence is null
                       )
                   )
                 and (not $2::boolean or quantity <> priced_quantity)
                 and ($3::uuid is null or charge_key_id = $3)
                 and ($4::date is null or day = $4)
               group by 1, 2, 3, 4
           )
           select u.delivery_id, u.charge_key_id, s.billing_month, u.day, u.quantity as "quantity!: Decimal",
               u.priced_quantity as "priced_quantity!: Decimal", u.cost as "cost!: Decimal", k.provider, k.billing_account, k.sub_account,
               k.service, k.sku, k.region, k.instance_type, k.meter, k.stated_accelerators, k.category, k.pricing, k.unit, k.currency,
               k.accelerator, k.accelerator_parts, k.unit_seconds
           from usage u
           join scopes s using (scope_id)
           join charge_keys k using (charge_key_id)
           order by u.delivery_id, u.day, u.charge_key_id"#,
        delivery,
        which == Which::Unpriced,
        key,
        day,
    )
    .fetch_all(db)
    .await?;
    let usage = rows.into_iter().map(|row| {
        let accelerator =
            Recognized::stored(row.accelerator.as_deref(), row.accelerator_parts, row.unit_seconds);
        UsageOfKey {
            delivery: row.delivery_id,
            charge_key_id: row.charge_key_id,
            key: ChargeKey {
                provider: row.provider,
                billing_account: row.billing_account,
                sub_account: row.sub_account,
                service: row.service,
                sku: row.sku,
                region: row.region,
                instance_type: row.instance_type,
                meter: row.meter,
                stated_accelerators: row.stated_accelerators,
                category: ChargeCategory::parse(&row.category).unwrap_or_default(),
                pricing: PricingCategory::parse(&row.pricing).unwrap_or_default(),
                unit: row.unit,
                currency: row.currency,
                ..ChargeKey::default()
            },
            accelerator,
            month: BillingMonth::of(row.billing_month),
            day: row.day,
            quantity: row.quantity,
            priced_quantity: row.priced_quantity,
            cost: row.cost,
        }
    });
    Ok(usage.collect())
}
