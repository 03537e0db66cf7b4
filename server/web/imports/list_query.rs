//! What an address asks of the history: `/imports?state=active&provider=AWS&sort=rows&page=2`.

use serde::{Deserialize, Serialize};

use super::super::format::File;
use crate::report::{self, DeliveryState, HistoryChoices, HistoryFilter, HistoryOrder, ImportLine};
use crate::web::csv;
use crate::web::error::{Error, Result};
use crate::web::paths;

/// As the form sends it: what is not chosen is empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryQuery {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub state: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub format: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub provider: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub account: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub month: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub person: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sort: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
}

/// Pages beyond are empty.
const LAST_PAGE: i64 = 1_000_000;

impl HistoryQuery {
    pub fn filter(&self) -> Result<HistoryFilter> {
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let refused = |name: &str, expected: &str| Error::BadRequest(format!("{name}: enter {expected}."));
        Ok(HistoryFilter {
            state: match self.state.as_str() {
                "" => None,
                state => Some(
                    DeliveryState::parse(state).ok_or_else(|| refused("state", "a state such as active"))?,
                ),
            },
            format: text(&self.format),
            provider: text(&self.provider),
            account: text(&self.account),
            month: match self.month.trim() {
                "" => None,
                month => Some(month.parse().map_err(|_| refused("month", "a month such as 2026-09"))?),
            },
            person: text(&self.person),
        })
    }

    pub fn order(&self) -> Result<HistoryOrder> {
        match self.sort.as_str() {
            "" => Ok(HistoryOrder::default()),
            sort => sort
                .parse()
                .map_err(|_| Error::BadRequest("sort: enter newest, oldest, rows or rejected.".into())),
        }
    }

    /// From 1.
    pub fn page(&self) -> i64 {
        self.page.unwrap_or(1).clamp(1, LAST_PAGE)
    }

    /// The address that asks this.
    pub fn link(&self) -> String {
        let href = paths::with_query(paths::Imports, self);
        href.trim_end_matches('?').to_owned()
    }

    /// The same as a file.
    pub fn file(&self, file: File) -> String {
        file.of(self.link())
    }
}

/// Fields of the form to narrow the history: name, label, and (value, text, whether it is chosen).
pub type Select = (&'static str, &'static str, Vec<(String, String, bool)>);

pub fn selects(query: &HistoryQuery, choices: &HistoryChoices) -> Vec<Select> {
    let options = |chosen: &str, all: Vec<(String, String)>| {
        let any = (String::new(), "any".to_owned(), chosen.is_empty());
        let rest = all.into_iter().map(|(value, text)| {
            let is_chosen = value == chosen;
            (value, text, is_chosen)
        });
        std::iter::once(any).chain(rest).collect()
    };
    let plain = |values: &[String]| values.iter().map(|value| (value.clone(), value.clone())).collect();
    let states = DeliveryState::ALL.map(|state| (state.as_str().to_owned(), state.on_page().to_owned()));
    let orders = HistoryOrder::ALL.into_iter().map(|order| {
        let text = match order {
            HistoryOrder::Newest => "newest first",
            HistoryOrder::Oldest => "oldest first",
            HistoryOrder::Rows => "most rows first",
            HistoryOrder::Rejected => "most rejected rows first",
        };
        let is_chosen =
            query.sort == order.as_str() || (query.sort.is_empty() && order == HistoryOrder::Newest);
        (order.as_str().to_owned(), text.to_owned(), is_chosen)
    });
    vec![
        ("state", "State", options(&query.state, states.to_vec())),
        ("format", "Format", options(&query.format, plain(&choices.formats))),
        ("provider", "Provider", options(&query.provider, plain(&choices.providers))),
        ("person", "Imported by", options(&query.person, plain(&choices.people))),
        ("sort", "Sort", orders.collect()),
    ]
}

/// A delivery's account and month in one currency as a line of a file; a delivery without any is one line.
pub struct HistoryRow<'a> {
    line: &'a ImportLine,
    scope: Option<&'a report::ImportScope>,
}

pub fn rows(lines: &[ImportLine]) -> Vec<HistoryRow<'_>> {
    let rows = lines.iter().flat_map(|line| {
        let none = line.scopes.is_empty().then_some(HistoryRow { line, scope: None });
        none.into_iter().chain(line.scopes.iter().map(move |scope| HistoryRow { line, scope: Some(scope) }))
    });
    rows.collect()
}

fn list(deliveries: &[i64]) -> String {
    deliveries.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

csv::record! {
    |it: HistoryRow<'_>|
    "delivery" => it.line.delivery,
    "state" => super::state(it.line).0,
    "handed_in_at" => it.line.created_at.to_rfc3339(),
    "handed_in_by" => &it.line.created_by,
    "files" => it.line.files.join("; "),
    "format" => &it.line.format,
    "rows_read" => it.line.rows_read,
    "charges" => it.line.charges,
    "rejected" => it.line.rejected,
    "skipped" => it.line.skipped,
    "replaced" => list(&it.line.replaced),
    "superseded_by" => list(&it.line.superseded_by),
    "billing_period" => it.scope.map(report::ImportScope::month),
    "provider" => it.scope.map(|scope| &scope.provider),
    "account" => it.scope.map(|scope| &scope.billing_account),
    "currency" => it.scope.map(|scope| &scope.currency),
    "billed_cost" => it.scope.map(report::ImportScope::billed),
    "effective_cost" => it.scope.map(report::ImportScope::effective),
    "is_counted" => it.scope.map(|scope| scope.is_counted),
    "message" => &it.line.message,
    "archived_at" => it.line.archived_at.map(|at| at.to_rfc3339()),
}
