//! `/changes`: every change of the allocation. A draft with what it would move; who decided, when and why; undo.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use serde::Deserialize;

use super::super::error::{Error, Result};
use super::super::extract::{Db, Form, Query, cookie};
use super::super::layout::Layout;
use super::super::respond::{As, Cell, Format, Record};
use super::super::{Access, filters, paths, respond};
use super::overtaken;
use crate::allocation::{self, Change, Edit, Entry, Outcome, Problem, Sheet, Status};
use crate::audit::Actor;
use crate::clock;
use crate::config::Settings;
use crate::report::{self, Answers, Preview};

/// Changes on a page.
const PAGE: i64 = 50;

#[derive(Template)]
#[template(path = "allocation/changes.html")]
struct Index {
    layout: Layout,
    changes: Vec<Change>,
}

/// `?before=17`: those with lower numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    before: Option<i64>,
}

pub async fn index(_: paths::Changes, layout: Layout, Query(asked): Query<Asked>, mut db: Db) -> Result {
    let changes = allocation::changes(&mut db, asked.before.unwrap_or(i64::MAX), PAGE).await?;
    respond::html(Index { layout, changes })
}

#[derive(Template)]
#[template(path = "allocation/change.html")]
struct Page {
    layout: Layout,
    change: Change,
    preview: Preview,
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
        Ok(Self { layout, change, preview, problems })
    }
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
        Format::Json => respond::json(&serde_json::json!({ "change": page.change, "moves": page.preview })),
        Format::Csv => respond::csv(&format!("change-{id}"), &page.preview.moves),
    }
}

#[derive(Deserialize)]
pub struct ApplyForm {
    #[serde(default)]
    reason: String,
}

pub async fn apply(
    path: paths::ChangeApply,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    State(answers): State<Arc<Answers>>,
    mut db: Db,
    Form(form): Form<ApplyForm>,
) -> Result {
    let reason = Some(form.reason.trim()).filter(|reason| !reason.is_empty());
    let outcome = allocation::apply(&mut db, path.change, reason, &by, clock::now()).await?;
    decided(layout, &mut db, &answers, path.change, outcome, "Applied", &settings).await
}

pub async fn undo(
    path: paths::ChangeUndo,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    State(answers): State<Arc<Answers>>,
    mut db: Db,
) -> Result {
    let outcome = allocation::undo(&mut db, path.change, &by, clock::now()).await?;
    decided(layout, &mut db, &answers, path.change, outcome, "Undone", &settings).await
}

pub async fn discard(
    path: paths::ChangeDiscard,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
) -> Result {
    let sentence = if allocation::discard(&mut db, path.change, &by, clock::now()).await? {
        "The draft is discarded; nothing changed."
    } else {
        "Nothing changed: it was decided before."
    };
    Ok(back(path.change, sentence, &settings))
}

async fn decided(
    layout: Layout,
    db: &mut Db,
    answers: &Answers,
    id: i64,
    outcome: Outcome,
    done: &str,
    settings: &Settings,
) -> Result {
    let problems = match outcome {
        Outcome::At(step) => {
            let sentence = format!("{done}: it is step {step} of the ledger, and every page shows it.");
            return Ok(back(id, &sentence, settings));
        }
        Outcome::Already => return Ok(back(id, "Nothing changed: it was decided before.", settings)),
        Outcome::Refused(problems) => problems,
        Outcome::Overtaken(of) => overtaken(&of),
    };
    respond::refused(Page::find(layout, db, answers, id, problems).await?)
}

fn back(change: i64, sentence: &str, settings: &Settings) -> axum::response::Response {
    let mut response = respond::see_other(paths::Change { change: As::page(change) });
    cookie::leave_flash(&mut response, sentence, settings);
    response
}

/// A change's state in a word, and the kind of its badge.
pub fn state(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Draft => ("draft", "wait"),
        Status::Applied => ("applied", "good"),
        Status::Undone => ("undone", "bad"),
        Status::Discarded => ("discarded", ""),
    }
}

/// What an edit does to an entry, field by field: the name, what was, what will be.
pub fn differences(edit: &Edit) -> Vec<(String, String, String)> {
    let (before, after) = (edit.before.as_ref().map(told), edit.after.as_ref().map(told));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let names: Vec<&String> = before.iter().chain(&after).map(|(name, _)| name).collect();
    let of = |told: &[(String, String)], name: &str| {
        told.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut differences: Vec<(String, String, String)> = Vec::new();
    for name in names {
        let (then, now) = (of(&before, name), of(&after, name));
        if then != now && !differences.iter().any(|(known, ..)| known == name) {
            differences.push((name.clone(), then, now));
        }
    }
    differences
}

/// An entry in words, field by field.
fn told(entry: &Entry) -> Vec<(String, String)> {
    let mut told: Vec<(String, String)> = match (entry, Sheet::of(entry)) {
        (_, Some(sheet)) => {
            let row = sheet.row(entry);
            let columns = sheet.columns().iter().filter(|column| !matches!(**column, "first" | "last"));
            columns.map(|column| (column.replace('_', " "), row[column].clone())).collect()
        }
        (Entry::Rule(rule), _) => vec![
            ("name".into(), rule.name.clone()),
            ("when".into(), super::rules::conditions(rule)),
            ("to".into(), super::rules::target(&rule.to)),
            ("place".into(), rule.place.to_string()),
        ],
        (Entry::Pool(pool), _) => vec![
            ("name".into(), pool.name.clone()),
            ("divided".into(), super::pools::split(&pool.split)),
            ("only".into(), pool.among.join(", ")),
            ("without".into(), pool.without.join(", ")),
            ("pools that take part".into(), pool.pools.join(", ")),
        ],
        (Entry::Meaning(it), _) => vec![("tags".into(), it.keys.join(", "))],
        (Entry::Value(it), _) => {
            vec![("value".into(), it.value.clone()), ("spellings".into(), it.spellings.join(", "))]
        }
        (Entry::Budget(it), _) => vec![
            ("of".into(), it.of.in_words()),
            ("amount".into(), format!("{} {}", it.amount, it.currency)),
            (
                "thresholds".into(),
                it.thresholds.iter().map(|percent| format!("{percent} %")).collect::<Vec<_>>().join(", "),
            ),
        ],
        _ => Vec::new(),
    };
    let months = entry.months().in_words();
    told.push(("months".into(), if months.is_empty() { "all".into() } else { months }));
    told
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
