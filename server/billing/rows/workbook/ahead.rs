//! Rows that are read on a thread of their own, a batch at a time, while the rows before them become charges.

use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use super::Book;
use super::sheet::{Merges, SheetRows};
use crate::billing::rows::record::Record;
use crate::billing::rows::{Broken, Layout};

/// Bytes of a batch. One that holds a long row alone has more, up to that of any row.
const MAX_BATCH: usize = 1 << 20;
/// Batches that were read and not asked for yet.
const BATCHES: usize = 4;

/// Some rows.
#[derive(Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    /// Where in `text` each cell is.
    bounds: Vec<(u32, u32)>,
    /// Where in `bounds` each row ends.
    ends: Vec<usize>,
    /// The number of each row in its sheet, from 1.
    numbers: Vec<u32>,
}

impl Batch {
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    fn bytes(&self) -> usize {
        let numbers = size_of_val(&self.ends[..]) + size_of_val(&self.numbers[..]);
        self.text.len() + size_of_val(&self.bounds[..]) + numbers
    }

    /// Appends a row, with empty cells behind its last where it has fewer than `width`.
    fn push(&mut self, row: &SheetRows<'_>, width: usize) {
        let (text, bounds) = (row.text(), row.bounds());
        let start = self.text.len() as u32;
        self.text.extend_from_slice(text);
        self.numbers.push(row.number());
        self.bounds.extend(bounds.iter().map(|(from, to)| (start + from, start + to)));
        let missing = width.saturating_sub(bounds.len());
        self.bounds.extend(std::iter::repeat_n((start, start), missing));
        self.ends.push(self.bounds.len());
    }

    fn cells(&self, row: Option<usize>) -> std::ops::Range<usize> {
        let end = |row: usize| self.ends.get(row).copied();
        let Some((row, last)) = row.and_then(|row| Some((row, end(row)?))) else { return 0..0 };
        row.checked_sub(1).and_then(end).unwrap_or(0)..last
    }

    pub fn record(&self, row: Option<usize>) -> Record<'_> {
        Record::of_cells(&self.text, &self.bounds[self.cells(row)])
    }

    /// The number of a row in its sheet.
    pub fn number(&self, row: Option<usize>) -> Option<u32> {
        self.numbers.get(row?).copied()
    }

    /// Takes the first byte off each cell of a row for which `is_cut`.
    pub fn cut_starts(&mut self, row: Option<usize>, is_cut: impl Fn(&[u8]) -> bool) {
        let cells = self.cells(row);
        for (start, end) in &mut self.bounds[cells] {
            *start += u32::from(is_cut(&self.text[*start as usize..*end as usize]));
        }
    }
}

pub(super) struct Ahead {
    batches: Receiver<Result<Batch, Broken>>,
    /// Dropped after the channel: its end wakes the thread, wherever it waits.
    _thread: Joined,
}

/// A thread that is waited for where it is dropped: none outlives the rows that it is for.
struct Joined(Option<JoinHandle<()>>);

impl Ahead {
    /// With the rows behind the header.
    pub fn start(book: Box<Book>, layout: Layout, width: usize, once: Vec<usize>) -> io::Result<Self> {
        let (sender, batches) = mpsc::sync_channel(BATCHES);
        let thread = thread::Builder::new().name("workbook".to_owned());
        let thread = thread.spawn(move || {
            let mut book = book;
            if let Err(broken) = read(&mut book, layout, width, once, &sender) {
                // Nobody waits for it where the rows were dropped.
                let _ = sender.send(Err(broken));
            }
        })?;
        Ok(Self { batches, _thread: Joined(Some(thread)) })
    }

    /// The next batch, which has a row at least; `None` behind the last.
    pub fn next(&self) -> Result<Option<Batch>, Broken> {
        let batch = self.batches.recv().unwrap_or_else(|_| Err(gone()))?;
        Ok((batch.rows() > 0).then_some(batch))
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

/// Hands out batches, and an empty one behind the last.
fn read(
    book: &mut Book,
    layout: Layout,
    width: usize,
    once: Vec<usize>,
    batches: &SyncSender<Result<Batch, Broken>>,
) -> Result<(), Broken> {
    let sheet = layout.sheet.unwrap_or_default();
    let header = layout.header_row.unwrap_or_default();
    let merges = Merges::read(book, sheet, header, once)?;
    let mut batch = Batch::default();
    if let Some(mut rows) = SheetRows::open(book, sheet, layout.decimal)? {
        rows.repeat(merges);
        while rows.advance()? {
            if rows.number() <= header {
                continue;
            }
            batch.push(&rows, width);
            if batch.bytes() >= MAX_BATCH && batches.send(Ok(std::mem::take(&mut batch))).is_err() {
                return Ok(());
            }
        }
    }
    let is_empty = batch.rows() == 0;
    if batches.send(Ok(batch)).is_ok() && !is_empty {
        let _ = batches.send(Ok(Batch::default()));
    }
    Ok(())
}

/// The thread ended without saying why.
pub(super) fn gone() -> Broken {
    Broken::Input(io::Error::other("reading stopped before the end; the server's log says why"))
}
