//! Changes of what is configured: one list, a page for each, and what people decide about them.

pub(super) mod adjustments;
pub(super) mod allocation;
pub(super) mod asset_register;
mod differences;
mod frame;
pub(super) mod list;
pub(super) mod prices;
pub(super) mod rate_cards;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use sqlx::PgConnection;

use super::error::{Error, Result};
use super::extract::{Db, Form, Writing};
use super::layout::Layout;
use super::{Access, filters, paths, respond};
use crate::adjustments::Adjustments;
use crate::allocation::Configuration;
use crate::changes::{self, Kind, Outcome, Problem, Status};
use crate::onprem::AssetRegister;
use crate::price_catalogue::Entries;
use crate::rate_cards::RateCards;
use crate::report::Answers;

/// A longer reason than that says what the change itself does.
pub const LONGEST_REASON: usize = 1000;

/// Why it is proposed, applied, undone or discarded.
#[derive(Deserialize)]
pub struct Why {
    #[serde(default)]
    reason: String,
}

impl Why {
    pub fn reason(&self) -> Result<Option<&str>> {
        reason(&self.reason).map_err(|sentence| Error::BadRequest(format!("Reason: {sentence}")))
    }
}

/// What was typed of why; nothing where that is empty.
pub fn reason(text: &str) -> Result<Option<&str>, String> {
    let text = text.trim();
    if text.chars().nth(LONGEST_REASON).is_some() {
        return Err("enter at most 1,000 characters.".to_owned());
    }
    Ok(Some(text).filter(|it| !it.is_empty()))
}

/// The same for the document of each kind.
macro_rules! of_document {
    ($kind:expr, $document:ident => $do:expr) => {
        match $kind {
            Kind::Allocation => {
                type $document = Configuration;
                $do
            }
            Kind::AssetRegister => {
                type $document = AssetRegister;
                $do
            }
            Kind::Prices => {
                type $document = Entries;
                $do
            }
            Kind::RateCards => {
                type $document = RateCards;
                $do
            }
            Kind::Adjustments => {
                type $document = Adjustments;
                $do
            }
        }
    };
}

/// The page of a change.
pub fn page(kind: Kind, change: i64) -> String {
    match kind {
        Kind::Allocation => paths::Change { change }.to_string(),
        Kind::AssetRegister => paths::AssetRegisterChange { change }.to_string(),
        Kind::Prices => paths::PriceChange { change }.to_string(),
        Kind::RateCards => paths::RateCardChange { change }.to_string(),
        Kind::Adjustments => paths::AdjustmentChange { change }.to_string(),
    }
}

/// Who applies and undoes changes of a kind.
fn decides(kind: Kind) -> Access {
    match kind {
        Kind::Allocation | Kind::AssetRegister | Kind::Prices => Access::Admin,
        Kind::RateCards | Kind::Adjustments => Access::Finance,
    }
}

/// What a decision takes from a request.
type Asked = (Writing, Form<Why>);

pub async fn propose(path: paths::ChangePropose, asked: Asked) -> Result {
    decide((path.kind, path.change), Status::Proposed, asked).await
}

pub async fn apply(path: paths::ChangeApply, asked: Asked) -> Result {
    decide((path.kind, path.change), Status::Applied, asked).await
}

pub async fn undo(path: paths::ChangeUndo, asked: Asked) -> Result {
    decide((path.kind, path.change), Status::Undone, asked).await
}

/// Undoes the loading of readings, and nothing else.
pub async fn undo_readings(path: paths::ReadingsUndo, mut asked: Asked) -> Result {
    let (writing, _) = &mut asked;
    let change =
        changes::find::<AssetRegister>(&mut writing.db, path.change).await?.ok_or(Error::NotFound)?;
    if !change.edits.is_empty() {
        return Err(Error::MayNotWrite);
    }
    decide((Kind::AssetRegister, path.change), Status::Undone, asked).await
}

/// Makes a change what somebody wishes it to be, and says on its page what became of it.
async fn decide((kind, id): (Kind, i64), wished: Status, asked: Asked) -> Result {
    let (Writing { now, layout, by, app, mut db, .. }, Form(why)) = asked;
    let reason = why.reason()?;
    let outcome = of_document!(kind, Document => match wished {
        Status::Proposed => changes::propose::<Document>(&mut db, id, reason, by.at(now)).await?,
        Status::Undone => changes::undo::<Document>(&mut db, id, reason, by.at(now)).await?,
        _ => changes::apply::<Document>(&mut db, id, reason, by.at(now)).await?,
    });
    if matches!(kind, Kind::RateCards | Kind::Adjustments) {
        app.notifier.notify();
    }
    Box::pin(decided(layout, &mut db, &app.answers, (kind, id), outcome, (wished, now))).await
}

pub async fn discard(path: paths::ChangeDiscard, writing: Writing, Form(why): Form<Why>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let (kind, id) = (path.kind, path.change);
    let sentence = if changes::discard(&mut db, kind, id, why.reason()?, by.at(now)).await? {
        "Discarded. Nothing changed.".to_owned()
    } else {
        decided_before(&mut db, kind, id).await?
    };
    Ok(respond::flash(page(kind, id), &sentence))
}

/// Says what became of a change, on its page. `wished`: what it was to become.
async fn decided(
    layout: Layout,
    db: &mut Db,
    answers: &Answers,
    (kind, id): (Kind, i64),
    outcome: Outcome,
    (wished, now): (Status, DateTime<Utc>),
) -> Result {
    let saying = |sentence: &str| Ok(respond::flash(page(kind, id), sentence));
    let problems = match outcome {
        Outcome::At { version, .. } => {
            let what_follows = match kind {
                Kind::Allocation => format!("Version {version}."),
                Kind::AssetRegister => "Publish the changed months to update them.".to_owned(),
                Kind::Prices => format!("Revision {version} of the price list."),
                Kind::RateCards => "Imports with other rates are priced again now.".to_owned(),
                Kind::Adjustments => "Adjustments are computed again now.".to_owned(),
            };
            let done = filters::capital(wished.as_str());
            return saying(&format!("{done}. {what_follows}"));
        }
        Outcome::Waits(_) => {
            return saying("Proposed: administrators see it on their overview. Nothing has changed yet.");
        }
        Outcome::Nothing => return saying("Nothing changed: this change has no effect."),
        Outcome::Decided => return saying(&decided_before(&mut *db, kind, id).await?),
        Outcome::Refused(problems) => problems,
        Outcome::Conflict(of) if wished == Status::Undone => {
            let message = "a later change edited this entry: undo that change first".to_owned();
            of.into_iter().map(|of| Problem { of, message: message.clone() }).collect()
        }
        Outcome::Conflict(of) => conflicts(&of),
    };
    let today = now.date_naive();
    match kind {
        Kind::Allocation => respond::refused(allocation::find(layout, db, answers, id, problems).await?),
        Kind::AssetRegister => respond::refused(asset_register::find(layout, db, id, problems, today).await?),
        Kind::Prices => respond::refused(prices::find(layout, db, id, problems, today).await?),
        Kind::RateCards => respond::refused(rate_cards::find(layout, db, answers, id, problems, now).await?),
        Kind::Adjustments => {
            respond::refused(adjustments::find(layout, db, answers, id, problems, now).await?)
        }
    }
}

/// Why nothing happened to a change: what was decided of it, if there is one.
async fn decided_before(db: &mut PgConnection, kind: Kind, id: i64) -> Result<String> {
    let change = changes::outlines(db, &[(kind, id)]).await?.pop().ok_or(Error::NotFound)?;
    let who = |by: Option<String>| by.map(|by| format!(" by {by}")).unwrap_or_default();
    Ok(match change.status {
        Status::Draft => "Nothing changed: this change is a draft.".to_owned(),
        Status::Proposed => "Nothing changed: this change is proposed and needs review.".to_owned(),
        Status::Applied => format!("Nothing changed: this change was applied{}.", who(change.decided_by)),
        Status::Undone => format!("Nothing changed: this change was undone{}.", who(change.undone_by)),
        Status::Discarded => format!("Nothing changed: this change was discarded{}.", who(change.decided_by)),
    })
}

/// Entries that somebody changed meanwhile, as reasons.
pub fn conflicts(of: &[String]) -> Vec<Problem> {
    let message = "edited by somebody else: check the current values and try again";
    of.iter().map(|title| Problem { of: title.clone(), message: message.to_owned() }).collect()
}
