//! Tables as CSV, for spreadsheets: text in them is never run as a formula.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chrono::NaiveDate;
use futures_util::{Stream, StreamExt as _};

use super::Result;
use crate::billing::formula_guard;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// A row of a table that spreadsheets open. [`record!`] makes one of a table of its columns.
pub trait Record {
    const COLUMNS: &'static [&'static str];

    /// One cell a column.
    fn cells(&self) -> Vec<Cell<'_>>;
}

/// The columns of a table: the name of each, and what its cell holds of a row, as anything that a [`Cell`] is made of.
///
/// ```ignore
/// csv::record! {
///     |it: Quantity|
///     "day" => it.day,
///     "unit" => &it.unit,
/// }
/// ```
macro_rules! record {
    (|$row:ident: $Row:ty| $($name:expr => $cell:expr,)+) => {
        impl $crate::web::csv::Record for $Row {
            const COLUMNS: &'static [&'static str] = &[$($name),+];

            fn cells(&self) -> Vec<$crate::web::csv::Cell<'_>> {
                let $row = self;
                vec![$($cell.into()),+]
            }
        }
    };
}
pub(super) use record;

/// A row of an answer, and what its amounts are counted in.
pub struct RowInCurrency<'a, T> {
    pub row: &'a T,
    pub currency: Option<&'a Currency>,
}

impl<'a, T> RowInCurrency<'a, T> {
    pub fn all(rows: &'a [T], currency: Option<&'a Currency>) -> Vec<Self> {
        rows.iter().map(|row| Self { row, currency }).collect()
    }
}

/// What a cell holds. Numbers are written as they are; text is never taken for a formula.
pub enum Cell<'a> {
    Text(Cow<'a, str>),
    Number(Decimal),
    Empty,
}

impl Cell<'_> {
    /// The bytes of the file. Tags are written by whoever owns a resource; a spreadsheet would run some of them.
    pub fn written(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Text(text) if formula_guard::begins_formula(text.as_bytes()) => {
                format!("'{text}").into_bytes().into()
            }
            Self::Text(text) => text.as_bytes().into(),
            Self::Number(number) => number.to_string().into_bytes().into(),
            Self::Empty => Cow::default(),
        }
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<&'a Currency> for Cell<'a> {
    fn from(currency: &'a Currency) -> Self {
        currency.as_str().into()
    }
}

impl From<BillingMonth> for Cell<'_> {
    fn from(month: BillingMonth) -> Self {
        month.to_string().into()
    }
}

impl From<NaiveDate> for Cell<'_> {
    fn from(day: NaiveDate) -> Self {
        day.to_string().into()
    }
}

impl From<bool> for Cell<'_> {
    fn from(is: bool) -> Self {
        if is { "yes" } else { "no" }.into()
    }
}

impl From<Decimal> for Cell<'_> {
    fn from(number: Decimal) -> Self {
        Self::Number(number)
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

/// Nothing is an empty cell.
impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(it: Option<T>) -> Self {
        it.map_or(Self::Empty, T::into)
    }
}

impl<'a> From<&'a Option<String>> for Cell<'a> {
    fn from(text: &'a Option<String>) -> Self {
        text.as_ref().into()
    }
}

/// The rows as a file named `name.csv`.
pub fn answer<'a, R: Record + 'a>(name: &str, rows: impl IntoIterator<Item = &'a R>) -> Result {
    answer_of_written(name, write_rows(rows, true))
}

/// Texts as a file named `name.csv`, for rows whose columns are known only when they are asked for: the first row is their
/// names.
pub fn answer_of_texts<'a>(
    name: &str,
    rows: impl IntoIterator<Item: IntoIterator<Item = &'a str>>,
) -> Result {
    let rows = rows.into_iter().map(|row| row.into_iter().map(|text| Cell::Text(text.into())).collect());
    answer_of_written(name, write_cells(rows))
}

fn answer_of_written(name: &str, written: Result<Vec<u8>, ::csv::Error>) -> Result {
    let body = written.map_err(|error| anyhow::Error::new(error).context("a table was not written"))?;
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

/// A part of a long table: the names of the columns stand before the first.
pub fn write_rows<'a, R: Record + 'a>(
    rows: impl IntoIterator<Item = &'a R>,
    has_names: bool,
) -> Result<Vec<u8>, ::csv::Error> {
    let names = has_names.then(|| R::COLUMNS.iter().map(|name| Cell::from(*name)).collect());
    write_cells(names.into_iter().chain(rows.into_iter().map(R::cells)))
}

fn write_cells<'a>(rows: impl Iterator<Item = Vec<Cell<'a>>>) -> Result<Vec<u8>, ::csv::Error> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for cells in rows {
        writer.write_record(cells.iter().map(Cell::written))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Line(&'static str, &'static str);

    record! {
        |it: Line|
        "team" => it.0,
        "cost" => it.1.parse::<Decimal>().ok(),
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
        let text = String::from_utf8(write_rows(&rows, true).unwrap()).unwrap();
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
