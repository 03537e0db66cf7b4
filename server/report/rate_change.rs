//! What a change of the rate cards moves: each month, and in it each owner, priced with the rates before and after. What is active
//! without cost is priced anew from its sums by day, in which all that rates know of is.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::completeness::final_since;
use super::snapshot::Names;
use super::{Answers, Grouping};
use crate::allocation;
use crate::ledger::{self, ActiveImports, UsageOfKey, Which};
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::rating::{Pricing, Rates, Usage, is_priced_alike, quantity_of};

/// What usage costs by some rates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Priced {
    pub cost: Decimal,
    /// Of usage that no rate is for.
    pub unpriced_accelerator_hours: Decimal,
    /// Kinds and days of other usage that no rate is for.
    pub unpriced_others: usize,
}

/// A month in which a change moves something, in one currency.
#[derive(Clone, Debug, Serialize)]
pub struct MonthOfRates {
    pub month: BillingMonth,
    pub currency: String,
    /// Its bills were final, so that statements of it may have been handed out.
    pub was_final: bool,
    pub before: Priced,
    pub after: Priced,
    /// Those that it moves, the most moved first.
    pub owners: Vec<OwnerOfRates>,
}

/// A team, shared costs, or what is unallocated.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerOfRates {
    pub label: String,
    pub before: Priced,
    pub after: Priced,
}

/// What a change moves.
#[derive(Clone, Debug, Serialize)]
pub struct RateImpact {
    /// The latest first.
    pub months: Vec<MonthOfRates>,
    /// Imports whose usage costs something else by it.
    pub imports: Vec<i64>,
    /// Those of which this cannot be so, each with the reason: they keep their prices, and are in no figure here.
    pub held_back: Vec<(i64, String)>,
}

/// What usage costs without a change.
pub enum Before {
    /// What is booked.
    AsBooked(Arc<Rates>),
    /// By the rates of then.
    By(Arc<Rates>),
}

impl Before {
    pub fn rates(&self) -> &Rates {
        match self {
            Self::AsBooked(rates) | Self::By(rates) => rates,
        }
    }
}

/// Prices what is active without cost before a change and after it.
pub async fn rate_impact(
    db: &mut PgConnection,
    answers: &Answers,
    before: Before,
    after: Arc<Rates>,
) -> sqlx::Result<RateImpact> {
    let (is_booked, before) = match before {
        Before::AsBooked(rates) => (true, rates),
        Before::By(rates) => (false, rates),
    };
    // In the order of a bill: tiers are counted from the first day on.
    let usage = ledger::usage_without_cost(&mut *db, Which::Active).await?;
    let mut sums: BTreeMap<(BillingMonth, String), HashMap<Uuid, (Priced, Priced)>> = BTreeMap::new();
    let (mut imports, mut held_back) = (Vec::new(), Vec::new());
    for of_import in usage.chunk_by(|a, b| a.delivery == b.delivery) {
        let is_alike = |it: &UsageOfKey| {
            is_priced_alike((&before, it.accelerator), (&after, it.accelerator), &it.key, it.day)
        };
        let delivery = of_import[0].delivery;
        if of_import.iter().all(is_alike) {
            continue;
        }
        if is_booked && let Some(why) = ledger::obstacle(&mut *db, delivery).await? {
            held_back.push((delivery, why));
            continue;
        }
        imports.push(delivery);
        let (mut then, mut with) = (Pricing::new(Arc::clone(&before)), Pricing::new(Arc::clone(&after)));
        for it in of_import {
            let place = sums.entry((it.month, it.key.currency.clone())).or_default();
            let (sum_then, sum_with) = place.entry(it.charge_key_id).or_default();
            if is_booked {
                sum_then.add_booked(it);
            } else {
                sum_then.add(it, &mut then);
            }
            sum_with.add(it, &mut with);
        }
    }
    let sequence = ledger::sequence(&mut *db).await?;
    let mut months = Vec::new();
    for ((month, currency), keys) in sums.into_iter().rev() {
        let moved: Vec<_> = keys.into_iter().filter(|(_, (before, after))| before != after).collect();
        if moved.is_empty() {
            continue;
        }
        let labels = labels(&mut *db, answers, month, sequence, moved.iter().map(|(key, _)| *key)).await?;
        let mut owners: BTreeMap<String, (Priced, Priced)> = BTreeMap::new();
        let (mut before, mut after) = (Priced::default(), Priced::default());
        for (key, (then, with)) in &moved {
            let label = labels.get(key).cloned().unwrap_or_else(|| Grouping::Team.missing());
            let owner = owners.entry(label).or_default();
            owner.0.merge(then);
            owner.1.merge(with);
            before.merge(then);
            after.merge(with);
        }
        let mut owners: Vec<OwnerOfRates> = owners
            .into_iter()
            .map(|(label, (before, after))| OwnerOfRates { label, before, after })
            .collect();
        owners.sort_by_key(|it| std::cmp::Reverse((it.after.cost - it.before.cost).abs()));
        let was_final = final_since(&mut *db, month, sequence).await?.is_some();
        months.push(MonthOfRates { month, currency, was_final, before, after, owners });
    }
    Ok(RateImpact { months, imports, held_back })
}

impl Priced {
    fn add(&mut self, usage: &UsageOfKey, pricing: &mut Pricing) {
        let UsageOfKey { key, accelerator, month, day, quantity, charge_key_id, .. } = usage;
        let (key_id, accelerator) = (*charge_key_id, *accelerator);
        let cost =
            pricing.price(Usage { key, key_id, accelerator, month: *month, day: *day, quantity: *quantity });
        self.add_parts(
            usage,
            cost.unwrap_or_default(),
            if cost.is_some() { Decimal::ZERO } else { *quantity },
        );
    }

    fn add_booked(&mut self, usage: &UsageOfKey) {
        self.add_parts(usage, usage.cost, usage.quantity - usage.priced_quantity);
    }

    fn add_parts(&mut self, usage: &UsageOfKey, cost: Decimal, unpriced: Decimal) {
        self.cost += cost;
        match usage.accelerator {
            _ if unpriced.is_zero() => {}
            Some(accelerator) => self.unpriced_accelerator_hours += quantity_of(accelerator, unpriced),
            None => self.unpriced_others += 1,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.cost += other.cost;
        self.unpriced_accelerator_hours += other.unpriced_accelerator_hours;
        self.unpriced_others += other.unpriced_others;
    }
}

/// The team or shared cost that each key belongs to in a month, by its name; without those that are unallocated.
pub(super) async fn labels(
    db: &mut PgConnection,
    answers: &Answers,
    month: BillingMonth,
    sequence: i64,
    keys: impl Iterator<Item = Uuid>,
) -> sqlx::Result<HashMap<Uuid, String>> {
    let configuration = answers.configuration(db, sequence).await?;
    let visible = ActiveImports::find(&mut *db, month, month, sequence).await?;
    let set_id = allocation::cover(&mut *db, &configuration.of_month(month), &visible).await?;
    let names = Names::of(&configuration, month, month);
    let rows = sqlx::query!(
        "select ka.charge_key_id, a.team, a.pool
         from key_attributions ka
         join attributions a using (attribution_id)
         where ka.set_id = $1 and ka.charge_key_id = any($2) and a.team || a.pool <> ''",
        set_id,
        &keys.collect::<Vec<_>>(),
    )
    .fetch_all(db)
    .await?;
    Ok(rows.iter().map(|row| (row.charge_key_id, names.owner(&row.team, &row.pool))).collect())
}
