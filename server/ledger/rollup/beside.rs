//! Sums on a thread of their own: adding up is a third of the work that a row takes, and nothing else waits for it.

use std::io;
use std::mem;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use super::{Entry, Rollup};

/// Entries that go over together: about 50 kB, and their texts.
const BATCH: usize = 256;
/// Batches on their way: as many as are read while sums are sorted and written to the disk.
const QUEUE: usize = 48;

/// A rollup that is summed on another thread.
pub struct Beside {
    batch: Vec<Entry>,
    /// Gone at the end.
    batches: Option<SyncSender<Vec<Entry>>>,
    thread: Option<JoinHandle<io::Result<Rollup>>>,
}

impl Beside {
    pub fn start(mut rollup: Rollup) -> io::Result<Self> {
        let (batches, incoming) = mpsc::sync_channel::<Vec<Entry>>(QUEUE);
        let thread = thread::Builder::new().name("summing".to_owned()).spawn(move || {
            for batch in incoming {
                batch.into_iter().try_for_each(|entry| rollup.add(entry))?;
            }
            Ok(rollup)
        })?;
        Ok(Self { batch: Vec::with_capacity(BATCH), batches: Some(batches), thread: Some(thread) })
    }

    /// # Errors
    /// Also what went wrong with earlier entries.
    pub fn add(&mut self, entry: Entry) -> io::Result<()> {
        self.batch.push(entry);
        if self.batch.len() < BATCH { Ok(()) } else { self.send() }
    }

    /// What all entries sum to.
    pub fn finish(mut self) -> io::Result<Rollup> {
        self.send()?;
        self.join()
    }

    fn send(&mut self) -> io::Result<()> {
        let batch = mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        match self.batches.as_ref().map(|batches| batches.send(batch)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended, and says why.
            Some(Err(_)) | None => self.join().and_then(|_| Err(stopped())),
        }
    }

    fn join(&mut self) -> io::Result<Rollup> {
        self.batches = None;
        self.thread.take().ok_or_else(stopped)?.join().map_err(|_| stopped())?
    }
}

fn stopped() -> io::Error {
    io::Error::other("summing stopped; the server's log says why")
}
