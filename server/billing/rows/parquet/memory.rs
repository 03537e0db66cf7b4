//! What the columns of a file take of memory, all of them together.
//!
//! Every column that is read has a dictionary and a page at hand until its row group ends, and a file may have ten thousand
//! columns. Writers make dictionaries and pages of about 1 MB (Spark, Arrow and what builds on them); in a report with all of
//! its columns some twenty come near that, ids, names and amounts, and the others, mostly tags, have a few KB. So much is kept
//! at hand that such a report is unpacked once. Where columns take more, those beyond it are put away after each batch of rows
//! and unpacked again for the next: slow, but a thousand columns of 1 MB are read. Refused is one column that takes too much
//! alone, and what would have to be unpacked again too often for the size of its file.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::Result;
use zstd::bulk::Decompressor;

use super::pages::refused;

/// Bytes after which a column is put away.
const MAX_KEPT: u64 = 56 << 20;
/// Bytes at a time, so that the column that is being read has the other half to itself, whatever is kept: a page may have 32 MB.
const MAX_AT_ONCE: u64 = 2 * MAX_KEPT;
const TOO_MUCH: &str = "dictionaries and pages of more than 112 MB at a time";
/// Bytes that may be unpacked again: of any file, and for each byte that it has. A column whose every row is another text has
/// some 3 bytes a row, packed, and 2 KB of its dictionary and page are unpacked again for it at worst.
const MAX_AGAIN: u64 = 256 << 20;
const MAX_AGAIN_PER_BYTE: u64 = 1024;
const TOO_OFTEN: &str =
    "dictionaries and pages of more than 56 MB, too many to be unpacked again for each thousand rows";

/// Bytes that a file may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Of everything that is unpacked at a time, with what dictionaries become and the page that is being unpacked.
    pub at_once: u64,
    /// Of what stays at hand between two batches of rows.
    pub kept: u64,
    /// Unpacked once more, over the whole file.
    pub again: u64,
}

impl Limits {
    /// Of a file of so many bytes.
    pub fn of_file(bytes: u64) -> Self {
        let again = bytes.saturating_mul(MAX_AGAIN_PER_BYTE).saturating_add(MAX_AGAIN);
        Self { at_once: MAX_AT_ONCE, kept: MAX_KEPT, again }
    }
}

/// Counts for all columns of a file, and unpacks for them: a decompressor of zstd alone takes 150 KB.
#[derive(Clone)]
pub(super) struct Memory(Arc<Counted>);

struct Counted {
    limits: Limits,
    held: AtomicU64,
    again: AtomicU64,
    unzstd: Mutex<Option<Decompressor<'static>>>,
}

impl Memory {
    pub fn new(limits: Limits) -> Self {
        let (held, again) = (AtomicU64::new(0), AtomicU64::new(0));
        Self(Arc::new(Counted { limits, held, again, unzstd: Mutex::new(None) }))
    }

    /// Counts so many bytes until what it answers is dropped.
    pub fn hold(&self, bytes: u64) -> Result<Held> {
        let mut held = Held { memory: self.clone(), bytes: 0 };
        held.more(bytes)?;
        Ok(held)
    }

    pub fn held(&self) -> u64 {
        self.0.held.load(Ordering::Relaxed)
    }

    /// Whether a column that was read should be put away.
    pub fn is_crowded(&self) -> bool {
        self.held() > self.0.limits.kept
    }

    /// Counts bytes that were unpacked before.
    pub fn again(&self, bytes: u64) -> Result<()> {
        let before = self.0.again.fetch_add(bytes, Ordering::Relaxed);
        let is_too_often = before.saturating_add(bytes) > self.0.limits.again;
        if is_too_often { Err(refused(TOO_OFTEN)) } else { Ok(()) }
    }

    /// Unpacks what zstd packed; answers how many bytes of `page` that fills.
    pub fn unzstd(&self, packed: &[u8], page: &mut [u8]) -> io::Result<usize> {
        let mut shared = self.0.unzstd.lock().unwrap_or_else(PoisonError::into_inner);
        let unzstd = match &mut *shared {
            Some(unzstd) => unzstd,
            none => none.insert(Decompressor::new()?),
        };
        unzstd.decompress_to_buffer(packed, page)
    }
}

/// Bytes that count until it is dropped.
pub(super) struct Held {
    memory: Memory,
    bytes: u64,
}

impl Held {
    /// Counts more of them.
    pub fn more(&mut self, bytes: u64) -> Result<()> {
        self.bytes += bytes;
        let before = self.memory.0.held.fetch_add(bytes, Ordering::Relaxed);
        let is_too_much = before.saturating_add(bytes) > self.memory.0.limits.at_once;
        if is_too_much { Err(refused(TOO_MUCH)) } else { Ok(()) }
    }

    /// Counts none of them any more.
    pub fn clear(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.memory.0.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A page that counts as long as anybody has a slice of it: each text of a row is one.
    pub fn page(self, page: Vec<u8>) -> Bytes {
        Bytes::from_owner(HeldPage { page, _held: self })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.clear();
    }
}

struct HeldPage {
    page: Vec<u8>,
    _held: Held,
}

impl AsRef<[u8]> for HeldPage {
    fn as_ref(&self) -> &[u8] {
        &self.page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_until_its_last_slice_is_gone() {
        let memory = Memory::new(Limits { at_once: 100, kept: 50, again: 10 });
        let page = memory.hold(60).unwrap().page(vec![7; 60]);
        let text = page.slice(10..12);
        drop(page);
        assert_eq!((memory.held(), memory.is_crowded(), &text[..]), (60, true, &[7, 7][..]));
        let refusal = memory.hold(41).err().unwrap().to_string();
        assert!(refusal.contains(TOO_MUCH), "{refusal}");
        let mut decoder = memory.hold(0).unwrap();
        decoder.more(40).unwrap();
        assert!(decoder.more(1).is_err());
        decoder.clear();
        drop(text);
        assert_eq!((memory.held(), memory.is_crowded()), (0, false));
        memory.again(10).unwrap();
        assert!(memory.again(1).err().unwrap().to_string().contains(TOO_OFTEN));
    }
}
