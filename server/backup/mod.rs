//! Everything in one folder, and back: the database in one snapshot, the originals that it speaks of, and a manifest
//! with a hash of each part.
//!
//! A backup is made beside a running server: originals never change, and the database is dumped from one snapshot. It
//! gets its name when it is whole. A restore reads every part before it writes anything, and writes only where there
//! is nothing.

mod make;
mod manifest;
mod restore;

pub use make::make;
pub use manifest::{DUMP, Manifest, ORIGINALS, Part, Problem};
pub use restore::restore;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far a backup or a restore is, for whoever watches.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
