//! How charges get their owners: rules, shared costs, the organization, labels.

pub mod labels;
pub mod organization;
pub mod quantities;
pub mod rule_form;
pub mod rules;
mod shared_cost_form;
pub mod shared_costs;
pub mod unallocated;

use axum::response::Response;
use serde::Deserialize;
use sqlx::PgConnection;

use super::changes::{LONGEST_REASON, conflicts};
use super::error::{Error, Result};
use super::layout::Layout;
use super::{Access, paths, respond};
use crate::accounts::Viewer;
use crate::allocation::{Configuration, Edit, Entry, Label, Sheet};
use crate::audit::Act;
use crate::changes::{self, About, Document as _, Outcome, Problem, Right};
use crate::period::BillingMonth;
use crate::report::Answers;

/// The parts of the allocation, as tabs: a name, its address, whether it is this page's.
pub fn tabs(layout: &Layout) -> Vec<(&'static str, String, bool)> {
    let sheet = |sheet: Sheet| paths::Organization { sheet }.to_string();
    let is_at = |below: &str| layout.is_at(below);
    [
        ("Rules", paths::Rules.to_string(), is_at("/rules")),
        ("Unallocated", paths::AnyUnallocated.to_string(), is_at("/unallocated")),
        ("Shared costs", paths::SharedCosts.to_string(), is_at("/shared-costs")),
        ("Organization", sheet(Sheet::Teams), is_at("/organization")),
        ("Labels", paths::Labels { label: Label::Team }.to_string(), is_at("/labels")),
        ("Quantities", paths::Quantities.to_string(), is_at("/quantities")),
        ("Changes", paths::Changes.to_string(), is_at("/changes")),
    ]
    .into()
}

/// `?month=2026-09`: the month whose charges are shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfMonth {
    month: Option<String>,
}

impl OfMonth {
    /// The latest month where none was asked for; `None` while there is none.
    async fn month(&self, db: &mut PgConnection, answers: &Answers) -> Result<Option<BillingMonth>> {
        match &self.month {
            None => Ok(answers.latest_month(db, &Viewer::Everything).await?),
            Some(text) => month("month", text)
                .map_err(|problem| Error::BadRequest(format!("{}: {}.", problem.of, problem.message))),
        }
    }
}

/// The configuration as it holds now.
pub async fn configuration_now(db: &mut PgConnection) -> sqlx::Result<Configuration> {
    Ok(Configuration::current(db).await?.1)
}

/// What became of edits that somebody sent.
pub enum Sent {
    /// The page to go on with.
    To(Response),
    /// Nothing changed, for these reasons.
    Refused(Vec<Problem>),
}

/// Drafts edits and goes to their preview, or for who may and wishes to, applies them and goes back.
pub async fn send(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    about: impl Into<About<'_>>,
    at_once: Option<String>,
    act: Act<'_>,
) -> Result<Sent> {
    let about = about.into();
    if let Some(back) = at_once {
        return Ok(match changes::change::<Configuration>(db, edits, about, Right::Apply, act).await? {
            Outcome::At { change, version } => {
                let sentence = format!("Saved: {}. Version {version}.", about.summary);
                Sent::To(respond::flash_undo(back, &sentence, change))
            }
            Outcome::Waits(_) | Outcome::Nothing | Outcome::Decided => {
                Sent::To(respond::flash(back, "Nothing changed: this was saved before."))
            }
            Outcome::Refused(problems) => Sent::Refused(problems),
            Outcome::Conflict(of) => Sent::Refused(conflicts(&of)),
        });
    }
    Ok(match changes::draft::<Configuration>(db, edits, None, about, act).await? {
        Outcome::At { change, .. } | Outcome::Waits(change) => {
            Sent::To(respond::see_other(paths::Change { change }))
        }
        Outcome::Nothing | Outcome::Decided => {
            Sent::Refused(vec![problem("This form", "nothing was changed")])
        }
        Outcome::Refused(problems) => Sent::Refused(problems),
        Outcome::Conflict(of) => Sent::Refused(conflicts(&of)),
    })
}

/// Whether what was sent is to hold at once: an administrator asked for it.
pub fn is_at_once(layout: &Layout, wish: &str) -> bool {
    wish == "save" && layout.may(Access::Admin)
}

/// A month that was typed into a field of this title; `None` for an empty one.
pub fn month(title: &str, text: &str) -> Result<Option<BillingMonth>, Problem> {
    match text.trim() {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|_| problem(title, &format!("found “{text}”; enter a month such as 2026-09"))),
    }
}

/// What was typed as the reason, if anything was: as much of it as a change takes.
pub fn reason(text: &str) -> Option<&str> {
    let text = text.trim();
    let end = text.char_indices().nth(LONGEST_REASON).map_or(text.len(), |(at, _)| at);
    Some(&text[..end]).filter(|reason| !reason.is_empty())
}

pub fn problem(of: &str, message: &str) -> Problem {
    Problem { of: of.to_owned(), message: message.to_owned() }
}

/// An entry made to read otherwise: in all its months, or from one on.
pub async fn rewrite(
    db: &mut PgConnection,
    id: i64,
    before: &Entry,
    after: Entry,
    since: Option<BillingMonth>,
) -> sqlx::Result<Vec<Edit>> {
    Ok(match since {
        None => vec![Edit { id, before: Some(before.clone()), after: Some(after) }],
        Some(month) => {
            let new_id = changes::entry_ids(db, 1).await?.pop().unwrap_or_default();
            Edit::since(month, id, before, after, new_id)
        }
    })
}
