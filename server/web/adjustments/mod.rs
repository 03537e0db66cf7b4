//! `/adjustments`: discounts, markups and monthly minimums, and which bills they adjust by how much.

mod form;

use askama::Template;
use axum::response::IntoResponse as _;
use serde_json::json;

use super::csv;
use super::error::{Error, Result};
use super::extract::{Reading, Writing};
use super::format::Format;
use super::layout::Layout;
use super::{filters, paths, respond};
use crate::adjustments::{self, Adjustment, Adjustments, Terms};
use crate::changes::{self, Document as _, Kind};
use crate::report::{self, AdjustedBillLine, AdjustmentState};

pub use form::{change, create, edit, new, remove};

/// An adjustment with its number.
struct Line {
    id: i64,
    entry: Adjustment,
}

#[derive(Template)]
#[template(path = "adjustments/index.html", blocks = ["bills"])]
struct Page {
    layout: Layout,
    lines: Vec<Line>,
    state: AdjustmentState,
    /// Changes that somebody drafted or proposed.
    waiting: i64,
}

pub async fn index(
    _: paths::Adjustments,
    format: Format,
    super::extract::Htmx(is_fragment): super::extract::Htmx,
    reading: Reading,
) -> Result {
    let Reading { now, layout, mut db, .. } = reading;
    let state = report::adjustment_state(&mut db, now).await?;
    if is_fragment {
        let page = Page { layout, state, lines: Vec::new(), waiting: 0 };
        return Ok(respond::html(page.as_bills())?.into_response());
    }
    let (version, document) = Adjustments::current(&mut db).await?;
    let mut lines: Vec<Line> = document.entries.into_iter().map(|(id, entry)| Line { id, entry }).collect();
    lines.sort_by_key(|line| {
        let it = &line.entry;
        (
            it.provider.to_lowercase(),
            it.billing_account.to_lowercase(),
            std::cmp::Reverse(it.first_month),
            line.id,
        )
    });
    match format {
        Format::Html => {}
        Format::Json => {
            let entries: Vec<_> =
                lines.iter().map(|line| json!({ "id": line.id, "adjustment": line.entry })).collect();
            return respond::json(
                &json!({ "revision": version, "adjustments": entries, "bills": state.bills }),
            );
        }
        Format::Csv => return csv::answer("adjustments", &lines),
    }
    let waiting = changes::waiting(&mut db, Some(Kind::Adjustments)).await?;
    respond::html(Page { layout, lines, state, waiting })
}

/// Computes the adjustments of a bill again whose import somebody undid.
pub async fn compute(path: paths::AdjustmentsCompute, writing: Writing) -> Result {
    let Writing { now, by, app, mut db, .. } = writing;
    if !adjustments::compute_again(&mut db, path.scope, by.at(now)).await? {
        return Err(Error::NotFound);
    }
    app.notifier.notify();
    Ok(respond::flash(paths::Adjustments, "Its adjustments are computed again now."))
}

impl Line {
    fn to(&self) -> paths::OneAdjustment {
        paths::OneAdjustment { adjustment: self.id }
    }
}

/// A percentage with its sign, or the amount of a minimum.
pub(in crate::web) fn amount(terms: &Terms) -> String {
    match terms {
        Terms::Discount { percent } => format!("−{percent}%"),
        Terms::Markup { percent } => format!("+{percent}%"),
        Terms::Minimum { amount, currency } => format!("{} {currency}", filters::figure(*amount, 2)),
    }
}

pub(in crate::web) fn kind(terms: &Terms) -> &'static str {
    match terms {
        Terms::Discount { .. } => "Discount",
        Terms::Markup { .. } => "Markup",
        Terms::Minimum { .. } => "Monthly minimum",
    }
}

impl Page {
    fn amount(&self, terms: &Terms) -> String {
        let _ = self;
        amount(terms)
    }

    /// Where the adjustments of a bill are computed again.
    fn compute(&self, bill: &AdjustedBillLine) -> paths::AdjustmentsCompute {
        let _ = self;
        paths::AdjustmentsCompute { scope: bill.scope_id }
    }

    fn kind(&self, terms: &Terms) -> &'static str {
        let _ = self;
        kind(terms)
    }
}

// The columns of the download.
csv::record! {
    |it: Line|
    "provider" => &it.entry.provider,
    "billing_account" => &it.entry.billing_account,
    "kind" => kind(&it.entry.terms),
    "percent" => percent(&it.entry.terms),
    "amount" => minimum(&it.entry.terms),
    "currency" => currency(&it.entry.terms),
    "first_month" => it.entry.first_month,
    "last_month" => it.entry.last_month,
    "reason" => &it.entry.reason,
    "contract" => &it.entry.contract,
}

fn percent(terms: &Terms) -> Option<crate::money::Decimal> {
    match terms {
        Terms::Discount { percent } | Terms::Markup { percent } => Some(*percent),
        Terms::Minimum { .. } => None,
    }
}

fn minimum(terms: &Terms) -> Option<crate::money::Decimal> {
    match terms {
        Terms::Minimum { amount, .. } => Some(*amount),
        Terms::Discount { .. } | Terms::Markup { .. } => None,
    }
}

fn currency(terms: &Terms) -> &str {
    match terms {
        Terms::Minimum { currency, .. } => currency.as_str(),
        Terms::Discount { .. } | Terms::Markup { .. } => "",
    }
}
