//! Loading the rows of an archived import again, from the files that were kept.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection, PgPool};

use crate::accelerator;
use crate::billing;
use crate::money::{Currency, Decimal};

use super::archive::clean;
use super::delivery;
use super::doubles::{Doubles, Known};
use super::key::Keyer;
use super::load::{
    CENSUS_ROWS, Channel, Failure, Keeps, LoadError, Source, Target, Written, ended, file_error,
};
use super::noise::NoisyTags;
use super::original::{Originals, Sha256};
use super::own_table;
use super::progress::{Counted, Progress};
use super::read::{Reader, Reading};
use super::rollup::{Beside, Rollup, Sums};
use super::write::Tables;

/// What became of it.
#[derive(Debug)]
pub enum LoadedAgain {
    Done,
    /// It is not archived, or somebody else is loading it again.
    Already,
    /// Nothing was loaded; why, for people.
    Failed(String),
}

/// The files of an archived import, and how they were read.
struct Kept {
    files: Vec<(String, Sha256)>,
    /// The first of its files that is kept no more.
    removed: Option<String>,
    format: Option<String>,
    noisy_tags: Vec<String>,
    charges: i64,
    totals: BTreeMap<(i64, Currency), Sums>,
}

/// Loads the rows of an archived import again. It is archived until all of them are there, and agree with what it states.
pub async fn load_again(
    pool: &PgPool,
    originals: &Originals,
    delivery_id: i64,
    progress: &Progress,
    now: DateTime<Utc>,
) -> sqlx::Result<LoadedAgain> {
    let mut db = pool.acquire().await?;
    if !delivery::try_lock(&mut db, delivery_id).await? {
        return Ok(LoadedAgain::Already);
    }
    let loaded = load_locked(pool, &mut db, originals, delivery_id, progress, now).await;
    delivery::release(&mut db, delivery_id).await?;
    loaded
}

async fn load_locked(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    delivery_id: i64,
    progress: &Progress,
    now: DateTime<Utc>,
) -> sqlx::Result<LoadedAgain> {
    // What was only marked has its rows still.
    let kept = sqlx::query!(
        "update deliveries set archived_at = null, loaded_again_at = $2
         where delivery_id = $1 and archived_at is not null and rows_removed_at is null",
        delivery_id,
        now,
    )
    .execute(&mut *db)
    .await?;
    if kept.rows_affected() > 0 {
        return Ok(LoadedAgain::Done);
    }
    let Some(kept) = find(&mut *db, delivery_id).await? else { return Ok(LoadedAgain::Already) };
    if let Some(removed) = &kept.removed {
        return Ok(LoadedAgain::Failed(format!(
            "its file “{removed}” was removed to save space. Import the file again, then load these rows"
        )));
    }
    match load(pool, &mut *db, originals, delivery_id, &kept, progress, now).await {
        Ok(None) => Ok(LoadedAgain::Done),
        Ok(Some(message)) => {
            clean(db, delivery_id).await?;
            Ok(LoadedAgain::Failed(message))
        }
        // What is left is removed with the next archiving.
        Err(LoadError::Database(error)) => Err(error),
        Err(error) => {
            clean(db, delivery_id).await?;
            Ok(LoadedAgain::Failed(error.to_string()))
        }
    }
}

/// `None` where it is not archived.
async fn find(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Option<Kept>> {
    let found = sqlx::query!(
        "select format, noisy_tags, charges from deliveries where delivery_id = $1 and rows_removed_at is not null",
        delivery_id,
    )
    .fetch_optional(&mut *db)
    .await?;
    let Some(found) = found else { return Ok(None) };
    let files = sqlx::query!(
        r#"select name, sha256, exists (select from originals o where o.sha256 = f.sha256) as "is_kept!"
           from delivery_files f where delivery_id = $1 order by file_no"#,
        delivery_id
    )
    .fetch_all(&mut *db)
    .await?;
    let totals = sqlx::query!(
        r#"select scope_id, currency, charges, billed_cost as "billed_cost: Decimal",
               effective_cost as "effective_cost: Decimal", list_cost as "list_cost: Decimal",
               contracted_cost as "contracted_cost: Decimal"
           from delivery_totals where delivery_id = $1"#,
        delivery_id,
    )
    .fetch_all(db)
    .await?;
    let totals = totals.into_iter().map(|row| {
        let sums = Sums {
            charges: row.charges,
            billed_cost: row.billed_cost,
            effective_cost: row.effective_cost,
            list_cost: row.list_cost,
            contracted_cost: row.contracted_cost,
            ..Sums::default()
        };
        ((row.scope_id, Currency::exactly(&row.currency)), sums)
    });
    Ok(Some(Kept {
        removed: files.iter().find(|file| !file.is_kept).map(|file| file.name.clone()),
        files: files
            .into_iter()
            .filter_map(|file| Some((file.name, Sha256::try_from(file.sha256?).ok()?)))
            .collect(),
        format: found.format,
        noisy_tags: found.noisy_tags,
        charges: found.charges,
        totals: totals.collect(),
    }))
}

/// Answers why the rows are not those that were imported, where they are not.
async fn load(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    delivery_id: i64,
    kept: &Kept,
    progress: &Progress,
    now: DateTime<Utc>,
) -> Result<Option<String>, LoadError> {
    let is_large = kept.charges > CENSUS_ROWS as i64;
    let tables = if is_large { Tables::Own } else { Tables::OfMonths };
    let target = Target { pool, originals, delivery_id, tables, keeps: Keeps::Archived };
    let mut known = Known::default();
    let (reading, months) = loop {
        // Of an attempt that broke off, or that met rows twice.
        if !clean(&mut *db, delivery_id).await? {
            return Ok(Some("what is left of its rows is being read. Try again in a moment".to_owned()));
        }
        sqlx::query!("update deliveries set needs_cleaning = true where delivery_id = $1", delivery_id)
            .execute(&mut *db)
            .await?;
        let (files, format, noisy_tags) =
            (kept.files.clone(), kept.format.clone(), NoisyTags::exactly(kept.noisy_tags.clone()));
        let (originals, progress) = (originals.clone(), progress.clone());
        let task = Task { originals, delivery_id, files, format, progress };
        match target.write(move |sink| task.read(sink, noisy_tags, known)).await? {
            Written::Whole(reading, months) => break (reading, months),
            Written::Again(more) => known = more,
        }
    };
    let (charges, stated) = (reading.charges, kept.charges);
    let differs = || {
        Ok(Some(format!(
            "this version reads {charges} charges from the kept files, or other costs, where the import has {stated}. Import the \
             file anew"
        )))
    };
    if !is_same(&reading, kept) {
        return differs();
    }
    let mut tx = db.begin().await?;
    own_table::attach(&mut tx, delivery_id, &months).await?;
    // Its sums by plain key were kept, and pages read both.
    if sqlx::query_file_scalar!("server/ledger/again_differs.sql", delivery_id).fetch_one(&mut *tx).await? {
        tx.rollback().await?;
        return differs();
    }
    // Its keys may be others than before, so whose they are is found out anew.
    sqlx::query!("delete from attribution_set_deliveries where delivery_id = $1", delivery_id)
        .execute(&mut *tx)
        .await?;
    sqlx::query!(
        "update deliveries
         set archived_at = null, rows_removed_at = null, needs_cleaning = false, loaded_again_at = $2, has_resources = $3,
             catalog_version = $4
         where delivery_id = $1",
        delivery_id,
        now,
        reading.has_resources,
        i64::from(accelerator::VERSION),
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(None)
}

/// Whether a reading states what the import stated.
fn is_same(reading: &Reading, kept: &Kept) -> bool {
    let without_quantities = reading
        .totals
        .iter()
        .map(|(of, sums)| (of.clone(), Sums { metered_quantity: Decimal::ZERO, ..*sums }));
    reading.charges as i64 == kept.charges && without_quantities.collect::<BTreeMap<_, _>>() == kept.totals
}

/// What the reading thread works on.
struct Task {
    originals: Originals,
    delivery_id: i64,
    files: Vec<(String, Sha256)>,
    format: Option<String>,
    progress: Progress,
}

impl Task {
    fn read(self, sink: &mut Channel, noisy_tags: NoisyTags, known: Known) -> Result<Reading, Failure> {
        let scratch = self.originals.scratch().map_err(LoadError::Reading)?.to_owned();
        let doubles = Doubles::new(scratch.clone(), known);
        let rollup = Beside::start(Rollup::new(self.delivery_id, scratch)).map_err(LoadError::Reading)?;
        let keyer = Keyer::new(noisy_tags);
        let mut reader = Reader::new(sink, self.delivery_id, keyer, doubles, rollup, self.progress.clone());
        let mut source = Source { name: "import".to_owned(), path: std::path::PathBuf::new() };
        for (file_no, (name, sha256)) in self.files.iter().enumerate() {
            source.name.clone_from(name);
            let content = self.originals.content(sha256).map_err(|error| file_error(&source, error))?;
            let content = Counted::new(content, self.progress.clone());
            let mut export = billing::open(name, content, self.format.as_deref())
                .map_err(|refusal| ended(&source, refusal.into()))?;
            reader.file(file_no as i16, &mut export, |_, _| {}).map_err(|error| ended(&source, error))?;
        }
        reader.finish().map_err(|error| ended(&source, error))
    }
}
