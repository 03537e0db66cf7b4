//! Loading the rows of an archived import again, from the files that were kept.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection, PgPool};

use crate::accelerator::Catalog;
use crate::billing::{ReadAs, Statement};
use crate::money::{Currency, Decimal};

use super::archive_rows::clean;
use super::catalog::{catalog, recognize_keys_of};
use super::delivery;
use super::duplicate_rows::Known;
use super::files::Files;
use super::key::Keyer;
use super::load::{
    self, CENSUS_ROWS, Channel, Failure, Keeps, LoadError, Target, Written, ended, file_error, is_packed,
    reader,
};
use super::loaded::{Kept as KeptFile, LoadedFile, Source};
use super::low_priority::at_low_priority;
use super::mappings::read_as;
use super::noise::NoisyTags;
use super::original::{Originals, Sha256};
use super::orphans::remove_after_failure;
use super::own_table;
use super::progress::Progress;
use super::rates::pricer_of;
use super::reading::Reading;
use super::rollup::Sums;
use super::totals;
use super::usage_without_cost::Pricer;
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
    files: Vec<File>,
    format: Option<String>,
    noisy_tags: Vec<String>,
    charges: i64,
    totals: BTreeMap<totals::Place, Sums>,
}

/// A file of an archived import.
#[derive(Clone)]
struct File {
    name: String,
    sha256: Sha256,
    /// Which of its costs were taken.
    half: Statement,
    is_kept: bool,
    /// Where it is, if it was uploaded again.
    uploaded: Option<PathBuf>,
}

impl File {
    fn source(&self) -> Source {
        let source = match &self.uploaded {
            Some(path) => Source::new(&self.name, path),
            // What they have is known where they were stored.
            None => Source::of_kept(
                self.name.clone(),
                KeptFile { sha256: self.sha256, received_bytes: 0, content_bytes: 0 },
            ),
        };
        source.read_as(self.half)
    }
}

/// An archived import whose rows are loaded again.
pub struct Reload<'a> {
    pub pool: &'a PgPool,
    pub originals: &'a Originals,
    pub delivery_id: i64,
    /// Files that were uploaded for it.
    pub uploaded: &'a [Source],
    pub progress: &'a Progress,
    pub now: DateTime<Utc>,
}

impl Reload<'_> {
    /// Loads them from its files that are kept, and from those that were uploaded again where they are not. The import is archived
    /// until all rows are there, and agree with what it states.
    pub async fn run(&self) -> sqlx::Result<LoadedAgain> {
        let mut db = self.pool.acquire().await?;
        if !delivery::try_lock(&mut db, self.delivery_id).await? {
            return Ok(LoadedAgain::Already);
        }
        let loaded = self.load_locked(&mut db).await;
        delivery::release(&mut db, self.delivery_id).await?;
        if matches!(loaded, Ok(LoadedAgain::Failed(_))) {
            remove_after_failure(&mut db, self.originals).await;
        }
        loaded
    }

    async fn load_locked(&self, db: &mut PgConnection) -> sqlx::Result<LoadedAgain> {
        let delivery_id = self.delivery_id;
        // What was only marked has its rows still.
        let kept = sqlx::query!(
            "update deliveries set archived_at = null, loaded_again_at = $2
             where delivery_id = $1 and archived_at is not null and rows_removed_at is null",
            delivery_id,
            self.now,
        )
        .execute(&mut *db)
        .await?;
        if kept.rows_affected() > 0 {
            return Ok(LoadedAgain::Done);
        }
        let Some(mut kept) = find(&mut *db, delivery_id).await? else { return Ok(LoadedAgain::Already) };
        if let Some(missing) = kept.complete(self.uploaded).await {
            return Ok(LoadedAgain::Failed(missing));
        }
        match self.load(&mut *db, &kept).await {
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

    /// Answers why the rows are not those that were imported, where they are not.
    async fn load(&self, db: &mut PgConnection, kept: &Kept) -> Result<Option<String>, LoadError> {
        let Self { pool, originals, delivery_id, now, .. } = *self;
        let is_large = kept.charges > CENSUS_ROWS as i64;
        let tables = if is_large { Tables::Own } else { Tables::OfMonths };
        let target = Target { pool, originals, delivery_id, tables, keeps: Keeps::Archived };
        let catalog = catalog(&mut *db).await?;
        let read_as = read_as(&mut *db, kept.format.as_deref()).await?;
        let mut known = Known::default();
        let ((reading, brought), months) = loop {
            // Of an attempt that broke off, or that met rows twice.
            if !clean(&mut *db, delivery_id).await? {
                return Ok(Some("its rows are in use. Try again in a moment".to_owned()));
            }
            sqlx::query!("update deliveries set needs_cleaning = true where delivery_id = $1", delivery_id)
                .execute(&mut *db)
                .await?;
            let (files, read_as) = (kept.files.clone(), read_as.clone());
            let noisy_tags = NoisyTags::exactly(kept.noisy_tags.clone());
            let (originals, progress) = (originals.clone(), self.progress.clone());
            let (catalog, pricer) = (Arc::clone(&catalog), pricer_of(&mut *db, delivery_id).await?);
            let task = Task { originals, delivery_id, files, read_as, progress, catalog, pricer };
            match target.write(move |sink| task.read(sink, noisy_tags, known)).await? {
                Written::Whole(read, months) => break (read, months),
                Written::Again(more) => known = more,
            }
        };
        let (charges, stated) = (reading.charges, kept.charges);
        let differs = || {
            Ok(Some(format!(
                "this version reads {charges} charges from the stored files, or other costs, but the import has {stated}. Import the \
                 file again"
            )))
        };
        if !is_same(&reading, kept) {
            return differs();
        }
        let mut tx = db.begin().await?;
        own_table::attach(&mut tx, delivery_id, &months).await?;
        // Its sums by plain key were kept, and pages read both.
        if sqlx::query_file_scalar!("server/ledger/reload_differs.sql", delivery_id)
            .fetch_one(&mut *tx)
            .await?
        {
            tx.rollback().await?;
            return differs();
        }
        for (file, rows) in &brought {
            delivery::note_original(&mut tx, &file.kept(), *rows, now).await?;
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
            i64::from(reading.catalog_version),
        )
        .execute(&mut *tx)
        .await?;
        recognize_keys_of(&mut tx, delivery_id).await?;
        tx.commit().await?;
        Ok(None)
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
        r#"select name, sha256, read_as, exists (select from originals o where o.sha256 = f.sha256) as "is_kept!"
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
        files: files
            .into_iter()
            .filter_map(|file| {
                let sha256 = Sha256::try_from(file.sha256?).ok()?;
                let half = file.read_as.and_then(|half| half.parse().ok()).unwrap_or_default();
                Some(File { name: file.name, sha256, half, is_kept: file.is_kept, uploaded: None })
            })
            .collect(),
        format: found.format,
        noisy_tags: found.noisy_tags,
        charges: found.charges,
        totals: totals.collect(),
    }))
}

impl Kept {
    /// Finds those that are kept no more among files that are uploaded again. Says which is missing, if one is.
    async fn complete(&mut self, uploaded: &[Source]) -> Option<String> {
        if self.files.iter().all(|file| file.is_kept) {
            return None;
        }
        let paths: Vec<PathBuf> = uploaded.iter().map(|source| source.path.clone()).collect();
        let hashing = move || -> Vec<(Sha256, PathBuf)> {
            paths.into_iter().filter_map(|path| Some((load::hash(&path).ok()?, path))).collect()
        };
        let hashes = at_low_priority("hashing", hashing).await.unwrap_or_default();
        for file in self.files.iter_mut().filter(|file| !file.is_kept) {
            let found = hashes.iter().find(|(sha256, _)| *sha256 == file.sha256);
            file.uploaded = found.map(|(_, path)| path.clone());
        }
        let missing = self.files.iter().find(|file| !file.is_kept && file.uploaded.is_none())?;
        let File { name, sha256, .. } = missing;
        Some(if uploaded.is_empty() {
            format!("its file “{name}” was removed to save space. Choose the file on the page of the import")
        } else {
            format!(
                "none of the files is “{name}” as it was imported, byte by byte. The SHA-256 of that is {sha256}"
            )
        })
    }
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
    files: Vec<File>,
    read_as: ReadAs,
    progress: Progress,
    catalog: Arc<Catalog>,
    pricer: Pricer,
}

impl Task {
    /// Answers also the files that were uploaded again, with their rows: they are kept now.
    fn read(
        self,
        sink: &mut Channel,
        noisy_tags: NoisyTags,
        known: Known,
    ) -> Result<(Reading, Vec<(LoadedFile, u64)>), Failure> {
        let mut reader = reader(
            sink,
            self.delivery_id,
            (Keyer::new(self.catalog, noisy_tags), self.pricer),
            known,
            &self.progress,
        )?;
        let sources: Vec<Source> = self.files.iter().map(File::source).collect();
        let mut files = Files {
            originals: &self.originals,
            sources: &sources,
            read_as: &self.read_as,
            progress: &self.progress,
            learned: None,
        };
        let mut brought = Vec::new();
        for (file_no, (file, source)) in self.files.iter().zip(&sources).enumerate() {
            let (export, original) = files.read(&mut reader, file_no)?;
            let rows = export.row();
            drop(export);
            // Nothing where it is kept.
            let Some(original) = original else { continue };
            let kept = is_packed(&source.path).and_then(|is_packed| {
                original.finish(&self.originals, source, is_packed.then_some(file.sha256))
            });
            let kept = kept.map_err(|error| file_error(source, error))?;
            if kept.sha256 != file.sha256 {
                let changed = io::Error::other("it changed while it was read");
                return Err(file_error(source, changed).into());
            }
            brought.push((kept, rows));
        }
        let last = sources.last().cloned().unwrap_or_default();
        let reading = reader.finish().map_err(|error| ended(&last, error))?;
        Ok((reading, brought))
    }
}
