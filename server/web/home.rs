//! `/`: where the latest figures are, or what to do while there are none.

use askama::Template;

use super::error::Result;
use super::layout::Layout;
use super::{paths, respond};

#[derive(Template)]
#[template(path = "home.html")]
struct Page {
    layout: Layout,
}

/// The month page of the latest month takes this place once a month is loaded.
pub async fn show(_: paths::Home, layout: Layout) -> Result {
    respond::html(Page { layout })
}
