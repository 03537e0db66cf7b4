//! `/rate-cards`: the rates that price what arrives without cost, what of it is unpriced, and which imports are being priced again.

mod form;

use askama::Template;
use axum::response::IntoResponse as _;
use serde_json::json;

use super::csv;
use super::error::Result;
use super::extract::Reading;
use super::format::Format;
use super::layout::Layout;
use super::{filters, paths, respond};
use crate::accelerator;
use crate::changes::{self, Document as _, Kind};
use crate::rate_cards::RateCards;
use crate::rating::Rate;
use crate::report::{self, RateState, UnpricedUsage};

pub use form::{change, create, edit, load, new, remove};

/// A rate with its number.
struct Line {
    id: i64,
    rate: Rate,
}

#[derive(Template)]
#[template(path = "rate_cards/index.html", blocks = ["repricing"])]
struct Page {
    layout: Layout,
    lines: Vec<Line>,
    unpriced: Vec<UnpricedUsage>,
    state: RateState,
    /// Changes that somebody drafted or proposed.
    waiting: i64,
}

pub async fn index(
    _: paths::RateCards,
    format: Format,
    super::extract::Htmx(is_fragment): super::extract::Htmx,
    reading: Reading,
) -> Result {
    let Reading { now, layout, mut db, .. } = reading;
    let state = report::rate_state(&mut db, now).await?;
    if is_fragment {
        let page = Page { layout, state, lines: Vec::new(), unpriced: Vec::new(), waiting: 0 };
        // What was unpriced is priced now: the page around the fragment, too.
        let is_done = page.state.pending == 0;
        let fragment = respond::html(page.as_repricing())?;
        return Ok(if is_done { ([("HX-Refresh", "true")], fragment).into_response() } else { fragment });
    }
    let (version, cards) = RateCards::current(&mut db).await?;
    let unpriced = report::unpriced_usage(&mut db, &cards.rates()).await?;
    let mut lines: Vec<Line> = cards.rates.into_iter().map(|(id, rate)| Line { id, rate }).collect();
    lines.sort_by_key(|line| order(&line.rate));
    match format {
        Format::Html => {}
        Format::Json => {
            let rates: Vec<_> =
                lines.iter().map(|line| json!({ "id": line.id, "rate": line.rate })).collect();
            return respond::json(&json!({ "revision": version, "rates": rates, "unpriced": unpriced }));
        }
        Format::Csv => return csv::answer("rate-cards", &lines),
    }
    let waiting = changes::waiting(&mut db, Some(Kind::RateCards)).await?;
    respond::html(Page { layout, lines, unpriced, state, waiting })
}

/// By usage, the newest price first, the lowest tier before the next.
fn order(rate: &Rate) -> impl Ord + use<> {
    let lower = |text: &str| text.to_lowercase();
    (
        lower(&rate.provider),
        lower(&rate.billing_account),
        lower(&rate.accelerator),
        lower(&rate.sku),
        lower(&rate.region),
        rate.pricing.clone(),
        rate.unit.clone(),
        std::cmp::Reverse(rate.valid_from),
        rate.from_quantity,
    )
}

impl Line {
    fn to(&self) -> paths::AgreedRate {
        paths::AgreedRate { rate: self.id }
    }

    /// Whether it is what teams are charged for the organization's own machines.
    fn is_internal(&self) -> bool {
        self.rate.provider.eq_ignore_ascii_case(crate::onprem::PROVIDER)
    }

    fn usage(&self) -> String {
        usage(&self.rate)
    }
}

/// Where an internal price of a cluster is entered.
pub(in crate::web) fn internal_price(cluster: &str) -> String {
    paths::with_query(paths::NewRate, &form::Begin::of_cluster(cluster))
}

/// What a rate is for, without provider and account.
pub(in crate::web) fn usage(rate: &Rate) -> String {
    let mut words =
        vec![model(&rate.accelerator), rate.sku.clone(), rate.pricing.clone(), rate.region.clone()];
    words.retain(|word| !word.is_empty());
    if words.is_empty() { "any usage".to_owned() } else { words.join(", ") }
}

fn model(id: &str) -> String {
    accelerator::model(id).map_or_else(|| id.to_owned(), |it| it.name.to_owned())
}

impl Page {
    /// Where a rate for some usage is entered.
    #[expect(clippy::unused_self, reason = "templates ask the page")]
    fn price(&self, usage: &UnpricedUsage) -> String {
        let asked = form::Begin::of(usage);
        paths::with_query(paths::NewRate, &asked)
    }

    fn model(&self, usage: &UnpricedUsage) -> String {
        let _ = self;
        model(&usage.accelerator)
    }
}

// The columns of a file of rates.
csv::record! {
    |it: Line|
    "provider" => &it.rate.provider,
    "billing_account" => &it.rate.billing_account,
    "sku" => &it.rate.sku,
    "accelerator" => &it.rate.accelerator,
    "region" => &it.rate.region,
    "pricing" => &it.rate.pricing,
    "unit" => &it.rate.unit,
    "from_quantity" => it.rate.from_quantity,
    "price" => it.rate.price,
    "currency" => &it.rate.currency,
    "valid_from" => it.rate.valid_from,
    "valid_to" => it.rate.valid_to,
    "source" => &it.rate.source,
    "contract" => &it.rate.contract,
}
