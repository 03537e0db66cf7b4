//! Why a stream cannot be read on.

use super::Refusal;
use super::container::Unpacking;
use super::header::Header;
use super::rows::{self, Broken, Place};

/// Why the stream cannot be read on, for people.
pub(super) fn refuse(broken: Broken, row: u64, header: Option<&Header>) -> Refusal {
    let row = (row > 0).then_some(row);
    let column = |field: usize| header.map_or(String::new(), |header| header.name(field).to_owned());
    match broken {
        Broken::Input(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<Unpacking>()) {
            Some(Unpacking { found, expected }) => Refusal::new(found.clone(), expected.clone()).at_row(row),
            None => Refusal::new(format!("that reading broke off ({error})"), "the rest of the file")
                .at_row(row)
                .failed(&error),
        },
        Broken::Sink(error) => {
            Refusal::new(format!("that the original cannot be kept ({error})"), "room to store it")
                .failed(&error)
        }
        Broken::TooLong { field, quoted: true } => Refusal::new(
            format!("a quote that is still open after {} bytes", rows::MAX_RECORD),
            "a closing quote",
        )
        .at_row(row)
        .in_column(column(field)),
        Broken::TooLong { field, quoted: false } => {
            Refusal::new(format!("a row of more than {} bytes", rows::MAX_RECORD), "rows of a billing export")
                .at_row(row)
                .in_column(column(field))
        }
        Broken::CutOff => Refusal::new(
            "the end of the file within a row",
            "whole rows: the file was cut off; transfer it again",
        )
        .at_row(row),
        Broken::Malformed(found) => {
            Refusal::new(found, "objects of names and values; export the file again").at_row(row)
        }
        Broken::Workbook(found) => Refusal::new(
            found,
            "an .xlsx workbook as a spreadsheet program writes it; save it again, or its sheet as CSV UTF-8",
        )
        .at_row(row),
        Broken::Parquet { found, place } => {
            const EXPECTED: &str =
                "a Parquet file as the provider wrote it; transfer it again, or export it as CSV";
            let Some(Place { group, rows: (first, last), column }) = place else {
                return Refusal::new(found, EXPECTED);
            };
            // Which of the rows it is, the file does not say.
            let rows =
                if first == last { String::new() } else { format!(", within the rows {first} to {last}") };
            let refusal =
                Refusal::new(format!("{found}, in row group {group}{rows}"), EXPECTED).at_row(first);
            match column {
                Some(column) => refusal.in_column(column),
                None => refusal,
            }
        }
        Broken::OpenQuote { field } => Refusal::new(
            "a quote that is never closed",
            "a closing quote before the end of the file, which may have been cut off",
        )
        .at_row(row)
        .in_column(column(field)),
    }
}
