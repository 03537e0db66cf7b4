//! Rows as newline-delimited JSON: an object a line, records within it as objects of their own.

use std::io;

use super::{Destination, WriteRows};
use crate::generate::table::{Cells, Column, EmptyInJson, Shape, Table, write_json_escaped};

const FLUSH_AT: usize = 1 << 16;

pub(super) struct Json<'a> {
    out: Destination<'a>,
    table: Table,
    /// The text before the value of each column: `"id":`.
    names: Vec<Vec<u8>>,
    lines: Vec<u8>,
}

impl<'a> Json<'a> {
    pub(super) fn begin(table: &Table, out: Destination<'a>) -> Self {
        let name = |column: &Column| {
            let mut text = vec![b'"'];
            write_json_escaped(&mut text, column.name.as_bytes());
            text.extend_from_slice(b"\":");
            text
        };
        let names = table.columns.iter().map(name).collect();
        Self { out, table: table.clone(), names, lines: Vec::with_capacity(FLUSH_AT + 4096) }
    }

    /// Opens the record of a column, and closes the one before, where they are not the same.
    fn go_to(&mut self, before: &str, group: &str) {
        if before == group {
            return;
        }
        if !before.is_empty() {
            self.lines.push(b'}');
        }
        if !group.is_empty() {
            self.separate();
            self.lines.push(b'"');
            self.lines.extend_from_slice(group.as_bytes());
            self.lines.extend_from_slice(b"\":{");
        }
    }

    fn separate(&mut self) {
        if !self.lines.ends_with(b"{") {
            self.lines.push(b',');
        }
    }

    fn value(&mut self, shape: Shape, cell: &[u8]) {
        let is_in_json = match shape {
            Shape::Text | Shape::Time(_) => false,
            Shape::Number | Shape::Json | Shape::Map | Shape::List(_) => true,
        };
        match (cell, self.table.empty_in_json) {
            ([], EmptyInJson::Null | EmptyInJson::Omitted) => self.lines.extend_from_slice(b"null"),
            ([], EmptyInJson::Text) => self.lines.extend_from_slice(b"\"\""),
            _ if is_in_json => self.lines.extend_from_slice(cell),
            _ => {
                self.lines.push(b'"');
                write_json_escaped(&mut self.lines, cell);
                self.lines.push(b'"');
            }
        }
    }
}

impl WriteRows for Json<'_> {
    fn row(&mut self, cells: &Cells) -> io::Result<()> {
        self.lines.push(b'{');
        let mut group = "";
        for (at, cell) in cells.iter().enumerate() {
            if cell.is_empty() && self.table.empty_in_json == EmptyInJson::Omitted {
                continue;
            }
            let Column { group: of, shape, .. } = self.table.columns[at];
            self.go_to(group, of);
            group = of;
            self.separate();
            self.lines.extend_from_slice(&self.names[at]);
            self.value(shape, cell);
        }
        self.go_to(group, "");
        self.lines.extend_from_slice(b"}\n");
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
