//! How far an import is, shared with whoever shows it, and the wish that it stop.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Of all files of a call together. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<State>);

#[derive(Debug, Default)]
struct State {
    rows: AtomicU64,
    bytes: AtomicU64,
    cancelled_by: OnceLock<String>,
}

impl Progress {
    /// Rows read so far.
    pub fn rows(&self) -> u64 {
        self.0.rows.load(Ordering::Relaxed)
    }

    /// Bytes of the files, as they arrived, read so far. Read ahead, so about.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Asks the import to stop. It does so soon, unless it has begun to publish.
    pub fn cancel(&self, by: &str) {
        self.0.cancelled_by.get_or_init(|| by.to_owned());
    }

    /// Who asked that it stop.
    pub fn cancelled_by(&self) -> Option<&str> {
        self.0.cancelled_by.get().map(String::as_str)
    }

    pub(super) fn add_rows(&self, rows: u64) {
        self.0.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// What was read is read again.
    pub(super) fn begin_again(&self, (rows, bytes): (u64, u64)) {
        self.0.rows.store(rows, Ordering::Relaxed);
        self.pass(bytes);
    }

    /// So many bytes lie behind, whether or not they were read: those of a duplicate are not.
    pub(super) fn pass(&self, bytes: u64) {
        self.0.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// A file whose reading counts as progress.
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
        let read = self.input.read(buffer)?;
        let end = self.at + read as u64;
        if self.at <= self.read && end > self.read {
            self.progress.0.bytes.fetch_add(end - self.read, Ordering::Relaxed);
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
