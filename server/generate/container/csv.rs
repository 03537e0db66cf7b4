//! Rows as CSV: quotes only where they must be, lines end in a line feed.

use std::io;

use super::{Destination, WriteRows};
use crate::generate::amount::write_cell;
use crate::generate::table::{Cells, Table};

const FLUSH_AT: usize = 1 << 16;

pub(super) struct Csv<'a> {
    out: Destination<'a>,
    lines: Vec<u8>,
}

impl<'a> Csv<'a> {
    pub(super) fn begin(table: &Table, mut out: Destination<'a>) -> io::Result<Self> {
        if table.has_mark {
            out.write_all(b"\xef\xbb\xbf")?;
        }
        let mut names = Cells::default();
        for column in &table.columns {
            names.text(&column.path());
        }
        let mut csv = Self { out, lines: Vec::with_capacity(FLUSH_AT + 4096) };
        csv.row(&names)?;
        Ok(csv)
    }
}

impl WriteRows for Csv<'_> {
    fn row(&mut self, cells: &Cells) -> io::Result<()> {
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                self.lines.push(b',');
            }
            write_cell(&mut self.lines, cell);
        }
        self.lines.push(b'\n');
        if self.lines.len() >= FLUSH_AT {
            self.out.write_all(&self.lines)?;
            self.lines.clear();
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.write_all(&self.lines)?;
        self.out.flush()
    }
}
