//! Answers: one struct as a page or as JSON, and which of these an address asks for.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};

use super::Result;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::period::Period;

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
