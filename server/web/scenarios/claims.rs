//! `/scenarios/claims`: figures that people may have read, and what is right.

use askama::Template;

use super::super::error::Result;
use super::super::layout::Layout;
use super::super::{paths, respond};
use super::words;
use crate::economics::claim::{Claim, claims};

#[derive(Template)]
#[template(path = "scenarios/claims.html")]
struct Page {
    layout: Layout,
    claims: Vec<Claim>,
}

pub async fn index(_: paths::Claims, layout: Layout) -> Result {
    respond::html(Page { layout, claims: claims() })
}

pub async fn json(_: paths::ClaimsJson) -> Result {
    respond::json(&claims())
}
