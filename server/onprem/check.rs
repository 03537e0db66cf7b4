//! The equations of on-premises: an active month is what the asset register says of it, and a price becomes expense whole.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use sqlx::{Connection, PgConnection};

use super::asset_register::AssetRegister;
use super::bill_file::PROVIDER;
use super::bill_totals::lines_until;
use super::cost_lines::{Component, Line, lines_of_asset};
use super::entry::{Asset, Entry, EventKind, Paid};
use super::location_history::Events;
use super::problem::problems;
use super::readings::readings;
use super::summary::owned_hours;
use crate::accelerator::accelerator_hours;
use crate::changes::Document as _;
use crate::ledger::Equation;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Decimals of accelerator-hours, more than a month of a third of an accelerator needs to be distinguished from another.
const HOURS_PLACES: u8 = 12;

/// Checks every active month of a cluster, and the asset register as it is.
pub async fn check(db: &mut PgConnection, today: NaiveDate) -> sqlx::Result<Vec<Equation>> {
    let mut tx = db.begin_with("begin isolation level repeatable read read only").await?;
    let mut equations = Vec::new();
    for month in counting(&mut tx).await? {
        match month.revision {
            Some((revision, day)) => computed_again(&mut tx, &month, revision, day, &mut equations).await?,
            None => imported_by_hand(&mut tx, &month, &mut equations).await?,
        }
    }
    let (_, now) = AssetRegister::current(&mut tx).await?;
    let events = now.events();
    for (id, asset) in now.assets() {
        written_off(&events, (id, asset), today, &mut equations);
    }
    sound(&now, &mut equations);
    Ok(equations)
}

/// An active delivery for a month of a cluster, and the revision it was computed from, where its file is known.
struct Counting {
    cluster: String,
    month: BillingMonth,
    scope: i64,
    delivery: i64,
    /// With the day on which it was: a month that went on then has the days before.
    revision: Option<(i64, NaiveDate)>,
}

async fn counting(db: &mut PgConnection) -> sqlx::Result<Vec<Counting>> {
    let rows = sqlx::query!(
        r#"select s.billing_account, s.billing_month, s.scope_id, v.delivery_id,
                  made.revision as "revision?", made.day as "day?"
           from scopes s
           join visibility v using (scope_id)
           left join lateral (
               select m.revision, (m.made_at at time zone 'UTC')::date as day
               from delivery_files f join cluster_months m using (sha256)
               where f.delivery_id = v.delivery_id
                 and m.cluster = s.billing_account and m.billing_month = s.billing_month
                 and not exists (select from delivery_files other
                                 where other.delivery_id = f.delivery_id and other.sha256 <> f.sha256)
               order by m.revision desc limit 1
           ) made on true
           where s.provider = $1 and s.adjusts is null and v.until_sequence is null
           order by s.billing_account, s.billing_month, v.delivery_id"#,
        PROVIDER,
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Counting {
            cluster: row.billing_account,
            month: BillingMonth::of(row.billing_month),
            scope: row.scope_id,
            delivery: row.delivery_id,
            revision: row.revision.zip(row.day),
        })
        .collect())
}

/// What a service cost in a currency: billed and effective.
type Costs = BTreeMap<(String, String), [Decimal; 2]>;

/// Two ledgers of a month beside each other: what either has and the other has not is nothing there.
fn push_costs(equations: &mut Vec<Equation>, name: &'static str, of: &str, left: &Costs, right: &Costs) {
    let keys: BTreeSet<&(String, String)> = left.keys().chain(right.keys()).collect();
    for key in keys {
        let side = |costs: &Costs| costs.get(key).copied().unwrap_or_default();
        let (service, currency) = key;
        for (cost, (left, right)) in
            ["billed", "effective"].into_iter().zip(side(left).into_iter().zip(side(right)))
        {
            let service = if service.is_empty() { String::new() } else { format!(", {service}") };
            equations.push(Equation::new(name, format!("{of}{service}, {cost} {currency}"), left, right));
        }
    }
}

/// Computes a month as of its revision and compares it with what the ledger holds.
async fn computed_again(
    db: &mut PgConnection,
    it: &Counting,
    revision: i64,
    day: NaiveDate,
    equations: &mut Vec<Equation>,
) -> sqlx::Result<()> {
    let asset_register = AssetRegister::as_of(&mut *db, revision).await?;
    let read = readings(&mut *db, &asset_register, &it.cluster, it.month, revision).await?;
    let lines = lines_until(&asset_register, &read, &it.cluster, it.month, day);
    let mut computed = Costs::new();
    for line in &lines {
        let key = (line.component.name().to_owned(), line.currency.to_string());
        let [billed, effective] = computed.entry(key).or_default();
        *billed += line.billed;
        *effective += line.effective;
    }
    let rows = sqlx::query!(
        r#"select k.service, k.currency,
                  sum(m.billed_cost) as "billed!: Decimal", sum(m.effective_cost) as "effective!: Decimal"
           from monthly_costs m
           join charge_keys k using (charge_key_id)
           where m.delivery_id = $1 and m.scope_id = $2 and m.billing_month = $3
           group by 1, 2"#,
        it.delivery,
        it.scope,
        it.month.first_day(),
    )
    .fetch_all(&mut *db)
    .await?;
    let held: Costs =
        rows.into_iter().map(|row| ((row.service, row.currency), [row.billed, row.effective])).collect();
    let of = format!("{} {}, revision {revision}", it.cluster, it.month);
    push_costs(equations, "components by the asset register = services in the ledger", &of, &computed, &held);
    let part_seconds = sqlx::query_scalar!(
        r#"select coalesce(sum(m.metered_quantity * (k.unit_seconds * k.accelerator_parts)), 0) as "hours!: Decimal"
           from monthly_costs m
           join charge_keys k using (charge_key_id)
           where m.delivery_id = $1 and m.scope_id = $2 and m.billing_month = $3 and k.pricing = 'Owned'"#,
        it.delivery,
        it.scope,
        it.month.first_day(),
    )
    .fetch_one(db)
    .await?;
    equations.push(Equation::new(
        "hours in service by the asset register = on-prem GPU-hours in the ledger",
        of,
        owned_hours(&lines),
        accelerator_hours(part_seconds, HOURS_PLACES),
    ));
    Ok(())
}

/// A file that somebody uploaded under this provider comes from no revision: it is named, and must be what it says.
async fn imported_by_hand(
    db: &mut PgConnection,
    it: &Counting,
    equations: &mut Vec<Equation>,
) -> sqlx::Result<()> {
    let rows = sqlx::query!(
        r#"select t.currency, t.billed_cost as "said_billed: Decimal", t.effective_cost as "said_effective: Decimal",
                  coalesce(held.billed, 0) as "billed!: Decimal", coalesce(held.effective, 0) as "effective!: Decimal"
           from delivery_totals t
           left join (
               select k.currency, sum(m.billed_cost) as billed, sum(m.effective_cost) as effective
               from monthly_costs m
               join charge_keys k using (charge_key_id)
               where m.delivery_id = $1 and m.scope_id = $2
               group by 1
           ) held using (currency)
           where t.delivery_id = $1 and t.scope_id = $2"#,
        it.delivery,
        it.scope,
    )
    .fetch_all(db)
    .await?;
    let (mut said, mut held) = (Costs::new(), Costs::new());
    for row in rows {
        let key = (String::new(), row.currency);
        said.insert(key.clone(), [row.said_billed, row.said_effective]);
        held.insert(key, [row.billed, row.effective]);
    }
    let of = format!("{} {}, delivery {}", it.cluster, it.month, it.delivery);
    push_costs(equations, "month that no asset register was asked for = its file", &of, &said, &held);
    Ok(())
}

/// An asset's price becomes expense: over its life, and until today. What is expected of its life is what was entered
/// alone: price, residual value and how many units left, by whichever method it is written down. What it is worth today
/// is what pages say of it.
fn written_off(
    events: &Events<'_>,
    (id, asset): (i64, &Asset),
    today: NaiveDate,
    equations: &mut Vec<Equation>,
) {
    // Reported as a problem of the asset register.
    let Ok(schedule) = asset.schedule() else { return };
    let location_history = events.location_history(asset);
    let leavings = &location_history.leavings;
    let last_day = leavings.iter().map(|leaving| leaving.day).chain([schedule.ends(), today]).max();
    let last_month = BillingMonth::of(last_day.unwrap_or(today));
    let (mut in_all, mut until_today) = (Decimal::ZERO, Decimal::ZERO);
    for month in BillingMonth::of(asset.in_service).through(last_month) {
        for line in lines_of_asset((id, asset), &location_history, month) {
            let expense = expense(&line);
            in_all += expense;
            if line.days.start < today {
                until_today += expense;
            }
        }
    }
    let (name, whole, residual) = match &asset.paid {
        Paid::Leased { monthly, months } => {
            ("days of the lease = its payments", monthly.times(i64::from(*months)), Decimal::ZERO)
        }
        Paid::Bought | Paid::Financed { .. } => {
            let name = "depreciation = price less residual value, or all of it where it left";
            (name, asset.price, asset.residual)
        }
    };
    let units = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let (all, gone) = (i64::from(asset.count), i64::from(units_gone(events, asset)));
    let of = format!("{}, {} × {whole} {}", asset.name, asset.count, asset.currency);
    equations.push(Equation::new(name, of.clone(), in_all, whole.times(all) - residual.times(all - gone)));
    let gone = units(leavings.iter().filter(|leaving| leaving.day < today).count());
    let worth = schedule.book_value(today).times(all - gone);
    equations.push(Equation::new(
        "charged before today + book value = price",
        of,
        until_today + worth,
        whole.times(all),
    ));
}

/// Units that were sold or written off, by the entries that say so.
fn units_gone(events: &Events<'_>, asset: &Asset) -> u32 {
    let gone = events.of(&asset.name).iter().filter(|(_, event)| match event.what {
        EventKind::Disposal { .. } | EventKind::WriteOff => true,
        EventKind::Move { .. } => false,
    });
    let mut units: BTreeSet<u32> = BTreeSet::new();
    for (_, event) in gone {
        if event.units.is_empty() {
            return asset.count;
        }
        units.extend(&event.units);
    }
    u32::try_from(units.len()).unwrap_or(u32::MAX)
}

/// How much of the price a line takes. What a unit was worth when it left is all of it, whatever was paid for it.
fn expense(line: &Line) -> Decimal {
    match line.component {
        Component::Depreciation | Component::Lease => line.effective,
        Component::Disposal => line.effective - line.billed,
        _ => Decimal::ZERO,
    }
}

/// What is wrong with the asset register, by cluster.
fn sound(asset_register: &AssetRegister, equations: &mut Vec<Equation>) {
    let mut wrong: Vec<i64> = problems(asset_register).into_iter().map(|problem| problem.id).collect();
    wrong.extend(asset_register.assets().filter(|(_, asset)| asset.schedule().is_err()).map(|(id, _)| id));
    let mut push = |of: String, count: usize| {
        let count = Decimal::from(i64::try_from(count).unwrap_or(i64::MAX));
        equations.push(Equation::new("problems of the asset register = 0", of, count, Decimal::ZERO));
    };
    let mut described = BTreeSet::new();
    for cluster in asset_register.clusters() {
        let entries = asset_register.of_cluster(&cluster.handle);
        let ids: BTreeSet<i64> = entries.iter().map(|(id, _)| *id).collect();
        push(
            format!("{}, {} entries", cluster.handle, entries.len()),
            wrong.iter().filter(|id| ids.contains(id)).count(),
        );
        described.extend(ids);
    }
    let elsewhere: Vec<(&i64, &Entry)> =
        asset_register.entries.iter().filter(|(id, _)| !described.contains(id)).collect();
    if !elsewhere.is_empty() {
        push(
            format!("{} entries of no cluster", elsewhere.len()),
            wrong.iter().filter(|id| !described.contains(id)).count(),
        );
    }
}
