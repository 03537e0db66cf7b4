//! Rows that are rejected: how many of them an import may have, and those that its answer shows.

use crate::billing::Rejection;

/// Of a delivery, those that repeat others among them. Each is kept with its reason, so that people can correct it: a file of
/// nothing else would write a hundred times what it has itself, and nobody corrects so many …
pub const MOST: u64 = 200_000;
/// … and where most rows are rejected, it is the file that is wrong and not a row, unless there are few.
pub const FEW: u64 = 10_000;
/// Carried along for the answer of an import; the rest is in the ledger.
pub const SHOWN: usize = 20;

/// The rejected rows of a delivery.
#[derive(Debug, Default)]
pub struct Rejected {
    pub count: u64,
    /// Those that others repeat: nothing of them is missing.
    pub repeated: u64,
    /// With the number of their file.
    pub first: Vec<(i16, Rejection)>,
}

impl Rejected {
    /// Takes one of these rows into account.
    pub fn note(&mut self, file_no: i16, rejection: &Rejection) {
        self.count += 1;
        self.repeated += u64::from(rejection.is_repeated);
        if self.first.len() < SHOWN {
            self.first.push((file_no, rejection.clone()));
        }
    }

    /// Whether they are more than anybody corrects.
    pub fn are_too_many(&self) -> bool {
        self.count > MOST
    }

    /// Whether something is wrong with most of the rows that were read.
    pub fn are_most_of(&self, rows_read: u64) -> bool {
        // Those that repeat others are missing from nothing.
        let wrong = self.count - self.repeated;
        wrong > FEW && wrong > rows_read / 2
    }

    /// Why nothing is loaded: how many rows were rejected, of how many, and what to do.
    pub fn why_nothing_is_loaded(&self, rows_read: u64) -> String {
        let Self { count, repeated, .. } = self;
        if *repeated > count / 2 {
            return format!(
                "{repeated} of the first {rows_read} rows are the same as others of the import, as in a file that was appended to \
                 itself, and an import takes at most {MOST} such rows; nothing was imported. Import each file once, as it was \
                 exported"
            );
        }
        let rows = if self.are_too_many() {
            format!(
                "{count} of the first {rows_read} rows were rejected, and an import takes at most {MOST} such rows"
            )
        } else {
            format!("{count} of {rows_read} rows were rejected, which is most of them")
        };
        format!(
            "{rows}; nothing was imported. Often one column is wrong in every row: look at the first rejected rows, \
             correct the export, and import it again"
        )
    }
}
