//! Reads a file of usage on a thread of its own: what it says goes to the database in parts, and its bytes are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc;

use super::columns::ColumnNames;
use super::format::Format;
use super::import::without_nul;
use super::job::Job;
use super::metered::Metered;
use super::meters::Meters;
use super::reading::{Item, Remark, Zones, shown};
use crate::billing::{self, Content, Refusal, Rejection};
use crate::ledger::{self, Kept, OriginalWriter, Originals, Sha256};

/// Jobs, or devices, that go to the database together.
pub const BATCH: usize = 2_000;
/// Columns without a use that are named.
const NAMED: usize = 10;
/// Rejected rows that are kept; more of them than anybody would correct are counted.
const MOST_REJECTIONS: u64 = 10_000;

/// What a file amounted to while it was read.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub rows: u64,
    pub jobs: u64,
    pub samples: u64,
    pub rejected: u64,
    pub skipped: BTreeMap<&'static str, i64>,
    /// Accelerator-milliseconds.
    pub held: i128,
    pub without_time: u64,
    pub first: Option<DateTime<Utc>>,
    pub last: Option<DateTime<Utc>>,
    pub rejections: Vec<Rejection>,
    pub remarks: BTreeSet<Remark>,
    pub unread_columns: Vec<String>,
}

/// What the reading thread needs.
pub struct Reading {
    pub path: PathBuf,
    pub sha256: Sha256,
    pub format: Format,
    pub zones: Zones,
    /// What columns of CSV files are, as somebody said.
    pub said: Vec<ColumnNames>,
    pub originals: Originals,
    /// Nothing ends later: what says so has a wrong time.
    pub latest: DateTime<Utc>,
}

impl Reading {
    /// Reads to the end, and says where the file is kept or why it is not read.
    pub fn run(self, batches: &mpsc::Sender<Batch>) -> (Counts, Result<Kept, Refusal>) {
        let mut counts = Counts::default();
        let kept = self.read(&mut counts, batches);
        (counts, kept)
    }

    fn read(self, counts: &mut Counts, batches: &mpsc::Sender<Batch>) -> Result<Kept, Refusal> {
        let failed = |error: io::Error| {
            Refusal::new(format!("that the file cannot be read or kept ({error})"), "a readable file")
                .failed(&error)
        };
        let received_bytes = std::fs::metadata(&self.path).map_err(failed)?.len();
        let Content::Text(text) = billing::unpack(File::open(&self.path).map_err(failed)?)? else {
            return Err(Refusal::new("no text", "an export of usage as text"));
        };
        let mut kept = KeepingReader { text, writer: self.originals.write().map_err(failed)?, failure: None };
        let mut batch = Vec::with_capacity(BATCH);
        let mut meters = Meters::default();
        let latest = self.latest;
        let read = self.format.read(&mut kept, &self.zones, &self.said, &mut |item| {
            counts.rows +=
                u64::from(!matches!(item, Item::Metered(_) | Item::Remark(_) | Item::UnreadColumn(_)));
            let item = match ends_after(&item, latest) {
                None => item,
                Some(end) => {
                    if matches!(item, Item::Metered(_)) {
                        // Its row was counted as a sample.
                        counts.samples = counts.samples.saturating_sub(1);
                    }
                    Item::rejected(counts.rows, "", &format!("an end at {end}"), "a time that is over")
                }
            };
            match item {
                Item::Sample => counts.samples += 1,
                Item::Metered(metered) => {
                    counts.meter(&metered);
                    if meters.add(*metered) {
                        send(batches, meters.take());
                    }
                }
                Item::Job(job) => {
                    counts.add(&job);
                    batch.push(*job);
                    if batch.len() == BATCH {
                        // Nobody takes them only where the import has failed.
                        let _ = batches.blocking_send(Batch::Jobs(std::mem::take(&mut batch)));
                    }
                }
                Item::Remark(remark) => _ = counts.remarks.insert(remark),
                Item::UnreadColumn(column) => counts.unread_columns.push(without_nul(&shown(&column))),
                Item::Skipped(skip) => *counts.skipped.entry(skip.as_str()).or_default() += 1,
                Item::Rejected(rejection) => {
                    counts.rejected += 1;
                    if counts.rejected <= MOST_REJECTIONS {
                        counts.rejections.push(rejection);
                    }
                }
            }
        });
        read?;
        if !batch.is_empty() {
            let _ = batches.blocking_send(Batch::Jobs(batch));
        }
        send(batches, meters.take());
        // What stands behind the end of what was read is kept, too.
        io::copy(&mut kept, &mut io::sink()).map_err(failed)?;
        if let Some(error) = kept.failure.take() {
            return Err(failed(error));
        }
        let is_packed = ledger::is_packed(&self.path).map_err(failed)?;
        let packed = is_packed.then_some((self.sha256, self.path.as_path()));
        let (sha256, content_bytes) = kept.writer.finish(&self.originals, packed).map_err(failed)?;
        Ok(Kept { sha256, received_bytes, content_bytes })
    }
}

/// In parts, so that no more of them are copied than are written together.
fn send(batches: &mpsc::Sender<Batch>, metered: Vec<Metered>) {
    let mut metered = metered.into_iter();
    loop {
        let part: Vec<Metered> = metered.by_ref().take(BATCH).collect();
        // Nobody takes them only where the import has failed.
        if part.is_empty() || batches.blocking_send(Batch::Metered(part)).is_err() {
            return;
        }
    }
}

/// When something ends that ends later than it can.
fn ends_after(item: &Item, latest: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let end = match item {
        Item::Job(job) => job.held()?.1,
        Item::Metered(metered) => DateTime::from_timestamp_millis(metered.seen?.1)?,
        _ => return None,
    };
    (end > latest).then_some(end)
}

/// Hands out a text, and keeps what it hands out.
struct KeepingReader {
    text: Box<dyn Read + Send>,
    writer: OriginalWriter,
    failure: Option<io::Error>,
}

impl Read for KeepingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        if self.failure.is_none()
            && let Err(error) = self.writer.write_all(&buffer[..read])
        {
            self.failure = Some(error);
        }
        Ok(read)
    }
}

/// What goes to the database together.
pub enum Batch {
    Jobs(Vec<Job>),
    Metered(Vec<Metered>),
}

impl Counts {
    fn meter(&mut self, metered: &Metered) {
        let time = DateTime::from_timestamp_millis;
        if let Some((Some(from), Some(until))) = metered.seen.map(|(from, until)| (time(from), time(until))) {
            self.first = Some(self.first.map_or(from, |first| first.min(from)));
            self.last = Some(self.last.map_or(until, |last| last.max(until)));
        }
    }

    /// How it was understood, and what of it was placed in no month.
    pub fn remark(&self) -> Option<String> {
        if self.rows == 0 {
            return Some("there is nothing in it: no row, no series".to_owned());
        }
        let without_time = (self.without_time > 0).then(|| {
            format!(
                "{} of {} jobs do not say when they ran and count in no month: export Submit, Start and End, too",
                self.without_time, self.jobs
            )
        });
        let unread = (!self.unread_columns.is_empty()).then(|| {
            let (all, named) = (self.unread_columns.len(), self.unread_columns.len().min(NAMED));
            let more = if all > named { format!(" and {} more", all - named) } else { String::new() };
            format!("columns that were not used: {}{more}", self.unread_columns[..named].join(", "))
        });
        let remarks = self.remarks.iter().map(|it| it.sentence().to_owned());
        let all: Vec<String> = without_time.into_iter().chain(remarks).chain(unread).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn add(&mut self, job: &Job) {
        self.jobs += 1;
        self.held += i128::from(job.accelerators()) * i128::from(job.held_seconds);
        match job.held() {
            Some((begins, ends)) => {
                self.first = Some(self.first.map_or(begins, |first| first.min(begins)));
                self.last = Some(self.last.map_or(ends, |last| last.max(ends)));
            }
            None => self.without_time += 1,
        }
    }
}
