//! Containers: what rows are written in. A format makes the rows and knows none of them.

mod csv;
mod json;
mod parquet;

use std::io::{self, Write};

use super::Container;
use super::table::{Cells, Table};

/// Where a file goes.
pub type Destination<'a> = Box<dyn Write + Send + 'a>;

/// Writes rows into one file.
pub(crate) trait WriteRows {
    fn row(&mut self, cells: &Cells) -> io::Result<()>;
    /// Writes what is left, and ends the file.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Begins a file.
pub(crate) fn begin<'a>(
    container: Container,
    table: &Table,
    out: Destination<'a>,
) -> io::Result<Box<dyn WriteRows + 'a>> {
    Ok(match container {
        Container::Csv => Box::new(csv::Csv::begin(table, out)?),
        Container::Json => Box::new(json::Json::begin(table, out)),
        Container::Parquet => Box::new(parquet::Parquet::begin(table, out)?),
    })
}
