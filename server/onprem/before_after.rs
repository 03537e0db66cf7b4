//! Before and after a change: the asset register and its readings without it, and with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sqlx::PgConnection;

use super::asset_register::{AssetRegister, Edit};
use super::bill_file::PROVIDER;
use super::entry::Entry;
use super::impact::{Readings, RegisterBeforeAfter, RegisterState, touched};
use super::power::{Reading, start_of};
use crate::changes::{Change, Document as _, Edit as _, Status};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// What a proposal would change in the asset register as it is, or what a change changed when it was applied; `None` of one
/// that never held.
pub async fn before_after(
    db: &mut PgConnection,
    change: &Change<Edit>,
) -> sqlx::Result<Option<RegisterBeforeAfter>> {
    match (change.outline.status, change.outline.applied_version) {
        (Status::Proposed, _) => {
            let (revision, now) = AssetRegister::current(&mut *db).await?;
            let then = now.edited(&change.edits);
            Ok(Some(of(db, change, (now, AsOf::at(revision)), (then, AsOf::at(revision))).await?))
        }
        (_, Some(applied)) => {
            let before = AssetRegister::as_of(&mut *db, applied - 1).await?;
            let after = AssetRegister::as_of(&mut *db, applied).await?;
            Ok(Some(of(db, change, (before, AsOf::at(applied - 1)), (after, AsOf::at(applied))).await?))
        }
        (_, None) => Ok(None),
    }
}

/// What undoing a change would change in the asset register as it is; `None` of one that does not hold.
pub async fn before_after_undoing(
    db: &mut PgConnection,
    change: &Change<Edit>,
) -> sqlx::Result<Option<RegisterBeforeAfter>> {
    let (Status::Applied, Some(applied)) = (change.outline.status, change.outline.applied_version) else {
        return Ok(None);
    };
    let (revision, now) = AssetRegister::current(&mut *db).await?;
    let back: Vec<Edit> = change.edits.iter().cloned().map(Edit::undone).collect();
    let then = now.edited(&back);
    let without = AsOf { revision, without: Some(applied) };
    Ok(Some(of(db, change, (now, AsOf::at(revision)), (then, without)).await?))
}

/// Which readings hold.
#[derive(Clone, Copy)]
struct AsOf {
    revision: i64,
    /// As if what was read at this revision were taken back.
    without: Option<i64>,
}

impl AsOf {
    fn at(revision: i64) -> Self {
        Self { revision, without: None }
    }
}

async fn of(
    db: &mut PgConnection,
    change: &Change<Edit>,
    (before, at): (AssetRegister, AsOf),
    (after, then): (AssetRegister, AsOf),
) -> sqlx::Result<RegisterBeforeAfter> {
    let mut clusters = touched(&before, &after);
    let read = match change.outline.applied_version {
        Some(applied) => meters_of(&mut *db, applied).await?,
        None => Vec::new(),
    };
    let of_meter = |id: &i64| after.entries.get(id).and_then(Entry::cluster).map(str::to_owned);
    clusters.extend(read.iter().filter_map(of_meter));
    let counting = counting(&mut *db, &clusters).await?;
    let read_before = Arc::new(readings(&mut *db, &before, &clusters, at).await?);
    // A change of entries leaves readings as they are, unless it takes a meter with them or brings one.
    let read_after = if read.is_empty() && meters(&before, &clusters) == meters(&after, &clusters) {
        Arc::clone(&read_before)
    } else {
        Arc::new(readings(&mut *db, &after, &clusters, then).await?)
    };
    Ok(RegisterBeforeAfter {
        counting,
        before: RegisterState { readings: read_before, asset_register: before },
        after: RegisterState { readings: read_after, asset_register: after },
    })
}

/// The meters of these clusters, with their clusters and names.
fn meters<'a>(
    asset_register: &'a AssetRegister,
    clusters: &BTreeSet<String>,
) -> BTreeMap<i64, (&'a str, &'a str)> {
    let its = asset_register.meters().filter(|(_, it)| clusters.contains(&it.cluster));
    its.map(|(id, it)| (id, (it.cluster.as_str(), it.name.as_str()))).collect()
}

/// The meters that were read at a revision.
async fn meters_of(db: &mut PgConnection, revision: i64) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!("select distinct meter_id from meter_readings where from_revision = $1", revision)
        .fetch_all(db)
        .await
}

/// What the meters of these clusters read. Their names are those of the asset register.
async fn readings(
    db: &mut PgConnection,
    asset_register: &AssetRegister,
    clusters: &BTreeSet<String>,
    AsOf { revision, without }: AsOf,
) -> sqlx::Result<Readings> {
    let meters = meters(asset_register, clusters);
    if meters.is_empty() {
        return Ok(Readings::new());
    }
    let ids: Vec<i64> = meters.keys().copied().collect();
    let rows = sqlx::query!(
        r#"select meter_id, starts_at, ends_at, kwh as "kwh: Decimal"
           from meter_readings it
           where meter_id = any($1)
             and (from_revision <= $2 and (until_revision is null or until_revision > $2)
                  and not exists (
                      select from meter_readings was
                      where was.from_revision = $3 and was.meter_id = it.meter_id and was.starts_at = it.starts_at)
                  -- What it stood for is there again.
                  or until_revision = $3)
           order by meter_id, starts_at"#,
        &ids,
        revision,
        without,
    )
    .fetch_all(db)
    .await?;
    let mut found = Readings::new();
    for row in rows {
        let Some((cluster, meter)) = meters.get(&row.meter_id) else { continue };
        let (from, until) = (row.starts_at, row.ends_at);
        let reading = Reading { meter: (*meter).to_owned(), from, until, kwh: row.kwh };
        let mut month = BillingMonth::of(from.date_naive());
        while start_of(month.first_day()) < until {
            found.entry(((*cluster).to_owned(), month)).or_default().push(reading.clone());
            month = month.next();
        }
    }
    Ok(found)
}

/// Months of these clusters of which something counts.
async fn counting(
    db: &mut PgConnection,
    clusters: &BTreeSet<String>,
) -> sqlx::Result<BTreeSet<(String, BillingMonth)>> {
    let clusters: Vec<String> = clusters.iter().cloned().collect();
    let rows = sqlx::query!(
        "select distinct s.billing_account, s.billing_month
         from scopes s
         join visible_deliveries using (scope_id)
         where s.provider = $1 and s.billing_account = any($2)",
        PROVIDER,
        &clusters,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.billing_account, BillingMonth::of(row.billing_month))).collect())
}
