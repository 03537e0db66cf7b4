//! The cost columns of a workbook. Its XML is parsed by the same crate as in [`crate::billing`]; which cells are a row and what they
//! say is decided here once more.

use std::io::{self, BufReader, Read, Seek};

use calamine::{Data, Reader as _, Xlsx};

use super::costs::CostColumns;
use crate::billing::Layout;

/// The cells of all rows: the crate hands them out while it holds the file.
pub(super) struct Columns(std::vec::IntoIter<Vec<String>>);

impl Columns {
    pub fn open<R: Read + Seek>(content: R, columns: &CostColumns, layout: Layout) -> io::Result<Self> {
        let mut book = Xlsx::new(BufReader::new(content)).map_err(io::Error::other)?;
        let sheet = book.sheet_names().get(layout.sheet.unwrap_or_default()).cloned();
        let sheet = sheet.ok_or_else(|| io::Error::other("the original has no such sheet"))?;
        let mut cells = book.worksheet_cells_reader(&sheet).map_err(io::Error::other)?;
        let header = layout.header_row.unwrap_or(1);
        let (mut names, mut places, mut rows) = (Vec::new(), Vec::new(), Vec::<Vec<String>>::new());
        let mut last = header;
        while let Some(cell) = cells.next_cell().map_err(io::Error::other)? {
            let (row, column) = (cell.get_position().0 + 1, cell.get_position().1 as usize);
            let text = text(&Data::from(cell.get_value().clone()), layout.decimal);
            if row < header || text.trim().is_empty() {
                continue;
            }
            if row == header {
                names.resize(names.len().max(column + 1), String::new());
                names[column] = text;
                continue;
            }
            if rows.is_empty() {
                places = columns.places(&names.iter().map(String::as_bytes).collect::<Vec<_>>());
            }
            if row > last {
                rows.push(vec![String::new(); places.len()]);
                last = row;
            }
            if let (Some(at), Some(row)) = (places.iter().position(|place| *place == column), rows.last_mut())
            {
                row[at] = text;
            }
        }
        if !rows.is_empty() {
            columns.check(&places)?;
        }
        Ok(Self(rows.into_iter()))
    }

    /// What the next row holds; `None` behind the last.
    pub fn next(&mut self) -> Option<Vec<String>> {
        self.0.next()
    }
}

/// Numbers have their decimals behind the sign that texts in the same column have.
fn text(value: &Data, decimal: u8) -> String {
    match value {
        Data::Float(number) => number.to_string().replace('.', &char::from(decimal).to_string()),
        value => value.to_string(),
    }
}
