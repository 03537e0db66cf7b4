//! Sums on a thread of their own: adding up is a third of the work that a row takes, and nothing else waits for it.

use std::io;
use std::mem;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use super::entry::Entry;
use super::{Rollup, stopped};

/// Entries that go over together: about 50 kB …
const BATCH: usize = 256;
/// … and of their texts at most about this many bytes.
const BATCH_TEXT: usize = 64 << 10;
/// Batches on their way: as many as are read while sums are sorted and written to the disk.
const QUEUE: usize = 48;

/// A rollup that is summed on another thread.
pub struct Beside {
    batch: Vec<Entry>,
    /// Bytes of the texts in it.
    text: usize,
    /// Gone at the end.
    batches: Option<SyncSender<Vec<Entry>>>,
    /// Batches that were summed, to be filled again.
    emptied: Receiver<Vec<Entry>>,
    thread: Option<JoinHandle<io::Result<Rollup>>>,
}

impl Beside {
    pub fn start(mut rollup: Rollup) -> io::Result<Self> {
        let (batches, incoming) = mpsc::sync_channel::<Vec<Entry>>(QUEUE);
        let (empty, emptied) = mpsc::channel();
        let thread = thread::Builder::new().name("summing".to_owned()).spawn(move || {
            for mut batch in incoming {
                rollup.fetch(&batch);
                batch.drain(..).try_for_each(|entry| rollup.add(entry))?;
                // Nobody takes the last ones.
                let _ = empty.send(batch);
            }
            Ok(rollup)
        })?;
        let batch = Vec::with_capacity(BATCH);
        Ok(Self { batch, text: 0, batches: Some(batches), emptied, thread: Some(thread) })
    }

    /// # Errors
    /// Also what went wrong with earlier entries.
    pub fn add(&mut self, entry: Entry) -> io::Result<()> {
        self.text += entry.resource.as_ref().map_or(0, |resource| resource.len());
        self.batch.push(entry);
        if self.batch.len() < BATCH && self.text < BATCH_TEXT { Ok(()) } else { self.send() }
    }

    /// What all entries sum to.
    pub fn finish(mut self) -> io::Result<Rollup> {
        self.send()?;
        self.join()
    }

    fn send(&mut self) -> io::Result<()> {
        let empty = self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        let batch = mem::replace(&mut self.batch, empty);
        self.text = 0;
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
