//! `/`: the latest month, or what to do while there is none.

use askama::Template;

use super::error::Result;
use super::extract::{CurrentUser, Db};
use super::layout::Layout;
use super::respond::As;
use super::{Access, paths, respond};
use crate::report;

#[derive(Template)]
#[template(path = "home.html")]
struct Page {
    layout: Layout,
}

pub async fn show(_: paths::Home, layout: Layout, CurrentUser(person): CurrentUser, mut db: Db) -> Result {
    match report::latest_month(&mut db, &person.viewer()).await? {
        Some(month) => Ok(respond::see_other(paths::Spend { period: As::page(month.into()) })),
        None => respond::html(Page { layout }),
    }
}

impl Page {
    fn may_import(&self) -> bool {
        self.layout.may(Access::Finance)
    }
}
