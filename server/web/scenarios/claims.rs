//! `/scenarios/claims`: figures that people may have read, and what is right.

use askama::Template;

use super::super::error::{Error, Result};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::{paths, respond};
use super::words;
use crate::economics::published_figures::{PublishedFigure, published_figures};

#[derive(Template)]
#[template(path = "scenarios/claims.html")]
struct Page {
    layout: Layout,
    claims: Vec<PublishedFigure>,
}

pub async fn index(_: paths::Claims, format: Format, layout: Layout) -> Result {
    match format {
        Format::Html => respond::html(Page { layout, claims: published_figures() }),
        Format::Json => respond::json(&published_figures()),
        Format::Csv => Err(Error::NotFound),
    }
}
