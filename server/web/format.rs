//! What an address wants its answer to be, by its suffix: `/spend/2026-09`, `/spend/2026-09.json`, `/spend/2026-09.csv`.
//!
//! The suffix is taken off once, before any route is looked for, so a page and its files are one route, and a handler asks
//! which of them is wanted: [`Format`], or [`File`] where there are others.

use std::convert::Infallible;
use std::fmt;

use axum::extract::{FromRequestParts, OptionalFromRequestParts, OriginalUri, Request};
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{Method, request};

use super::error::Error;

/// What a page with figures is handed out in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Html,
    Json,
    Csv,
}

/// The same figures as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    Json,
    Csv,
    /// What a scenario has been given, as `gpuledger scenario` reads it.
    Toml,
}

/// Files of the program, whose names are their own.
const ASSETS: &str = "/assets/";

/// The suffix of the page of a label that ends as a file does: see [`paths::Named`](super::paths::Named).
pub(super) const PAGE: &str = ".html";

impl File {
    const ALL: [Self; 3] = [Self::Json, Self::Csv, Self::Toml];

    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Json => ".json",
            Self::Csv => ".csv",
            Self::Toml => ".toml",
        }
    }

    /// The address of this file of a page, which may ask something: `/prices?tier=spot` → `/prices.csv?tier=spot`.
    pub fn of(self, page: impl fmt::Display) -> String {
        let page = page.to_string();
        let at = page.find('?').unwrap_or(page.len());
        format!("{}{}{}", &page[..at], self.suffix(), &page[at..])
    }

    /// Whether a text would read as the path of a file.
    pub(super) fn ends(text: &str) -> bool {
        Self::ALL.into_iter().any(|it| text.ends_with(it.suffix()))
    }

    /// The path of the page, where the path is one of a file.
    fn at(path: &str) -> Option<(&str, Self)> {
        let (page, file) =
            Self::ALL.into_iter().find_map(|it| Some((path.strip_suffix(it.suffix())?, it)))?;
        (!page.ends_with('/') && !path.starts_with(ASSETS)).then_some((page, file))
    }
}

impl Format {
    /// The address of a page in this format.
    pub fn of(self, page: String) -> String {
        match self {
            Self::Html => page,
            Self::Json => File::Json.of(page),
            Self::Csv => File::Csv.of(page),
        }
    }
}

/// Takes the suffix off the address of what is read; [`OriginalUri`] keeps it.
pub(super) fn take_off_suffix(mut request: Request) -> Request {
    let uri = request.uri().clone();
    if matches!(*request.method(), Method::GET | Method::HEAD)
        && let Some((page, file)) = File::at(uri.path())
        && let Some(page) = with_path(&uri, page)
    {
        request.extensions_mut().insert(file);
        *request.uri_mut() = page;
    }
    request.extensions_mut().insert(OriginalUri(uri));
    request
}

/// The address as it was asked for.
pub(super) fn asked(request: &Request) -> Uri {
    request.extensions().get().map_or_else(|| request.uri().clone(), |OriginalUri(uri)| uri.clone())
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("{path}{query}")).ok()?);
    Uri::from_parts(parts).ok()
}

impl<S: Sync> FromRequestParts<S> for Format {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut request::Parts, _: &S) -> Result<Self, Error> {
        match parts.extensions.get() {
            None => Ok(Self::Html),
            Some(File::Json) => Ok(Self::Json),
            Some(File::Csv) => Ok(Self::Csv),
            Some(File::Toml) => Err(Error::NotFound),
        }
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for File {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut request::Parts, _: &S) -> Result<Option<Self>, Infallible> {
        Ok(parts.extensions.get().copied())
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn read(method: Method, address: &str) -> (String, Option<File>) {
        let request = Request::builder().method(method).uri(address).body(Body::empty()).unwrap();
        let request = take_off_suffix(request);
        assert_eq!(request.extensions().get::<OriginalUri>().unwrap().to_string(), address);
        (request.uri().to_string(), request.extensions().get().copied())
    }

    #[test]
    fn suffix_is_taken_off_addresses_that_are_read() {
        for (address, page, file) in [
            ("/spend/2026-09", "/spend/2026-09", None),
            ("/spend/2026-01..2026-09.json?by=team", "/spend/2026-01..2026-09?by=team", Some(File::Json)),
            ("/imports.csv", "/imports", Some(File::Csv)),
            ("/scenarios/7.toml", "/scenarios/7", Some(File::Toml)),
            ("/experiments/run.json.html", "/experiments/run.json.html", None),
            ("/experiments/run.json.html.csv", "/experiments/run.json.html", Some(File::Csv)),
            ("/experiments/a%20b.json", "/experiments/a%20b", Some(File::Json)),
            ("/charges/2026-09?file=a.csv", "/charges/2026-09?file=a.csv", None),
            ("/assets/manifest.json", "/assets/manifest.json", None),
            ("/experiments/.json", "/experiments/.json", None),
        ] {
            assert_eq!(read(Method::GET, address), (page.to_owned(), file), "{address}");
        }
        assert_eq!(read(Method::POST, "/imports.csv"), ("/imports.csv".to_owned(), None));
    }

    #[test]
    fn file_of_a_page_keeps_what_is_asked() {
        assert_eq!(File::Csv.of("/prices?tier=spot"), "/prices.csv?tier=spot");
        assert_eq!(Format::Json.of("/experiments/x".to_owned()), "/experiments/x.json");
        assert_eq!(Format::Html.of("/experiments/x?a=b".to_owned()), "/experiments/x?a=b");
    }
}
