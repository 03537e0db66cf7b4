//! Loading a delivery: its files are read on one thread and written on two connections, in one pass,
//! while their originals are hashed and compressed beside.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use sqlx::PgPool;
use tokio::sync::mpsc;

use crate::accelerator::Catalog;
use crate::billing::{self, Accumulation, Columns, Export, Format, ReadAs, Refusal, RefusalKind, ScopeOf};
use crate::period::BillingMonth;
use crate::store;

use super::catalog::catalog;
use super::delivery;
use super::duplicate_rows::{Doubles, Known};
use super::files::{Files, open_quietly};
use super::halves;
use super::key::Keyer;
use super::loaded::{Loaded, Source};
use super::low_priority::at_low_priority;
use super::noise::{NoisyTags, TagCensus};
use super::original::{Hasher, Originals, Sha256};
use super::own_table::{self, Charges};
use super::progress::Progress;
use super::rates::rates;
use super::read::Reader;
use super::reading::{Block, ReadError, Reading, Sink, Stopped};
use super::rollup::{Beside, Grain, Part, Rollup};
use super::usage_without_cost::{Pricer, UsageWithoutCost};
use super::write::{Tables, write_charges, write_others};
use super::{partition, scope};

/// Blocks in flight between reading and each of the two that write, a megabyte each.
const QUEUE: usize = 2;
/// Rows of each file looked at, before loading, to find the noisy tags. What has more is large, and gets tables of its own.
pub(super) const CENSUS_ROWS: u64 = 20_000;

/// Why nothing was loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is not what it should be; trying again will not help.
    #[error("{0}")]
    Refused(Refusal),
    /// The file may be good, the machine was not.
    #[error("{file}: {}", of_disk(source))]
    File { file: String, source: io::Error },
    /// Nor was the file read, and why is not known here.
    #[error("{}", of_disk(.0))]
    Reading(io::Error),
    #[error("{}", of_database(.0))]
    Database(#[from] sqlx::Error),
    /// Most of its rows are no charges, or too many are none.
    #[error("{}", .0.rejected.why_nothing_is_loaded(.0.rows_read))]
    Rejected(Box<Reading>),
    #[error("canceled; nothing was imported")]
    Cancelled,
}

impl LoadError {
    /// Whether a disk was full, or nearly.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::File { source, .. } | Self::Reading(source) => is_full(source),
            Self::Database(error) => store::is_disk_full(error),
            Self::Refused(_) | Self::Rejected(_) | Self::Cancelled => false,
        }
    }
}

/// Why the database did not take what was loaded, and what to do where its disk is full.
pub fn of_database(error: &sqlx::Error) -> String {
    if store::is_disk_full(error) {
        return "the disk of the database is full. Make room on it, then import the file again".to_owned();
    }
    format!("the database did not take the rows: {error}")
}

fn of_disk(error: &io::Error) -> String {
    if is_full(error) {
        return format!(
            "the disk of the data folder is full. Make room on it, then import the file again ({error})"
        );
    }
    error.to_string()
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// What to load, and under which delivery.
pub struct Load<'a> {
    pub delivery_id: i64,
    pub sources: &'a [Source],
    pub read_as: &'a ReadAs,
    /// Tags that are kept in the key however many values they have.
    pub labels: &'a [String],
    pub progress: Progress,
}

/// Loads the files of a delivery. On error what was written stays unseen; the caller discards it.
pub async fn load(pool: &PgPool, originals: &Originals, load: &Load<'_>) -> Result<Loaded, LoadError> {
    let before = (load.progress.rows(), load.progress.bytes());
    let mut known = Known::default();
    loop {
        match load_once(pool, originals, load, known).await {
            Ok(Once::Loaded(loaded)) => return Ok(*loaded),
            Ok(Once::Again(more)) => known = more,
            // Its files cannot be read any more.
            Err(_) if load.progress.cancelled_by().is_some() => return Err(LoadError::Cancelled),
            Err(error) => return Err(error),
        }
        delivery::begin_again(&mut *pool.acquire().await?, load.delivery_id).await?;
        load.progress.begin_again(before);
    }
}

/// What reading the files once led to.
enum Once {
    Loaded(Box<Loaded>),
    Again(Known),
}

async fn load_once(
    pool: &PgPool,
    originals: &Originals,
    load: &Load<'_>,
    known: Known,
) -> Result<Once, LoadError> {
    let delivery_id = load.delivery_id;
    let census = Census::of(originals, load).await?;
    let tables = if census.is_large { Tables::Own } else { Tables::OfMonths };
    let catalog = catalog(&mut *pool.acquire().await?).await?;
    let task = ReadTask {
        originals: originals.clone(),
        delivery_id,
        sources: load.sources.to_vec(),
        read_as: load.read_as.clone(),
        noisy_tags: census.noisy_tags,
        progress: load.progress.clone(),
        pricer: Pricer::new(rates(&mut *pool.acquire().await?).await?, Arc::clone(&catalog)),
        catalog,
    };
    let target = Target { pool, originals, delivery_id, tables, keeps: Keeps::Everything };
    match target.write(move |sink| task.read(sink, known)).await? {
        Written::Whole(loaded, months) => {
            own_table::attach(&mut *pool.acquire().await?, delivery_id, &months).await?;
            Ok(Once::Loaded(Box::new(loaded)))
        }
        Written::Again(known) => Ok(Once::Again(known)),
    }
}

/// Where what is read goes.
pub(super) struct Target<'a> {
    pub pool: &'a PgPool,
    pub originals: &'a Originals,
    pub delivery_id: i64,
    pub tables: Tables,
    pub keeps: Keeps,
}

/// What of what is read is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    Everything,
    /// What is removed of an archived import: not what was rejected, nor its sums by plain key, nor those of usage without cost.
    Archived,
}

/// What came of reading and writing.
pub(super) enum Written<T> {
    /// With the months of tables of their own.
    Whole(T, BTreeSet<BillingMonth>),
    Again(Known),
}

impl Target<'_> {
    /// Reads on a thread, and writes on two connections what that sends.
    pub async fn write<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Channel) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Written<T>, LoadError> {
        let Self { pool, delivery_id, tables, .. } = *self;
        let (charges, incoming_charges) = mpsc::channel(QUEUE);
        let (others, incoming_others) = mpsc::channel(QUEUE);
        let charges_written =
            tokio::spawn(write_charges(pool.clone(), delivery_id, tables, incoming_charges));
        let others_written = tokio::spawn(write_others(pool.clone(), delivery_id, tables, incoming_others));
        let awaited = Arc::new(());
        let mut sink = Channel {
            charges,
            others,
            own_tables: (tables == Tables::Own).then(|| (delivery_id, BTreeSet::new())),
            keeps: self.keeps,
            pool: pool.clone(),
            runtime: tokio::runtime::Handle::current(),
            originals: self.originals.clone(),
            failure: None,
            awaited: Arc::downgrade(&awaited),
        };
        let read = at_low_priority("reading", move || {
            let outcome = read(&mut sink);
            match sink.failure.take() {
                Some(error) => Err(Failure::Load(error)),
                None => outcome,
            }
        });
        let read = read.await;

        // A writer that panicked is a bug; its blocks are missing, so the load has failed.
        let panicked = |error: tokio::task::JoinError| sqlx::Error::Protocol(error.to_string());
        let charges_written = charges_written.await.map_err(panicked).flatten();
        let others_written = others_written.await.map_err(panicked).flatten();
        let (months, ()) = charges_written.and_then(|months| Ok((months, others_written?)))?;
        match read {
            Ok(Ok(whole)) => Ok(Written::Whole(whole, months)),
            Ok(Err(Failure::Again(known))) => Ok(Written::Again(known)),
            Ok(Err(Failure::Load(error))) => Err(error),
            Ok(Err(Failure::Stopped)) => Err(sqlx::Error::WorkerCrashed.into()),
            Err(error) => Err(LoadError::Reading(error)),
        }
    }
}

/// Why reading ended.
pub(super) enum Failure {
    Load(LoadError),
    /// The writing half failed, and says why.
    Stopped,
    Again(Known),
}

/// What the reading thread works on.
struct ReadTask {
    originals: Originals,
    delivery_id: i64,
    sources: Vec<Source>,
    read_as: ReadAs,
    noisy_tags: Vec<String>,
    progress: Progress,
    catalog: Arc<Catalog>,
    pricer: Pricer,
}

impl ReadTask {
    fn read(mut self, sink: &mut Channel, known: Known) -> Result<Loaded, Failure> {
        let noisy_tags = NoisyTags::default().with(std::mem::take(&mut self.noisy_tags));
        let mut reader = reader(
            sink,
            self.delivery_id,
            (Keyer::new(self.catalog, noisy_tags), self.pricer),
            known,
            &self.progress,
        )?;
        let mut files = Vec::new();
        let mut opened: Option<(Arc<dyn Format>, Columns)> = None;
        let mut slice = None;
        let (mut remarks, mut doubts) = (Vec::new(), Vec::new());
        let mut reading = Files {
            originals: &self.originals,
            sources: &self.sources,
            read_as: &self.read_as,
            progress: &self.progress,
            learned: None,
        };
        for (file_no, source) in self.sources.iter().enumerate() {
            let hash = hash_beside(source).map_err(|error| file_error(source, error))?;
            let (export, original) = reading.read(&mut reader, file_no)?;
            check_rows(source, export.row())?;
            if file_no + 1 == self.sources.len() {
                reader.check_rejected().map_err(|error| ended(source, error))?;
            }
            remarks.extend(lacks_columns(source, &export.columns().names));
            remarks.extend(export.remarks().iter().map(ToString::to_string));
            doubts.extend_from_slice(export.doubts());
            slice = slice.or_else(|| slice_of(&export, &source.name));
            opened = Some((Arc::clone(export.format()), export.columns().clone()));
            drop(export);
            let packed = hash.map(join).transpose().map_err(|error| file_error(source, error))?;
            let file = match original {
                Some(original) => original.finish(&self.originals, source, packed),
                None => source.already_kept(),
            };
            files.push(file.map_err(|error| file_error(source, error))?);
        }
        let (Some((format, columns)), Some(last)) = (opened, self.sources.last()) else {
            return Err(
                file_error(&Source::new("import", PathBuf::new()), io::Error::other("no file")).into()
            );
        };
        let reading = reader.finish().map_err(|error| ended(last, error))?;
        remarks.extend(halves::notes(&self.sources, &reading.last_days));
        Ok(Loaded { reading, format, files, slice, columns, remarks, doubts })
    }
}

/// Refuses a file that has other rows than its manifest counts: one of the two is of another run.
fn check_rows(source: &Source, rows: u64) -> Result<(), LoadError> {
    match source.stated.rows {
        Some(stated) if stated != rows => Err(LoadError::Refused(
            Refusal::new(
                format!("{rows} rows, where the manifest counts {stated}"),
                "the files of one run: download them again together with their manifest",
            )
            .of(&source.name),
        )),
        _ => Ok(()),
    }
}

/// Columns that a remark names.
const NAMED: usize = 5;

/// Says where a file lacks columns that its manifest lists. It is no reason to refuse it: AWS' own manifests differ from their
/// files.
fn lacks_columns(source: &Source, names: &[String]) -> Option<String> {
    let missing = billing::missing_columns(&source.stated.columns, names);
    let more = match missing.len() {
        0 => return None,
        many if many > NAMED => format!(" and {} more", many - NAMED),
        _ => String::new(),
    };
    let first = missing[..missing.len().min(NAMED)].join(", ");
    Some(format!(
        "{} lacks columns that its manifest lists ({first}{more}): expected the files of one run of the export",
        source.name
    ))
}

/// For the files of a delivery, with nothing read yet.
pub(super) fn reader<'s>(
    sink: &'s mut Channel,
    delivery_id: i64,
    (keyer, pricer): (Keyer, Pricer),
    known: Known,
    progress: &Progress,
) -> Result<Reader<'s, Channel>, LoadError> {
    let scratch = sink.originals.scratch().map_err(LoadError::Reading)?.to_owned();
    let doubles = Doubles::new(scratch.clone(), known);
    let rollup = Beside::start(Rollup::new(delivery_id, scratch)).map_err(LoadError::Reading)?;
    Ok(Reader::new(
        sink,
        delivery_id,
        (keyer, UsageWithoutCost::new(pricer)),
        doubles,
        rollup,
        progress.clone(),
    ))
}

/// What the first rows of each file tell before they are loaded.
struct Census {
    noisy_tags: Vec<String>,
    /// There are more rows than that.
    is_large: bool,
}

impl Census {
    async fn of(originals: &Originals, load: &Load<'_>) -> Result<Self, LoadError> {
        let (originals, sources) = (originals.clone(), load.sources.to_vec());
        let read_as = load.read_as.clone();
        let (labels, progress) = (load.labels.to_vec(), load.progress.clone());
        let taken = at_low_priority("looking", move || {
            Self::take(&originals, &sources, (&read_as, &progress), &labels)
        })
        .await;
        taken.map_err(LoadError::Reading)?
    }

    fn take(
        originals: &Originals,
        sources: &[Source],
        (read_as, progress): (&ReadAs, &Progress),
        labels: &[String],
    ) -> Result<Self, LoadError> {
        let mut census = TagCensus::default();
        let mut charge = billing::Charge::default();
        let mut is_large = false;
        for source in sources {
            let mut export = open_quietly(originals, source, read_as, progress)?;
            export.look_at_no_others();
            let mut rows = 0;
            // Whatever is wrong is said when the file is loaded.
            while rows < CENSUS_ROWS
                && let Ok(Some(step)) = export.next(&mut charge)
            {
                rows += 1;
                if matches!(step, billing::Step::Charge) {
                    census.observe(&charge.tags);
                }
            }
            is_large |= rows == CENSUS_ROWS;
        }
        Ok(Self { noisy_tags: census.noisy(labels), is_large })
    }
}

/// Why reading ended before the end of a file.
pub(super) fn ended(source: &Source, error: ReadError) -> Failure {
    match error {
        ReadError::Refused(refusal) if refusal.file.is_empty() => {
            refused(source, refusal.of(&source.name)).into()
        }
        ReadError::Refused(refusal) => refused(source, refusal).into(),
        ReadError::Rejected(reading) => LoadError::Rejected(reading).into(),
        ReadError::Stopped => Failure::Stopped,
        ReadError::Cancelled => LoadError::Cancelled.into(),
        ReadError::Again(known) => Failure::Again(known),
        ReadError::Disk(error) => LoadError::Reading(error).into(),
    }
}

pub(super) fn refused(source: &Source, refusal: Refusal) -> LoadError {
    match refusal.kind {
        RefusalKind::Refused => LoadError::Refused(refusal),
        RefusalKind::Failed(kind) => {
            LoadError::File { file: source.name.clone(), source: io::Error::new(kind, refusal.found) }
        }
    }
}

pub(super) fn file_error(source: &Source, error: io::Error) -> LoadError {
    LoadError::File { file: source.name.clone(), source: error }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

/// Whether what arrived is a container rather than its content: gzip or zip, by the first bytes.
pub fn is_packed(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(2).read_to_end(&mut start)?;
    Ok(matches!(start.as_slice(), [0x1f, 0x8b] | b"PK"))
}

/// The name of the slice that a file is, if it is one.
fn slice_of(export: &Export, name: &str) -> Option<String> {
    // A file of a month is the same one, whichever version of a mapping it is read by.
    let format = export.format().name().split('@').next().unwrap_or_default();
    match export.accumulation() {
        Accumulation::WholePeriod => None,
        Accumulation::Slice => Some(slice_of_file(format, name)),
        Accumulation::Kind(kind) => Some(format!("{format}/{kind}")),
    }
}

/// The name of a slice: that of its file, however it is packed. Oracle gives every file of an export a name of its own, and
/// files of two exports may share one, so that of another export than FOCUS is a part of the name.
fn slice_of_file(format: &str, name: &str) -> String {
    let name = super::delivery::file_name(name).to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zip");
    let name = name.trim_end_matches(".csv");
    if format == "focus" { name.to_owned() } else { format!("{format}/{name}") }
}

/// Hashes the bytes as received on a thread beside the import, where they are not the content: that is hashed as it is
/// compressed.
fn hash_beside(source: &Source) -> io::Result<Option<JoinHandle<io::Result<Sha256>>>> {
    if source.kept.is_some() {
        return Ok(None);
    }
    let path = source.path.clone();
    Ok(is_packed(&path)?.then(|| std::thread::spawn(move || hash(&path))))
}

fn join(hashing: JoinHandle<io::Result<Sha256>>) -> io::Result<Sha256> {
    hashing.join().map_err(|_| io::Error::other("hashing stopped"))?
}

/// SHA-256 of a file's bytes.
pub fn hash(path: &Path) -> io::Result<Sha256> {
    let mut file = File::open(path)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    Ok(hasher.finish())
}

/// Blocks to the writing tasks; scopes from the database, few per file.
pub(super) struct Channel {
    charges: mpsc::Sender<Charges>,
    others: mpsc::Sender<Block>,
    /// The delivery whose tables are made, and their months so far.
    own_tables: Option<(i64, BTreeSet<BillingMonth>)>,
    keeps: Keeps,
    pool: PgPool,
    runtime: tokio::runtime::Handle,
    originals: Originals,
    /// Why there is no room for a block, or a scope could not be stored.
    failure: Option<LoadError>,
    /// Gone with whoever waits for the rows: then nobody wants more of them, and the writers end when none come.
    awaited: Weak<()>,
}

impl Channel {
    fn send_charges(&self, charges: Charges) -> Result<(), Stopped> {
        self.charges.blocking_send(charges).map_err(|_| Stopped)
    }
}

impl Sink for Channel {
    fn send(&mut self, block: Block) -> Result<(), Stopped> {
        if self.awaited.strong_count() == 0 {
            return Err(Stopped);
        }
        if let Err(error) = self.originals.check_room(0) {
            self.failure = Some(LoadError::Reading(error));
            return Err(Stopped);
        }
        match block {
            Block::Charges { month, rows } => self.send_charges(Charges::Rows { month, rows }),
            Block::ChargesEnd => self.send_charges(Charges::End),
            Block::Rollup(part) if self.keeps == Keeps::Archived && part.grain == Grain::PlainKeys => Ok(()),
            // The last that comes: the connection that wrote charges has nothing else to do.
            Block::Rollup(Part { grain: Grain::Resources, month, daily, .. })
                if self.own_tables.is_some() =>
            {
                self.send_charges(Charges::OfResources { month, rows: daily })
            }
            Block::Rejections { .. } | Block::Corrected { .. } | Block::UsageWithoutCost(_)
                if self.keeps == Keeps::Archived =>
            {
                Ok(())
            }
            other => self.others.blocking_send(other).map_err(|_| Stopped),
        }
    }

    fn has_index(&self) -> bool {
        self.own_tables.is_none()
    }

    fn scope_id(&mut self, scope: &scope::Scope, of: ScopeOf) -> Result<i64, Stopped> {
        let (pool, scope) = (self.pool.clone(), scope.clone());
        let new_table = self
            .own_tables
            .as_mut()
            .and_then(|(delivery_id, months)| months.insert(scope.month).then_some(*delivery_id));
        // By the runtime's threads, since others wait for what is locked meanwhile.
        let interned = self.runtime.spawn(async move {
            let mut db = pool.acquire().await?;
            partition::ensure(&mut db, scope.month).await?;
            if let Some(delivery_id) = new_table {
                own_table::create(&mut db, delivery_id, scope.month).await?;
            }
            scope::intern(&mut db, &scope, of).await
        });
        let interned = self.runtime.block_on(interned).unwrap_or(Err(sqlx::Error::WorkerCrashed));
        interned.map_err(|error| {
            self.failure = Some(error.into());
            Stopped
        })
    }
}
