//! Batches that are decoded on a thread of their own, while the rows before them become charges.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use super::batch::Batch;
use super::decoder::Decoder;
use crate::billing::rows::Broken;

/// Decoding pauses while more bytes than this are decoded and not read yet.
const MAX_AHEAD: usize = 16 << 20;

pub(super) struct Ahead {
    batches: Receiver<Result<Option<Batch>, Broken>>,
    /// Batches that were read, to be filled again.
    used: Sender<Batch>,
    /// Dropped after the channels: their end wakes the thread, wherever it waits.
    _thread: Joined,
}

/// A thread that is waited for where it is dropped: none outlives the rows that it is for.
struct Joined(Option<JoinHandle<()>>);

impl Ahead {
    /// With what follows the batch that is read now.
    pub fn start(decoder: Decoder, now: &Batch) -> io::Result<Self> {
        let (sender, batches) = mpsc::sync_channel(1);
        let (used, returned) = mpsc::channel();
        let handed_out = now.bytes();
        let thread = thread::Builder::new().name("decoding".to_owned());
        let thread = thread.spawn(move || decode(decoder, handed_out, &sender, &returned))?;
        Ok(Self { batches, used, _thread: Joined(Some(thread)) })
    }

    /// The next batch in place of one that was read; `None` behind the last.
    pub fn next(&self, used: Batch) -> Result<Option<Batch>, Broken> {
        // Nobody waits for it where the last one was decoded.
        let _ = self.used.send(used);
        self.batches.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

fn decode(
    mut decoder: Decoder,
    mut handed_out: usize,
    batches: &SyncSender<Result<Option<Batch>, Broken>>,
    used: &Receiver<Batch>,
) {
    let mut batch = Batch::default();
    loop {
        let next = decoder.next(batch);
        let Ok(Some(next)) = next else {
            let _ = batches.send(next);
            return;
        };
        handed_out += next.bytes();
        if batches.send(Ok(Some(next))).is_err() {
            return;
        }
        batch = Batch::default();
        loop {
            let returned = if handed_out > MAX_AHEAD {
                let Ok(returned) = used.recv() else { return };
                returned
            } else {
                let Ok(returned) = used.try_recv() else { break };
                returned
            };
            handed_out = handed_out.saturating_sub(returned.bytes());
            batch = returned;
        }
    }
}

/// The thread ended without saying why, which its panic did.
pub(super) fn gone() -> Broken {
    Broken::Input(io::Error::other("decoding stopped before the end; the server's log says why"))
}
