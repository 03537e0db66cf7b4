//! Everything in one folder, and back: the database in one snapshot, the originals that it speaks of, and a manifest
//! with a hash of each part.
//!
//! A backup is made beside a running server: originals never change and none is removed meanwhile, and the database is dumped from one snapshot. It
//! gets its name when it is whole. A restore reads every part before it writes anything, writes only where there
//! is nothing, and marks what it writes to until all of it is there.

mod make;
mod manifest;
mod restore;
mod room;

pub use make::make;
pub use manifest::{DUMP, Manifest, ORIGINALS, Part, Problem};
pub use restore::Restore;
pub use room::{Room, expect_room, restore_of};

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a backup or a restore is, for whoever watches, and whether it is to go on.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<State>);

#[derive(Debug, Default)]
struct State {
    bytes: AtomicU64,
    is_stopped: AtomicBool,
}

impl Progress {
    /// Fails once it was stopped.
    fn add(&self, bytes: u64) -> io::Result<()> {
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.0.is_stopped.load(Ordering::Relaxed) { Err(io::Error::other("interrupted")) } else { Ok(()) }
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Ends what reads and writes, at its next block.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }
}
