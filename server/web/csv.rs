//! Tables as CSV, for spreadsheets: text in them is never run as a formula.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt as _};

use super::Result;
use crate::billing::formula;
use crate::money::Decimal;

/// A row of a table that spreadsheets open.
pub trait Record {
    const COLUMNS: &'static [&'static str];

    /// One cell a column.
    fn cells(&self) -> Vec<Cell<'_>>;
}

/// What a cell holds. Numbers are written as they are; text is never taken for a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    Text(Cow<'a, str>),
    Number(Decimal),
    Empty,
}

impl<'a> Cell<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    fn written(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) if is_formula(text) => Cow::Owned(format!("'{text}")),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Empty => Cow::Borrowed(""),
        }
    }
}

/// Tags are written by whoever owns a resource; a spreadsheet would run these.
fn is_formula(text: &str) -> bool {
    formula::begins_formula(text.as_bytes())
}

/// Cells as they are written.
pub fn texts(cells: &[Cell<'_>]) -> Vec<String> {
    cells.iter().map(|cell| cell.written().into_owned()).collect()
}

/// The rows as a file named `name.csv`.
pub fn answer<'a, R: Record + 'a>(name: &str, rows: impl IntoIterator<Item = &'a R>) -> Result {
    let body = write(rows).map_err(|error| anyhow::Error::new(error).context("a table was not written"))?;
    Ok(file(name, body.into()))
}

/// Texts as a file named `name.csv`, for rows whose columns are known only when they are asked for.
pub fn answer_of_texts<'a>(
    name: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<&'a str>>,
) -> Result {
    let write = || -> Result<Vec<u8>, ::csv::Error> {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(columns)?;
        for row in rows {
            writer.write_record(row.into_iter().map(|text| Cell::text(text).written().into_owned()))?;
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    };
    let body = write().map_err(|error| anyhow::Error::new(error).context("a table was not written"))?;
    Ok(file(name, body.into()))
}

/// Bytes that are a CSV file already, as one named `name.csv`.
pub fn answer_of_bytes(name: &str, bytes: Vec<u8>) -> Response {
    file(name, bytes.into())
}

/// The same for more rows than one wants to hold: each part is written when the one before it has been sent. An
/// error on the way ends the answer before its end, which browsers notice.
pub fn answer_in_parts<R: Record + Send + 'static>(
    name: &str,
    parts: impl Stream<Item = Result<Vec<R>>> + Send + 'static,
) -> Response {
    let mut is_first = true;
    let written = parts.map(move |rows| {
        let has_names = std::mem::take(&mut is_first);
        // The guard logs what a handler answers; nobody else sees what breaks off later.
        let rows = rows.inspect_err(|error| tracing::error!(?error, "a download broke off"))?;
        Ok::<_, anyhow::Error>(write_rows(&rows, has_names)?)
    });
    file(name, Body::from_stream(written))
}

fn file(name: &str, body: Body) -> Response {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mut response = ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], body).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.csv\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// The table as text, for pages and for the command line.
pub fn write<'a, R: Record + 'a>(rows: impl IntoIterator<Item = &'a R>) -> Result<Vec<u8>, ::csv::Error> {
    write_rows(rows, true)
}

/// A part of a long table: the names of the columns stand before the first.
pub fn write_rows<'a, R: Record + 'a>(
    rows: impl IntoIterator<Item = &'a R>,
    has_names: bool,
) -> Result<Vec<u8>, ::csv::Error> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    if has_names {
        writer.write_record(R::COLUMNS)?;
    }
    for row in rows {
        writer.write_record(row.cells().iter().map(|cell| cell.written().into_owned()))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Line(&'static str, &'static str);

    impl Record for Line {
        const COLUMNS: &'static [&'static str] = &["team", "cost"];

        fn cells(&self) -> Vec<Cell<'_>> {
            vec![Cell::text(self.0), self.1.parse().map_or(Cell::Empty, Cell::Number)]
        }
    }

    #[test]
    fn it_keeps_formulas_from_running() {
        let rows = [
            Line("nlp, research", "-12.50"),
            Line("=HYPERLINK(\"http://evil\")", "1e3"),
            Line("  +1", ""),
            Line("-2+3", "0.00"),
            Line("@sum(a1)", "1"),
            Line("\tx", "1"),
        ];
        let text = String::from_utf8(write(&rows).unwrap()).unwrap();
        insta::assert_snapshot!(text, @r#"
        team,cost
        "nlp, research",-12.50
        "'=HYPERLINK(""http://evil"")",1000
        '  +1,
        '-2+3,0.00
        '@sum(a1),1
        '	x,1
        "#);
    }
}
