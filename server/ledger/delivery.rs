//! The record of a delivery: made when loading begins, filled when it ends, discarded when it breaks off.

use chrono::{DateTime, Utc};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use uuid::Uuid;

use crate::billing::{Rejection, Statement};
use crate::enum_words::words;
use crate::money::{Currency, Decimal};

use super::Decision;
use super::loaded::{Kept, Loaded, Source};
use super::original::Sha256;
use super::partition::TABLES;
use super::rollup::Sums;
use super::{orphans, own_table, write_block};

/// Session locks of loading deliveries: this plus the delivery's id.
const LOCK: i64 = 0x6770_755f_0000_0000;

/// Makes the record of a delivery that is being loaded. The session that calls holds a lock until it
/// ends or calls [`release`]; that is how others know that someone is still at it.
pub async fn begin(
    db: &mut PgConnection,
    batch_id: Uuid,
    by: &str,
    submitted_at: DateTime<Utc>,
) -> sqlx::Result<i64> {
    let mut tx = db.begin().await?;
    let delivery_id = sqlx::query_scalar!(
        "insert into deliveries (batch_id, status, created_at, created_by)
         values ($1, 'loading', $2, $3) returning delivery_id",
        batch_id,
        submitted_at,
        by,
    )
    .fetch_one(&mut *tx)
    .await?;
    sqlx::query!("select pg_advisory_lock($1)", LOCK + delivery_id).execute(&mut *tx).await?;
    orphans::hold(&mut tx).await?;
    tx.commit().await?;
    Ok(delivery_id)
}

/// Locks a delivery that is loaded already, for who loads its rows again. False where somebody else has.
pub async fn try_lock(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<bool> {
    let is_mine = sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "mine!""#, LOCK + delivery_id)
        .fetch_one(&mut *db)
        .await?;
    if is_mine {
        orphans::hold(db).await?;
    }
    Ok(is_mine)
}

/// Lets others know that nobody loads the delivery any more.
pub async fn release(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    orphans::release(db).await?;
    unlock(db, delivery_id).await
}

async fn unlock(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK + delivery_id).fetch_one(db).await?;
    Ok(())
}

/// Writes down that a file is kept, with its rows.
pub async fn note_original(
    db: &mut PgConnection,
    file: &Kept,
    rows: u64,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into originals (sha256, received_bytes, content_bytes, content_rows, stored_at)
         values ($1, $2, $3, $4, $5) on conflict do nothing",
        &file.sha256.0[..],
        file.received_bytes as i64,
        file.content_bytes as i64,
        rows as i64,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Writes down what was loaded. The delivery is complete, and still not seen.
pub async fn complete(
    db: &mut PgConnection,
    delivery_id: i64,
    loaded: &Loaded,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let reading = &loaded.reading;
    let mut tx = db.begin().await?;
    let skipped: u64 = reading.skips.values().sum();
    let corrections = reading.corrections.iter().map(|(currency, sums)| of_corrections(sums, currency));
    let rates = reading
        .rates_version
        .map(|version| format!("usage without cost is priced by revision {version} of the rate cards"));
    let notes: Vec<String> =
        loaded.columns.notes.iter().chain(&loaded.remarks).cloned().chain(corrections).chain(rates).collect();
    sqlx::query!(
        "update deliveries
         set format = $2, rows_read = $3, charges = $4, rejected = $5, skipped = $6, noisy_tags = $7,
             unknown_columns = $8, absent_columns = $9, notes = $10, catalog_version = $11,
             has_resources = $12, further_charges = $13, has_rows_twice = $14, rates_version = $15, rates_compared = $15, rates_catalog = $11
         where delivery_id = $1",
        delivery_id,
        loaded.format.name(),
        reading.rows_read as i64,
        reading.charges as i64,
        reading.rejected.count as i64,
        skipped as i64,
        &reading.noisy_tags.iter().cloned().collect::<Vec<_>>(),
        &loaded.columns.unknown,
        &loaded.columns.absent,
        &notes,
        i64::from(reading.catalog_version),
        reading.has_resources,
        reading.further_charges as i64,
        reading.has_rows_twice,
        reading.rates_version,
    )
    .execute(&mut *tx)
    .await?;
    for (file_no, (file, rows)) in loaded.files.iter().zip(&reading.rows_by_file).enumerate() {
        sqlx::query!(
            "insert into delivery_files (delivery_id, file_no, name, sha256, rows_read, states, read_as, taken_from)
             values ($1, $2, $3, $4, $5, $6, $7, $8)",
            delivery_id,
            file_no as i16,
            file_name(&file.name),
            &file.sha256.0[..],
            *rows as i64,
            half(file.states),
            half(file.half),
            file.taken_from,
        )
        .execute(&mut *tx)
        .await?;
        note_original(&mut tx, &file.kept(), *rows, now).await?;
    }
    for (reason, rows) in &reading.skips {
        sqlx::query!(
            "insert into skips (delivery_id, reason, skipped_rows) values ($1, $2, $3)",
            delivery_id,
            reason,
            *rows as i64,
        )
        .execute(&mut *tx)
        .await?;
    }
    for (scope_id, (_, coverage)) in &reading.scopes {
        let charges: i64 =
            reading.totals.iter().filter(|((of, _), _)| of == scope_id).map(|(_, sums)| sums.charges).sum();
        sqlx::query!(
            "insert into delivery_scopes
                 (delivery_id, scope_id, sub_accounts, days, charges, is_provisional, slice)
             values ($1, $2, $3, $4, $5, $6, $7)",
            delivery_id,
            scope_id,
            &coverage.sub_accounts.iter().cloned().collect::<Vec<_>>(),
            &coverage.days.iter().copied().collect::<Vec<_>>(),
            charges,
            coverage.is_provisional,
            loaded.slice,
        )
        .execute(&mut *tx)
        .await?;
    }
    for ((scope_id, currency), sums) in &reading.totals {
        sqlx::query!(
            "insert into delivery_totals
                 (delivery_id, scope_id, currency, billed_cost, effective_cost, list_cost, contracted_cost, charges)
             values ($1, $2, $3, $4, $5, $6, $7, $8)",
            delivery_id,
            scope_id,
            currency.as_str(),
            sums.billed_cost as Decimal,
            sums.effective_cost as Decimal,
            sums.list_cost as Decimal,
            sums.contracted_cost as Decimal,
            sums.charges,
        )
        .execute(&mut *tx)
        .await?;
    }
    tx.commit().await
}

/// What rows amount to that correct earlier ones, for people: what they name counts as well.
fn of_corrections(sums: &Sums, currency: &Currency) -> String {
    let (rows, are) = if sums.charges == 1 {
        ("row that corrects an earlier one", "is")
    } else {
        ("rows that correct earlier ones", "are")
    };
    let (charges, billed) = (sums.charges, sums.billed_cost);
    format!(
        "{charges} {rows} {are} billed {billed} {currency}. This counts beside what the corrected rows are billed"
    )
}

/// As it is stored: nothing for both costs.
fn half(of: Statement) -> Option<&'static str> {
    (of != Statement::Whole).then(|| of.as_str())
}

/// What a delivery waits for that is loaded and not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// Somebody says whether it replaces or adds; this is offered first.
    Decision(Option<Decision>),
    /// Somebody looks at it.
    Review,
}

/// Lets a delivery wait that is loaded and not published.
pub async fn wait(
    db: &mut PgConnection,
    delivery_id: i64,
    message: &str,
    awaits: Awaits,
) -> sqlx::Result<()> {
    let suggested = match awaits {
        Awaits::Decision(suggested) => suggested.map(Decision::as_str),
        Awaits::Review => None,
    };
    sqlx::query!(
        "update deliveries set status = 'waiting', message = $2, suggested_decision = $3, awaits_review = $4
         where delivery_id = $1 and status in ('loading', 'waiting')",
        delivery_id,
        message,
        suggested,
        awaits == Awaits::Review,
    )
    .execute(db)
    .await?;
    Ok(())
}

words! {
    /// How a delivery ended that was never published.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Ended: as_str {
        /// The file is not what it should be.
        Refused = "refused";
        /// The machine failed, not the file.
        Failed = "failed";
        /// Someone decided that it should not count, or nobody decided that it should.
        Discarded = "discarded";
        /// Its upload was cancelled. Its original is not kept.
        Cancelled = "cancelled";
    }
}

/// Removes what was loaded under a delivery that was never published, and says why. True where it was one.
pub async fn discard(
    db: &mut PgConnection,
    delivery_id: i64,
    ended: Ended,
    message: &str,
) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let discarded = sqlx::query!(
        "update deliveries
         set status = $2, message = $3, charges = 0, rows_read = 0, rejected = 0, skipped = 0,
             further_charges = 0
         where delivery_id = $1 and status in ('loading', 'waiting')",
        delivery_id,
        ended.as_str(),
        message,
    )
    .execute(&mut *tx)
    .await?;
    if discarded.rows_affected() == 0 {
        return Ok(false);
    }
    remove_rows(&mut tx, delivery_id).await?;
    if ended == Ended::Cancelled {
        sqlx::query!("update delivery_files set sha256 = null where delivery_id = $1", delivery_id)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// Keeps the names of files that were not loaded, for the history of imports.
pub async fn name_files(db: &mut PgConnection, delivery_id: i64, sources: &[Source]) -> sqlx::Result<()> {
    for (file_no, source) in sources.iter().enumerate() {
        sqlx::query!(
            "insert into delivery_files (delivery_id, file_no, name) values ($1, $2, $3) on conflict do nothing",
            delivery_id,
            file_no as i16,
            file_name(&source.name),
        )
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

/// Keeps the first rejected rows of what was refused for them, so that its page shows them.
pub async fn keep_rejections(
    db: &mut PgConnection,
    delivery_id: i64,
    first: &[(i16, Rejection)],
) -> sqlx::Result<()> {
    for of_file in first.chunk_by(|(a, _), (b, _)| a == b) {
        let rejections = of_file.iter().map(|(_, rejection)| rejection.clone()).collect();
        write_block::insert_rejections(&mut *db, delivery_id, of_file[0].0, rejections).await?;
    }
    Ok(())
}

/// Gives the room of rows that were taken back to the disk, at once: PostgreSQL would in a minute, and until then a disk that
/// an import filled stays full.
pub async fn give_room_back(db: &mut PgConnection) {
    for table in TABLES.iter().map(|table| table.name).chain(["row_identities"]) {
        let vacuum = AssertSqlSafe(format!("vacuum (truncate) {table}"));
        if let Err(error) = sqlx::query(vacuum).execute(&mut *db).await {
            tracing::warn!(%error, table, "room could not be given back; PostgreSQL does so by itself");
        }
    }
}

/// What people call a file: without the folders it lay in.
pub fn file_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// Discards what imports left behind that broke off: loading, and nobody holds the lock.
pub async fn sweep(db: &mut PgConnection) -> sqlx::Result<u64> {
    let loading = sqlx::query_scalar!(
        "select delivery_id from deliveries where status = 'loading' order by delivery_id"
    )
    .fetch_all(&mut *db)
    .await?;
    let mut swept = 0;
    for delivery_id in loading {
        let is_abandoned =
            sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "free!""#, LOCK + delivery_id)
                .fetch_one(&mut *db)
                .await?;
        if is_abandoned {
            let discarded = discard_broken_off(db, delivery_id).await;
            unlock(db, delivery_id).await?;
            swept += u64::from(discarded?);
        }
    }
    Ok(swept)
}

/// Of a delivery whose lock is held here. It may have become complete since it was listed.
async fn discard_broken_off(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<bool> {
    let is_loading = sqlx::query_scalar!(
        r#"select status = 'loading' as "loading!" from deliveries where delivery_id = $1"#,
        delivery_id,
    )
    .fetch_one(&mut *db)
    .await?;
    let message = "the import was interrupted; nothing was imported. Import the file again.";
    Ok(is_loading && discard(db, delivery_id, Ended::Failed, message).await?)
}

/// The delivery that consists of exactly these files, and its status, if there is one that counts somewhere, waits
/// for a decision, or was loaded just before in the same batch. One that was undone or replaced is no reason not
/// to load its files again.
pub async fn find_same(
    db: &mut PgConnection,
    files: &[Sha256],
    batch_id: Uuid,
) -> sqlx::Result<Option<(i64, String)>> {
    let mut wanted: Vec<Vec<u8>> = files.iter().map(|sha256| sha256.0.to_vec()).collect();
    wanted.sort_unstable();
    let found = sqlx::query!(
        "select d.delivery_id, d.status
         from deliveries d
         join delivery_files f using (delivery_id)
         where case d.status
                   when 'loaded' then
                       d.delivery_id in (select v.delivery_id from visibility v where v.until_sequence is null)
                   when 'waiting' then true
                   when 'loading' then d.batch_id = $2
                   else false
               end
         group by d.delivery_id
         having array_agg(f.sha256 order by f.sha256) = $1
         order by d.status = 'loaded' desc, d.delivery_id desc
         limit 1",
        &wanted,
        batch_id,
    )
    .fetch_optional(db)
    .await?;
    Ok(found.map(|same| (same.delivery_id, same.status)))
}

/// Removes what was loaded so far under a delivery that is loaded from its beginning again.
pub async fn begin_again(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    remove_rows(&mut tx, delivery_id).await?;
    sqlx::query!("delete from delivery_files where delivery_id = $1", delivery_id).execute(&mut *tx).await?;
    tx.commit().await
}

async fn remove_rows(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    own_table::remove(&mut *db, delivery_id).await?;
    own_table::remove_shared_rows(&mut *db, delivery_id).await?;
    for statement in [
        "delete from daily_totals where delivery_id = $1",
        "delete from monthly_totals where delivery_id = $1",
        "delete from delivery_scopes where delivery_id = $1",
        "delete from delivery_totals where delivery_id = $1",
        "delete from corrected_rejections where delivery_id = $1",
        "delete from rejections where delivery_id = $1",
        "delete from row_identities where delivery_id = $1",
        "delete from skips where delivery_id = $1",
        "delete from usage_without_cost where delivery_id = $1",
    ] {
        sqlx::query(statement).bind(delivery_id).execute(&mut *db).await?;
    }
    Ok(())
}
