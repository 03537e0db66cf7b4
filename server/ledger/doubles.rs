//! Rows that stand twice in the files of a delivery: those after the first are rejected.
//!
//! Which rows these are is known only when all were read. So files in which there are any, which is rare, are read again
//! with what is [`Known`] by then.

use std::io;
use std::path::PathBuf;

use crate::billing::{Export, Identity, Rejection};

use super::identities::{Identities, Place, Repeated};

/// Identities of rows in one line of the database.
const PART: usize = 1 << 13;

/// What earlier reading told.
#[derive(Debug, Default)]
pub struct Known {
    repeated: Repeated,
    /// Files of a format without identities were put behind one another: a row is identified by all that it holds.
    is_of_whole_rows: bool,
}

/// Looks for rows that are there already.
pub struct Doubles {
    known: Known,
    identities: Identities,
    /// Sections are what lies between headers: files that somebody put behind one another.
    section: u32,
}

impl Known {
    pub fn of_whole_rows() -> Self {
        Self { is_of_whole_rows: true, ..Self::default() }
    }
}

impl Doubles {
    /// What does not fit into memory is written into the folder.
    pub fn new(folder: PathBuf, known: Known) -> Self {
        Self { known, identities: Identities::new(folder), section: 0 }
    }

    /// Whether a header in the middle of a file is reason to read it again by whole rows.
    pub fn asks_for_whole_rows(&self, export: &Export) -> bool {
        !self.known.is_of_whole_rows && !export.states_identities()
    }

    /// After a header, and at the beginning of a file.
    pub fn begin_section(&mut self) {
        self.section += 1;
    }

    /// Why the last row, a charge, does not count; `None` where it is the first of its identity.
    pub fn reject(&mut self, export: &mut Export, file_no: i16) -> io::Result<Option<Rejection>> {
        let Known { repeated, is_of_whole_rows } = &mut self.known;
        let identity = if *is_of_whole_rows { Some(export.whole_row()) } else { export.identity() };
        let Some(identity) = identity else { return Ok(None) };
        if let Some((first, section)) = repeated.meet(identity, (file_no, export.row()), self.section) {
            // Equal rows of one export are two charges; only another export repeats them.
            let is_another = *is_of_whole_rows && section == self.section;
            return Ok((!is_another).then(|| rejection(export, *is_of_whole_rows, first, file_no)));
        }
        self.identities.push(identity)?;
        Ok(None)
    }

    /// Sends the identities that the format states, some thousands at once and in their order. `Some` where rows repeat
    /// others: then everything is read again with that.
    pub fn finish<E: From<io::Error>>(
        &mut self,
        mut send: impl FnMut(Vec<Identity>) -> Result<(), E>,
    ) -> Result<Option<Known>, E> {
        let is_of_whole_rows = self.known.is_of_whole_rows;
        let mut part = Vec::new();
        let repeated = std::mem::take(&mut self.identities).finish(|identity| {
            // Whole rows may be equal in another delivery, and be others.
            if !is_of_whole_rows {
                part.push(identity);
            }
            if part.len() == PART { send(std::mem::take(&mut part)) } else { Ok(()) }
        })?;
        if !repeated.is_empty() {
            return Ok(Some(Known { repeated, is_of_whole_rows }));
        }
        if !part.is_empty() {
            send(part)?;
        }
        Ok(None)
    }
}

fn rejection(export: &Export, is_whole_row: bool, (first_file, first): Place, file_no: i16) -> Rejection {
    let place = if first_file == file_no {
        format!("row {first}")
    } else {
        format!("row {first} of file {}", first_file + 1)
    };
    let (column, found, expected) = if is_whole_row {
        ("", format!("the same as {place}, in a file with a header in its middle"), "each row once")
    } else {
        let found = format!("{}, which {place} has too", export.identity_text());
        (export.identity_column(), found, "each line item once")
    };
    let (row, column, expected) = (export.row(), column.to_owned(), expected.to_owned());
    Rejection { row, column, found, expected, is_repeated: true }
}
