//! Answers: one struct as a page, as JSON, as a table for a spreadsheet.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use futures_util::{Stream, StreamExt as _, stream};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};

use super::Result;
use crate::billing::formula;
use crate::money::Decimal;

/// Rows of a table that are written at once.
const PART: usize = 1_000;

/// How an address wants its answer: `2026-09`, `2026-09.json`, `2026-09.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Html,
    Json,
    Csv,
}

/// The last part of a path with its suffix. Printed without it; templates append `.csv` themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct As<T> {
    pub value: T,
    pub format: Format,
}

/// The suffix of a page, where it needs one.
const PAGE: &str = ".html";

impl<T> As<T> {
    /// For links to the page.
    pub fn page(value: T) -> Self {
        Self { value, format: Format::Html }
    }
}

/// The page's address, to which `.json` and `.csv` can be appended. A label that reads as one of these, or as a way
/// to somewhere else, gets a suffix that says that it is a page.
impl<T: fmt::Display> fmt::Display for As<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.value.to_string();
        let is_other = [".", "..", "compare"].contains(&text.as_str());
        let has_suffix = [PAGE, ".json", ".csv"].iter().any(|suffix| text.ends_with(suffix));
        write!(f, "{text}{}", if is_other || has_suffix { PAGE } else { "" })
    }
}

impl<T: FromStr> FromStr for As<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let suffixes = [(".json", Format::Json), (".csv", Format::Csv)];
        let found = suffixes.iter().find_map(|(suffix, format)| Some((text.strip_suffix(suffix)?, *format)));
        let (text, format) = found.unwrap_or((text, Format::Html));
        let text = text.strip_suffix(PAGE).unwrap_or(text);
        Ok(Self { value: text.parse()?, format })
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for As<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|error| D::Error::custom(format!("“{text}”: {error}")))
    }
}

/// A page, or a part of one.
pub fn html(page: impl Template) -> Result {
    Ok(Html(page.render()?).into_response())
}

/// A form that was refused, with its values and problems.
pub fn refused(page: impl Template) -> Result {
    Ok((StatusCode::UNPROCESSABLE_ENTITY, Html(page.render()?)).into_response())
}

pub fn json(value: &impl Serialize) -> Result {
    Ok(([(header::CONTENT_TYPE, "application/json")], serde_json::to_vec(value)?).into_response())
}

/// After something was written: the browser loads the page that shows it, and a reload writes nothing.
pub fn see_other(path: impl fmt::Display) -> Response {
    Redirect::to(&path.to_string()).into_response()
}

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
pub fn csv<'a, R: Record + 'a>(name: &str, rows: impl IntoIterator<Item = &'a R>) -> Result {
    let body =
        write_csv(rows).map_err(|error| anyhow::Error::new(error).context("a table was not written"))?;
    Ok(csv_file(name, body.into()))
}

/// Texts as a file named `name.csv`, for rows whose columns are known only when they are asked for.
pub fn csv_of_texts<'a>(
    name: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<&'a str>>,
) -> Result {
    let write = || -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(columns)?;
        for row in rows {
            writer.write_record(row.into_iter().map(|text| Cell::text(text).written().into_owned()))?;
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    };
    let body = write().map_err(|error| anyhow::Error::new(error).context("a table was not written"))?;
    Ok(csv_file(name, body.into()))
}

/// Bytes that are a CSV file already, as one named `name.csv`.
pub fn csv_bytes(name: &str, bytes: Vec<u8>) -> Response {
    csv_file(name, bytes.into())
}

/// The same for more rows than one wants to hold: each part is written when the one before it has been sent. An
/// error on the way ends the answer before its end, which browsers notice.
pub fn csv_parts<R: Record + Send + 'static>(
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
    csv_file(name, Body::from_stream(written))
}

/// Rows that are at hand, in parts of which none is large as text. There is one even where there are no rows.
pub fn in_parts<R: Send + 'static>(rows: Vec<R>) -> impl Stream<Item = Result<Vec<R>>> + Send + 'static {
    let mut rows = rows.into_iter();
    let first: Vec<R> = rows.by_ref().take(PART).collect();
    let rest = std::iter::from_fn(move || {
        let part: Vec<R> = rows.by_ref().take(PART).collect();
        (!part.is_empty()).then_some(part)
    });
    stream::iter(std::iter::once(first).chain(rest).map(Ok))
}

fn csv_file(name: &str, body: Body) -> Response {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mut response = ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], body).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.csv\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// The table as text, for pages and for the command line.
pub fn write_csv<'a, R: Record + 'a>(rows: impl IntoIterator<Item = &'a R>) -> Result<Vec<u8>, csv::Error> {
    write_rows(rows, true)
}

/// A part of a long table: the names of the columns stand before the first.
pub fn write_rows<'a, R: Record + 'a>(
    rows: impl IntoIterator<Item = &'a R>,
    has_names: bool,
) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
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
    use crate::period::Period;

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
        let text = String::from_utf8(write_csv(&rows).unwrap()).unwrap();
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

    #[test]
    fn it_reads_the_suffix_of_an_address() {
        let read = |text: &str| text.parse::<As<Period>>().map(|read| (read.to_string(), read.format));
        assert_eq!(read("2026-09"), Ok(("2026-09".to_owned(), Format::Html)));
        assert_eq!(read("2026-01..2026-09.json"), Ok(("2026-01..2026-09".to_owned(), Format::Json)));
        assert_eq!(read("2026-Q3.csv"), Ok(("2026-07..2026-09".to_owned(), Format::Csv)));
        assert!(read("2026-09.xml").is_err());
    }

    #[test]
    fn a_label_that_ends_as_an_address_does_has_a_page_and_files() {
        for label in ["exp-7", "run.json", "a.csv", "index.html", "x.json.html", "compare", "..", ".json"] {
            let page = As::page(label.to_owned()).to_string();
            for (suffix, format) in [("", Format::Html), (".json", Format::Json), (".csv", Format::Csv)] {
                let read: As<String> = format!("{page}{suffix}").parse().unwrap();
                assert_eq!((read.value.as_str(), read.format), (label, format), "{page}{suffix}");
            }
        }
        assert_eq!(As::page("exp-7".to_owned()).to_string(), "exp-7");
    }
}
