//! `/changes/7`: a change of the allocation. A draft with what it would move; who decided, when and why; undo.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use serde::Deserialize;

use super::super::csv::{self, Cell, Record};
use super::super::error::{Error, Result};
use super::super::extract::{Db, Form, cookie};
use super::super::layout::Layout;
use super::super::respond::{As, Format};
use super::super::{Access, filters, paths, respond};
use super::differences::{Places, differences};
use super::{configuration_now, conflicts, reason, shared_costs};
use crate::allocation::{self, Change, Configuration, Edit, Entry, Outcome, Problem, Stage, Status};
use crate::audit::Actor;
use crate::clock;
use crate::ledger;
use crate::report::{self, Answers, Merge, Merged, Preview};

#[derive(Template)]
#[template(path = "allocation/change.html")]
struct Page {
    layout: Layout,
    change: Change,
    places: Places,
    /// Pools that it makes and that nothing sends costs to: a name, and the form of a rule.
    unreached: Vec<(String, String)>,
    preview: Preview,
    /// Entries of a draft that are not as they were when it was drafted.
    conflicts: Vec<String>,
    /// Experiments of different teams that become one.
    merges: Vec<Merge>,
    problems: Vec<Problem>,
}

impl Page {
    async fn find(
        layout: Layout,
        db: &mut Db,
        answers: &Answers,
        id: i64,
        problems: Vec<Problem>,
    ) -> Result<Self> {
        let change = allocation::change(db, id).await?.ok_or(Error::NotFound)?;
        let preview = report::preview(db, answers, &change).await?;
        let step = match change.applied_sequence {
            Some(step) => step - 1,
            None => ledger::sequence(&mut *db).await?,
        };
        let before = allocation::configuration(db, step).await?;
        let merges = report::merges(db, answers, &change.edits, step).await?;
        let places = Places::of(&before, &change.edits);
        let conflicts = match change.status {
            Status::Draft => before.conflicts(&change.edits),
            _ => Vec::new(),
        };
        let unreached = match change.status {
            Status::Draft => unreached(&before.edited(&change.edits), &change.edits),
            Status::Applied => unreached(&configuration_now(db).await?, &change.edits),
            Status::Undone | Status::Discarded => Vec::new(),
        };
        Ok(Self { layout, change, places, unreached, preview, conflicts, merges, problems })
    }

    fn differences(&self, edit: &Edit) -> Vec<(String, String, String)> {
        differences(edit, &self.places)
    }

    fn apply(&self) -> paths::ChangeApply {
        paths::ChangeApply { change: self.change.id }
    }

    fn propose(&self) -> paths::ChangePropose {
        paths::ChangePropose { change: self.change.id }
    }

    fn discard(&self) -> paths::ChangeDiscard {
        paths::ChangeDiscard { change: self.change.id }
    }

    fn undo(&self) -> paths::ChangeUndo {
        paths::ChangeUndo { change: self.change.id }
    }

    /// What was decided: applied or discarded.
    fn decision(&self) -> &'static str {
        if self.change.status == Status::Discarded { "Discarded" } else { "Applied" }
    }
}

/// New pools of these edits that nothing in a configuration sends costs to.
fn unreached(configuration: &Configuration, edits: &[Edit]) -> Vec<(String, String)> {
    let new = edits.iter().filter_map(|edit| match (&edit.before, &edit.after) {
        (None, Some(Entry::Pool(pool))) => Some(pool),
        _ => None,
    });
    let unreached = new.filter(|pool| !shared_costs::is_reached(configuration, &pool.handle));
    unreached.map(|pool| (pool.name.clone(), shared_costs::rule_for(pool))).collect()
}

pub async fn show(
    path: paths::Change,
    layout: Layout,
    State(answers): State<Arc<Answers>>,
    mut db: Db,
) -> Result {
    let As { value: id, format } = path.change;
    let page = Page::find(layout, &mut db, &answers, id, Vec::new()).await?;
    match format {
        Format::Html => respond::html(page),
        Format::Json => respond::json(&serde_json::json!({
            "change": page.change,
            "conflicts": page.conflicts, "overtaken": page.conflicts,
            "moves": page.preview,
            "merges": page.merges,
        })),
        Format::Csv => csv::answer(&format!("change-{id}"), &page.preview.moves),
    }
}

/// Why it is proposed, applied, undone or discarded.
#[derive(Deserialize)]
pub struct WhyForm {
    #[serde(default)]
    reason: String,
}

pub async fn propose(path: paths::ChangePropose, by: Actor, mut db: Db, Form(form): Form<WhyForm>) -> Result {
    let sentence =
        if allocation::propose(&mut db, path.change, reason(&form.reason), &by, clock::now()).await? {
            "It is proposed: administrators see it on their overview. Nothing has changed yet."
        } else {
            "Nothing changed: it was decided before."
        };
    Ok(back(path.change, sentence))
}

pub async fn apply(
    path: paths::ChangeApply,
    layout: Layout,
    by: Actor,
    State(answers): State<Arc<Answers>>,
    mut db: Db,
    Form(form): Form<WhyForm>,
) -> Result {
    let outcome = allocation::apply(&mut db, path.change, reason(&form.reason), &by, clock::now()).await?;
    decided(layout, &mut db, &answers, path.change, outcome, "Applied").await
}

pub async fn undo(
    path: paths::ChangeUndo,
    layout: Layout,
    by: Actor,
    State(answers): State<Arc<Answers>>,
    mut db: Db,
    Form(form): Form<WhyForm>,
) -> Result {
    let outcome = allocation::undo(&mut db, path.change, reason(&form.reason), &by, clock::now()).await?;
    decided(layout, &mut db, &answers, path.change, outcome, "Undone").await
}

pub async fn discard(path: paths::ChangeDiscard, by: Actor, mut db: Db, Form(form): Form<WhyForm>) -> Result {
    let sentence =
        if allocation::discard(&mut db, path.change, reason(&form.reason), &by, clock::now()).await? {
            "The draft is discarded; nothing changed."
        } else {
            "Nothing changed: it was decided before."
        };
    Ok(back(path.change, sentence))
}

async fn decided(
    layout: Layout,
    db: &mut Db,
    answers: &Answers,
    id: i64,
    outcome: Outcome,
    done: &str,
) -> Result {
    let problems = match outcome {
        Outcome::At(step) => {
            let sentence = format!("{done}. It is version {step}, and every page shows it.");
            return Ok(back(id, &sentence));
        }
        Outcome::Already => return Ok(back(id, "Nothing changed: it was decided before.")),
        Outcome::Refused(problems) => problems,
        Outcome::Conflict(of) => conflicts(&of),
    };
    respond::refused(Page::find(layout, db, answers, id, problems).await?)
}

fn back(change: i64, sentence: &str) -> axum::response::Response {
    let mut response = respond::see_other(paths::Change { change: As::page(change) });
    cookie::leave_flash(&mut response, sentence);
    response
}

impl Merged {
    /// `Vision 120.00 and Speech 3.00`.
    pub fn payers(&self) -> String {
        let described = self.teams.iter().map(|(team, cost)| format!("{team} {}", filters::figure(*cost, 2)));
        described.collect::<Vec<_>>().join(" and ")
    }
}

/// How a change stands in a word, and the kind of its badge.
pub fn state(stage: Stage) -> (&'static str, &'static str) {
    let kind = match stage {
        Stage::Proposed | Stage::Draft => "wait",
        Stage::Applied => "good",
        Stage::Undone => "bad",
        Stage::Discarded => "",
    };
    (stage.as_str(), kind)
}

impl Record for crate::report::Move {
    const COLUMNS: &'static [&'static str] =
        &["from", "to", "keys", "charges", "credits", "effective_cost", "currency"];

    fn cells(&self) -> Vec<Cell<'_>> {
        vec![
            Cell::text(self.from.as_str()),
            Cell::text(self.to.as_str()),
            Cell::Number(self.keys.into()),
            Cell::Number(self.charges),
            Cell::Number(self.credits),
            Cell::Number(self.cost),
            Cell::text(self.currency.as_str()),
        ]
    }
}
