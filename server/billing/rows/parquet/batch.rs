//! Some rows that were read together: their cells, column after column.

use super::MAX_BATCH;

/// The cells of some rows.
#[derive(Default)]
pub(super) struct Batch {
    pub rows: usize,
    /// All texts, one behind the other.
    text: Vec<u8>,
    /// Where each of them begins, and the last ends.
    bounds: Vec<u32>,
    /// The first cell of each column; `None` where it is not read.
    columns: Vec<Option<usize>>,
}

impl Batch {
    /// Begins anew with so many rows. Releases a buffer of more than 16 MB of texts.
    pub fn begin(&mut self, rows: usize) {
        self.rows = rows;
        if self.text.capacity() > MAX_BATCH / 4 {
            self.text = Vec::new();
        }
        self.text.clear();
        self.bounds.clear();
        self.bounds.push(0);
        self.columns.clear();
    }

    /// Begins the next column, or leaves it out.
    pub fn column(&mut self, is_read: bool) {
        self.columns.push(is_read.then(|| self.bounds.len() - 1));
    }

    /// The text to which the next cell of the column is appended.
    pub fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Where the next cell begins.
    pub fn start(&self) -> usize {
        self.bounds.last().map_or(0, |start| *start as usize)
    }

    /// Ends the cell. Texts are at most [`MAX_BATCH`], so a place among them fits into 32 bits.
    pub fn end_cell(&mut self) {
        self.bounds.push(self.text.len() as u32);
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.text.len() + size_of_val(&self.bounds[..])
    }

    /// All texts, among which [`Self::cells`] are.
    pub fn texts(&self) -> &[u8] {
        &self.text
    }

    /// Where the cells of a row are, column by column; what is not read is empty.
    pub fn cells(&self, row: usize, out: &mut Vec<(u32, u32)>) {
        out.clear();
        out.extend(self.columns.iter().map(|first| match first {
            Some(first) => (self.bounds[first + row], self.bounds[first + row + 1]),
            None => (0, 0),
        }));
    }
}
