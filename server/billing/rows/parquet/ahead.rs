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
    /// `None` only while it is dropped.
    channels: Option<Channels>,
    thread: Option<JoinHandle<()>>,
}

struct Channels {
    batches: Receiver<Result<Option<Batch>, Broken>>,
    /// Batches that were read, to be filled again.
    used: Sender<Batch>,
}

impl Ahead {
    /// With what follows the batch that is read now.
    pub fn start(decoder: Decoder, now: &Batch) -> io::Result<Self> {
        let (sender, batches) = mpsc::sync_channel(1);
        let (used, returned) = mpsc::channel();
        let handed_out = now.bytes();
        let thread = thread::Builder::new().name("decoding".to_owned());
        let thread = thread.spawn(move || decode(decoder, handed_out, &sender, &returned))?;
        Ok(Self { channels: Some(Channels { batches, used }), thread: Some(thread) })
    }

    /// The next batch in place of one that was read; `None` behind the last.
    pub fn next(&mut self, used: Batch) -> Result<Option<Batch>, Broken> {
        let channels = self.channels.as_ref().ok_or_else(gone)?;
        // Nobody waits for it where the last one was decoded.
        let _ = channels.used.send(used);
        channels.batches.recv().unwrap_or_else(|_| Err(gone()))
    }
}

/// No thread outlives the rows that it is for.
impl Drop for Ahead {
    fn drop(&mut self) {
        // Closing both channels wakes the thread, wherever it waits.
        self.channels = None;
        if let Some(thread) = self.thread.take() {
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
