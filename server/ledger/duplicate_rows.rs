//! Rows that stand twice in the files of a delivery: those after the first are rejected.
//!
//! Which rows these are is known only when all were read. So files in which there are any, which is rare, are read again
//! with what is [`Known`] by then.
//!
//! Where the format does not state what identifies a row, equal rows of one export are charges of their own, and only a
//! header in the middle of a file says that there are two exports in it. The later one is a repetition where all of its
//! rows stand before it. Where only some do, nobody but its owner knows whether these are the same charges, and the file is
//! refused: rejecting them could lose money, and loading them could count it twice.

use std::io;
use std::path::PathBuf;

use crate::billing::{Export, Identity, Refusal, Rejection};

use super::identities::{First, Identities, Repeated};

/// Identities of rows in one line of the database.
const PART: usize = 1 << 13;

/// What earlier reading found.
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
    section: Section,
}

/// What lies between two headers of a file: one of the exports that somebody put behind one another.
#[derive(Default)]
struct Section {
    number: u32,
    /// The row that its header has; `None` at the beginning of a file.
    header: Option<u64>,
    /// Rows with an identity.
    rows: u64,
    /// Of these, the ones that an earlier section of the file has too.
    repeated: u64,
    /// The first of them, and the row that it repeats.
    first_repeated: Option<(u64, u64)>,
}

impl Section {
    /// # Errors
    /// Some of its rows repeat others, and some do not.
    fn end(&self) -> Result<(), Refusal> {
        let Some((row, first)) = self.first_repeated.filter(|_| self.repeated < self.rows) else {
            return Ok(());
        };
        let (rows, repeated) = (self.rows, self.repeated);
        let stand = if repeated == 1 { "stands" } else { "stand" };
        let found = format!(
            "another header, and {repeated} of the {rows} charges from there to the next header or the end {stand} above it, \
             too (row {row} is the same as row {first}; the first row below the first header is row 1)"
        );
        let expected = "one export. If the repeated rows are the same charges, delete them from the file; if they are charges \
                        of their own, delete this header";
        Err(Refusal::new(found, expected).at_row(self.header))
    }
}

impl Known {
    pub fn of_whole_rows() -> Self {
        Self { is_of_whole_rows: true, ..Self::default() }
    }

    /// # Errors
    /// More rows stand twice than are distinguished, so that reading again would not find all of them.
    pub fn check(&self) -> Result<(), Refusal> {
        if !self.repeated.is_full() {
            return Ok(());
        }
        Err(Refusal::new(
            "more than a million rows that the file has twice",
            "each row once: import the export as the provider wrote it",
        ))
    }
}

impl Doubles {
    /// What does not fit into memory is written into the folder.
    pub fn new(folder: PathBuf, known: Known) -> Self {
        Self { known, identities: Identities::new(folder), section: Section::default() }
    }

    /// Whether the files were read before, and have rows twice.
    pub fn are_known(&self) -> bool {
        !self.known.repeated.is_empty()
    }

    /// Whether a header in the middle of a file is reason to read it again by whole rows.
    pub fn asks_for_whole_rows(&self, export: &Export) -> bool {
        !self.known.is_of_whole_rows && !export.states_identities()
    }

    /// At the beginning of a file, whose equal rows are its own.
    pub fn begin_file(&mut self) {
        if self.known.is_of_whole_rows {
            self.known.repeated.begin_again();
        }
        self.section = Section { number: self.section.number + 1, ..Section::default() };
    }

    /// At a header in the middle of a file.
    ///
    /// # Errors
    /// What ended repeats some of the rows before it, and has others.
    pub fn begin_section(&mut self, header: u64) -> Result<(), Refusal> {
        self.end_file()?;
        self.section =
            Section { number: self.section.number + 1, header: Some(header), ..Section::default() };
        Ok(())
    }

    /// # Errors
    /// Those of [`Doubles::begin_section`].
    pub fn end_file(&self) -> Result<(), Refusal> {
        if self.known.is_of_whole_rows { self.section.end() } else { Ok(()) }
    }

    /// Why the last row, a charge, does not count; `None` where it is the first of its identity.
    pub fn reject(&mut self, export: &mut Export, file_no: i16) -> io::Result<Option<Rejection>> {
        let Known { repeated, is_of_whole_rows } = &mut self.known;
        let identity = if *is_of_whole_rows { Some(export.whole_row()) } else { export.identity() };
        let Some(identity) = identity else { return Ok(None) };
        self.section.rows += 1;
        if let Some(first) = repeated.first(identity) {
            let section = self.section.number;
            let row = First { place: (file_no, export.row()), section, whole_row: export.whole_row() };
            match first {
                None => *first = Some(row),
                // Equal rows of one export are charges of their own.
                Some(first) if *is_of_whole_rows && first.section == section => return Ok(None),
                Some(first) => {
                    self.section.repeated += 1;
                    self.section.first_repeated.get_or_insert((export.row(), first.place.1));
                    return Ok(Some(rejection(export, *is_of_whole_rows, first, &row)));
                }
            }
        }
        // Of whole rows only those that repeat are asked for, and once these are known there is nothing to find.
        if !*is_of_whole_rows || repeated.is_empty() {
            self.identities.push(identity)?;
        }
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

/// Nothing of a row is missing where the first one says the same. Where it says something else, as of its cost, one of the
/// two is wrong, and somebody has to decide which.
fn rejection(export: &Export, is_whole_row: bool, first: &First, row: &First) -> Rejection {
    let (first_file, first_row) = first.place;
    let place = if first_file == row.place.0 {
        format!("row {first_row}")
    } else {
        format!("row {first_row} of file {}", first_file + 1)
    };
    let is_repeated = first.whole_row == row.whole_row;
    let (column, found, expected) = if is_whole_row {
        ("", format!("the same as {place}, in a file with a header in its middle"), "each row once")
    } else {
        let otherwise = if is_repeated { "" } else { ", with other values" };
        let found = format!("{}, which {place} has too{otherwise}", export.identity_text());
        (export.identity_column(), found, "each line item once")
    };
    let (row, column, expected) = (export.row(), column.to_owned(), expected.to_owned());
    Rejection { row, column, found, expected, is_repeated }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_repetitions_than_are_distinguished_end_the_reading() {
        let known = |distinct: Identity| {
            let mut doubles = Doubles::new(std::env::temp_dir(), Known::of_whole_rows());
            for identity in (0..distinct).chain(0..distinct) {
                doubles.identities.push(identity).unwrap();
            }
            doubles.finish(|_| io::Result::Ok(())).unwrap().unwrap()
        };
        assert_eq!(known(1000).check(), Ok(()));
        let refusal = known(1 << 20).check().unwrap_err();
        assert!(refusal.found.contains("more than a million rows"), "{refusal}");
    }
}
