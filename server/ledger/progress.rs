//! How far an import is, shared with whoever shows it, and the wish that it stop.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Of all files of a call together. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    counts: Arc<Counts>,
    cancelled_by: Arc<OnceLock<String>>,
}

#[derive(Debug, Default)]
struct Counts {
    rows: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// Rows read so far.
    pub fn rows(&self) -> u64 {
        self.counts.rows.load(Ordering::Relaxed)
    }

    /// Bytes of the files, as they arrived, read so far. Read ahead, so about.
    pub fn bytes(&self) -> u64 {
        self.counts.bytes.load(Ordering::Relaxed)
    }

    /// For looking at a file beside its reading: that is no progress, and stops with it.
    pub(super) fn uncounted(&self) -> Self {
        Self { counts: Arc::default(), cancelled_by: Arc::clone(&self.cancelled_by) }
    }

    /// Asks the import to stop. It does so soon, unless it has begun to publish.
    pub fn cancel(&self, by: &str) {
        self.cancelled_by.get_or_init(|| by.to_owned());
    }

    /// Who asked that it stop.
    pub fn cancelled_by(&self) -> Option<&str> {
        self.cancelled_by.get().map(String::as_str)
    }

    pub(super) fn add_rows(&self, rows: u64) {
        self.counts.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// What was read is read again.
    pub(super) fn begin_again(&self, (rows, bytes): (u64, u64)) {
        self.counts.rows.store(rows, Ordering::Relaxed);
        self.pass(bytes);
    }

    /// So many bytes lie behind, whether or not they were read: those of a duplicate are not.
    pub(super) fn pass(&self, bytes: u64) {
        self.counts.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// A file whose reading counts as progress, and fails once it is to stop.
pub(super) struct Counted<R> {
    input: R,
    progress: Progress,
    /// Where it is read next, and up to where everything was read: what is read out of order, the columns of a Parquet file,
    /// is read once more in order.
    at: u64,
    read: u64,
}

impl<R> Counted<R> {
    pub fn new(input: R, progress: Progress) -> Self {
        Self { input, progress, at: 0, read: 0 }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.progress.cancelled_by().is_some() {
            return Err(io::Error::other("the import was canceled"));
        }
        let read = self.input.read(buffer)?;
        let end = self.at + read as u64;
        if self.at <= self.read && end > self.read {
            self.progress.counts.bytes.fetch_add(end - self.read, Ordering::Relaxed);
            self.read = end;
        }
        self.at = end;
        Ok(read)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.input.seek(to)?;
        Ok(self.at)
    }
}
