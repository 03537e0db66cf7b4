//! What is said when a file or a row is not what it should be: file, row, column, found, expected.

use std::{fmt, io};

/// Why nothing of a file is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: RefusalKind,
    pub file: String,
    /// 1-based data row; `None` where the file as a whole is meant.
    pub row: Option<u64>,
    /// Name of the column as the file writes it.
    pub column: Option<String>,
    pub found: String,
    pub expected: String,
}

/// Whose fault it is: a refused file stays refused, a failed one may succeed when tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    Refused,
    /// Reading the input or writing to the sink failed, by what the system says.
    Failed(io::ErrorKind),
}

impl Refusal {
    pub fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            kind: RefusalKind::Refused,
            file: String::new(),
            row: None,
            column: None,
            found: found.into(),
            expected: expected.into(),
        }
    }

    #[must_use]
    pub fn failed(mut self, error: &io::Error) -> Self {
        self.kind = RefusalKind::Failed(error.kind());
        self
    }

    #[must_use]
    pub fn of(mut self, file: &str) -> Self {
        file.clone_into(&mut self.file);
        self
    }

    #[must_use]
    pub fn at_row(mut self, row: impl Into<Option<u64>>) -> Self {
        self.row = row.into();
        self
    }

    #[must_use]
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }

    /// One sentence without the file: `row 3, column Tags: found …; expected …`.
    pub fn message(&self) -> String {
        sentence(self.row, self.column.as_deref(), &self.found, &self.expected)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            write!(f, "{}", self.message())
        } else {
            write!(f, "{}: {}", self.file, self.message())
        }
    }
}

impl std::error::Error for Refusal {}

/// Why one row is not a charge. The other rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// 1-based data row; the header is not counted.
    pub row: u64,
    /// Name of the column as the file writes it; empty where the whole row is meant.
    pub column: String,
    /// Shortened for display.
    pub found: String,
    pub expected: String,
    /// It says what another row says that counts: nothing of it is missing.
    pub is_repeated: bool,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = (!self.column.is_empty()).then_some(self.column.as_str());
        f.write_str(&sentence(Some(self.row), column, &self.found, &self.expected))
    }
}

/// Something odd that harms no figure, counted over the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub text: &'static str,
    pub rows: u64,
    pub first_row: u64,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.rows == 1 { "row" } else { "rows" };
        write!(f, "{} ({} {noun}, first in row {})", self.text, self.rows, self.first_row)
    }
}

fn sentence(row: Option<u64>, column: Option<&str>, found: &str, expected: &str) -> String {
    let place = match (row, column) {
        (Some(row), Some(column)) => format!("row {row}, column {column}: "),
        (Some(row), None) => format!("row {row}: "),
        (None, Some(column)) => format!("column {column}: "),
        (None, None) => String::new(),
    };
    format!("{place}found {found}; expected {expected}")
}

/// Longest excerpt of a cell that is shown.
const SHOWN: usize = 80;

/// A cell for display: printable, in quotes, cut after a line.
pub(super) fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN * 4)]);
    let mut short: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.len() < bytes.len() && (bytes.len() > SHOWN * 4 || text.chars().count() > SHOWN) {
        short.push('…');
    }
    format!("\u{201c}{short}\u{201d}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_every_place_it_knows() {
        let refusal = Refusal::new("a quote that is never closed", "a closing quote");
        assert_eq!(refusal.message(), "found a quote that is never closed; expected a closing quote");
        let refusal = refusal.of("a.csv").at_row(3).in_column("Tags");
        assert_eq!(
            refusal.to_string(),
            "a.csv: row 3, column Tags: found a quote that is never closed; expected a closing quote"
        );
    }

    #[test]
    fn it_shortens_what_it_shows() {
        assert_eq!(shown(b""), "nothing");
        assert_eq!(shown(b"a\nb\xff"), "\u{201c}a b\u{fffd}\u{201d}");
        assert_eq!(shown("é".repeat(1000).as_bytes()).chars().count(), SHOWN + 3);
    }
}
