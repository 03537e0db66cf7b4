//! `/catalog/additions/{addition}`: something that was added, what it recognizes, and its removal.

use askama::Template;
use serde_json::json;

use super::words;
use crate::ledger::{self, Added};
use crate::report::{self, CatalogImpact};
use crate::web::csv;
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Sending};
use crate::web::format::Format;
use crate::web::layout::Layout;
use crate::web::{Access, filters, paths, respond};

#[derive(Template)]
#[template(path = "catalog/addition.html")]
struct Page {
    layout: Layout,
    path: paths::CatalogAddition,
    added: Added,
    /// What it recognizes; nothing where it was removed.
    impact: Vec<CatalogImpact>,
}

impl Page {
    fn may_change(&self) -> bool {
        self.layout.may(Access::Admin)
    }

    fn removal(&self) -> paths::CatalogAdditionRemove {
        paths::CatalogAdditionRemove { addition: self.added.addition_id }
    }
}

pub async fn show(path: paths::CatalogAddition, format: Format, layout: Layout, mut db: Db) -> Result {
    let every = ledger::every_addition(&mut db).await?;
    let added = every.iter().find(|it| it.addition_id == path.addition).cloned().ok_or(Error::NotFound)?;
    let others: Vec<Added> = every.iter().filter(|it| it.addition_id != path.addition).cloned().collect();
    let (without, with) = (ledger::catalog_of(&others), ledger::catalog_of(&every));
    let impact = report::catalog_impact(&mut db, &without, &with).await?;
    match format {
        Format::Html => respond::html(Page { layout, path, added, impact }),
        Format::Json => respond::json(&json!({ "addition": words::in_json(&added), "recognizes": impact })),
        Format::Csv => csv::answer(&format!("catalog-addition-{}", path.addition), &impact),
    }
}

pub async fn remove(path: paths::CatalogAdditionRemove, sending: Sending) -> Result {
    let Sending { now, by, app, .. } = sending;
    // It looks at every key, which pages have no time for.
    let mut db = app.jobs.acquire().await?;
    let sentence = match ledger::remove(&mut db, path.addition, by.at(now)).await? {
        Some(removed) => {
            format!("Undone: {} is no longer in the catalog.", words::name(&removed))
        }
        None => "Nothing changed: it was removed before.".to_owned(),
    };
    Ok(respond::flash(paths::Catalog, &sentence))
}

csv::record! {
    |it: CatalogImpact|
    "billing_month" => it.billing_month,
    "currency" => &it.currency,
    "charges" => it.charges,
    "billed_cost" => it.billed_cost,
    "accelerator_hours_before" => it.accelerator_hours_before,
    "accelerator_hours_after" => it.accelerator_hours_after,
    "is_final" => it.is_final,
}
