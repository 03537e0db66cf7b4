//! The rows of a sheet that have a value, cell by cell.

use std::collections::HashMap;
use std::io::BufReader;

use calamine::{Reader as _, XlsxCellReader};

use super::cells::{Merged, Writing};
use super::{Book, Parts, damaged, guarded};
use crate::billing::rows::record::Record;
use crate::billing::rows::{Broken, MAX_RECORD};

/// What a sheet has at most.
const MAX_ROWS: u32 = 1 << 20;
const MAX_COLUMNS: u32 = 1 << 14;
/// Bytes that merged cells repeat to in all rows of a sheet: a file of few bytes could be years of work otherwise.
const MAX_REPEATED: usize = 256 << 20;

pub(super) struct SheetRows<'a> {
    cells: XlsxCellReader<'a, BufReader<Parts>>,
    writing: Writing,
    merges: Merges,
    /// The current row, from 1; 0 before the first.
    number: u32,
    text: Vec<u8>,
    /// Where in `text` the cells of the row are.
    bounds: Vec<(u32, u32)>,
    filled: usize,
    /// The first cell of the next row, which tells that the current one ended; or why there is none.
    next: Option<Result<Cell, Broken>>,
    is_ended: bool,
}

struct Cell {
    row: u32,
    column: u32,
    text: Vec<u8>,
    merged: Merged,
}

/// Cells that stretch over several rows.
#[derive(Default)]
pub(super) struct Merges {
    /// The last row of each, by its first row and its column.
    last_rows: HashMap<(u32, u32), u32>,
    /// Columns in which none is repeated.
    once: Vec<usize>,
    /// Those that reach into the rows to come, at most one in each column.
    open: Vec<(u32, Cell)>,
    /// Bytes that were repeated so far.
    repeated: usize,
}

impl Merges {
    /// Those of a sheet, below its header: what is merged with a name of a column is no value of a row.
    pub fn read(book: &mut Book, sheet: usize, header: u32, once: Vec<usize>) -> Result<Self, Broken> {
        let all = guarded(|| book.merge_cells_by_sheet_id(sheet))?;
        let over_rows =
            all.into_iter().filter(|merge| merge.end.0 > merge.start.0 && merge.start.0 >= header);
        let mut by_column: Vec<_> =
            over_rows.map(|merge| (merge.start.1, merge.start.0, merge.end.0)).collect();
        by_column.sort_unstable();
        if let Some([_, (column, row, _)]) =
            by_column.array_windows().find(|[one, next]| one.0 == next.0 && next.1 <= one.2)
        {
            return Err(damaged(format!("merged cells that overlap at {}", cell_name(*row, *column))));
        }
        let last_rows = by_column.into_iter().map(|(column, row, last)| ((row, column), last)).collect();
        Ok(Self { last_rows, once, ..Self::default() })
    }
}

/// As spreadsheets name a cell, of which both numbers are from 0: `C8`.
fn cell_name(row: u32, mut column: u32) -> String {
    let mut letters = Vec::new();
    loop {
        letters.insert(0, char::from(b'A' + (column % 26) as u8));
        if column < 26 {
            break;
        }
        column = column / 26 - 1;
    }
    format!("{}{}", letters.into_iter().collect::<String>(), row + 1)
}

impl<'a> SheetRows<'a> {
    /// `None` where there is no such sheet.
    pub fn open(book: &'a mut Book, sheet: usize, decimal: u8) -> Result<Option<Self>, Broken> {
        let Some(name) = book.sheets_metadata().get(sheet).map(|sheet| sheet.name.clone()) else {
            return Ok(None);
        };
        let writing = Writing { decimal, is_1904: book.has_1904_epoch() };
        let cells = guarded(|| book.worksheet_cells_reader(&name))?;
        Ok(Some(Self {
            cells,
            writing,
            merges: Merges::default(),
            number: 0,
            text: Vec::new(),
            bounds: Vec::new(),
            filled: 0,
            next: None,
            is_ended: false,
        }))
    }

    /// Repeats cells that stretch over several rows.
    pub fn repeat(&mut self, merges: Merges) {
        self.merges = merges;
    }

    /// The number of the row in its sheet, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Cells with a value.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Up to the last cell with a value.
    pub fn record(&self) -> Record<'_> {
        Record::of_cells(&self.text, &self.bounds)
    }

    pub fn text(&self) -> &[u8] {
        &self.text
    }

    pub fn bounds(&self) -> &[(u32, u32)] {
        &self.bounds
    }

    /// Moves to the next row that has a value; false behind the last.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        self.text.clear();
        self.bounds.clear();
        self.filled = 0;
        let first = match self.next.take() {
            None => self.next_cell()?,
            Some(next) => Some(next?),
        };
        let Some(first) = first else { return Ok(false) };
        if first.row < self.number {
            return Err(damaged("its rows are out of order"));
        }
        // Rows are numbered from 1 for people, cells from 0.
        self.number = first.row + 1;
        let row = first.row;
        self.add(first)?;
        loop {
            match self.next_cell().transpose() {
                Some(Ok(cell)) if cell.row == row => self.add(cell)?,
                next => {
                    self.next = next;
                    break;
                }
            }
        }
        self.add_merged(row)?;
        Ok(true)
    }

    /// The next cell with a value.
    fn next_cell(&mut self) -> Result<Option<Cell>, Broken> {
        // Behind its end, the crate would take what follows the cells for more of them.
        if self.is_ended {
            return Ok(None);
        }
        let mut text = Vec::new();
        while let Some(cell) = guarded(|| self.cells.next_cell())? {
            let (row, column) = cell.get_position();
            if row >= MAX_ROWS || column >= MAX_COLUMNS {
                return Err(damaged("a cell stands outside of its sheet"));
            }
            let merged = self.writing.write(cell.get_value(), &mut text);
            if !text.is_empty() {
                return Ok(Some(Cell { row, column, text, merged }));
            }
        }
        self.is_ended = true;
        Ok(None)
    }

    fn add(&mut self, cell: Cell) -> Result<(), Broken> {
        self.put(&cell)?;
        let is_repeated =
            cell.merged == Merged::Repeated && !self.merges.once.contains(&(cell.column as usize));
        if let Some(last) = self.merges.last_rows.get(&(cell.row, cell.column)).filter(|_| is_repeated) {
            self.merges.open.push((*last, cell));
        }
        Ok(())
    }

    fn put(&mut self, cell: &Cell) -> Result<(), Broken> {
        let (start, column) = (self.text.len(), cell.column as usize);
        if start + cell.text.len() > MAX_RECORD {
            return Err(Broken::TooLong { field: column, quoted: false });
        }
        self.text.extend_from_slice(&cell.text);
        if self.bounds.len() <= column {
            self.bounds.resize(column + 1, (0, 0));
        }
        self.bounds[column] = (start as u32, self.text.len() as u32);
        self.filled += 1;
        Ok(())
    }

    /// Fills cells of the row that are covered by one above it.
    fn add_merged(&mut self, row: u32) -> Result<(), Broken> {
        let mut open = std::mem::take(&mut self.merges.open);
        open.retain(|(last, _)| *last >= row);
        let before = self.bytes();
        for (_, cell) in open.iter().filter(|(_, cell)| cell.row < row) {
            let bounds = self.bounds.get(cell.column as usize).copied().unwrap_or_default();
            if bounds.0 == bounds.1 {
                self.put(cell)?;
            }
        }
        self.merges.open = open;
        self.merges.repeated += self.bytes() - before;
        if self.merges.repeated > MAX_REPEATED {
            let found =
                format!("a workbook with merged cells whose texts repeat to more than {MAX_REPEATED} bytes");
            return Err(Broken::Workbook(found));
        }
        Ok(())
    }

    /// Of the row.
    fn bytes(&self) -> usize {
        self.text.len() + size_of_val(&self.bounds[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_named_as_spreadsheets_do() {
        for (row, column, name) in
            [(0, 0, "A1"), (7, 2, "C8"), (0, 25, "Z1"), (0, 26, "AA1"), (8, 701, "ZZ9"), (9, 16_383, "XFD10")]
        {
            assert_eq!(cell_name(row, column), name);
        }
    }
}
