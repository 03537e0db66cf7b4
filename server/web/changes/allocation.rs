//! `/changes/7`: a change of the allocation, with what it would move, or moved.

use askama::Template;
use serde_json::json;

use super::super::allocation::shared_costs;
use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Db, Reading};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::{filters, paths, respond};
use super::differences::{Places, differences};
use super::frame::Frame;
use crate::allocation::{Configuration, Edit, Entry};
use crate::changes::{self, Document as _, Edit as _, Problem, Status};
use crate::report::{self, Answers, Merge, Merged, Preview};

#[derive(Template)]
#[template(path = "changes/allocation.html")]
pub struct Page {
    layout: Layout,
    frame: Frame,
    edits: Vec<Edit>,
    places: Places,
    /// Shared costs that it makes and that nothing sends costs to: a name, and the form of a rule.
    unreached: Vec<(String, String)>,
    preview: Preview,
    /// Experiments of different teams that become one.
    merges: Vec<Merge>,
}

pub async fn find(
    layout: Layout,
    db: &mut Db,
    answers: &Answers,
    id: i64,
    problems: Vec<Problem>,
) -> Result<Page> {
    let change = changes::find::<Configuration>(db, id).await?.ok_or(Error::NotFound)?;
    let preview = report::preview(db, answers, &change).await?;
    let (now, current) = Configuration::current(&mut *db).await?;
    let version = change.outline.applied_version.map_or(now, |applied| applied - 1);
    let before = Configuration::as_of(db, version).await?;
    let merges = report::merges(db, answers, &change.edits, version).await?;
    let places = Places::of(&before, &change.edits);
    let unreached = match change.outline.status {
        Status::Draft | Status::Proposed => unreached(&before.edited(&change.edits), &change.edits),
        Status::Applied => unreached(&current, &change.edits),
        Status::Undone | Status::Discarded => Vec::new(),
    };
    let frame = Frame::new(&layout, &change, &current, problems);
    Ok(Page { layout, frame, edits: change.edits, places, unreached, preview, merges })
}

impl Page {
    fn differences(&self, edit: &Edit) -> Vec<(String, String, String)> {
        differences(edit, &self.places)
    }

    fn here(&self) -> paths::Change {
        paths::Change { change: self.frame.outline.id }
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

pub async fn show(path: paths::Change, format: Format, reading: Reading) -> Result {
    let Reading { layout, app, mut db, .. } = reading;
    let id = path.change;
    let page = find(layout, &mut db, &app.answers, id, Vec::new()).await?;
    match format {
        Format::Html => respond::html(page),
        Format::Json => {
            let it = &page.frame.outline;
            // Of what was applied at once nobody drafted anything.
            let is_drafted = it.decided_at != Some(it.made_at) || it.applied_version.is_none();
            let conflicts = if page.frame.is_open() { page.frame.conflicts.as_slice() } else { &[] };
            respond::json(&json!({
                "change": {
                    "id": it.id,
                    "status": if it.status.is_open() { Status::Draft } else { it.status },
                    "summary": it.summary,
                    "edits": page.edits,
                    "drafted_at": it.made_at,
                    "drafted_by": it.made_by,
                    "draft_reason": it.reason.as_ref().filter(|_| is_drafted),
                    "proposed_at": it.proposed_at,
                    "decided_at": it.decided_at,
                    "decided_by": it.decided_by,
                    "reason": it.decision_reason,
                    "applied_sequence": it.applied_version,
                    "undone_at": it.undone_at,
                    "undone_by": it.undone_by,
                    "undo_reason": it.undo_reason,
                    "undone_sequence": it.undone_version,
                },
                "conflicts": conflicts, "overtaken": conflicts,
                "moves": page.preview,
                "merges": page.merges,
            }))
        }
        Format::Csv => csv::answer(&format!("change-{id}"), &page.preview.moves),
    }
}

impl Merged {
    /// `Vision 120.00 and Speech 3.00`.
    pub fn payers(&self) -> String {
        let described = self.teams.iter().map(|(team, cost)| format!("{team} {}", filters::figure(*cost, 2)));
        described.collect::<Vec<_>>().join(" and ")
    }
}

csv::record! {
    |it: crate::report::Move|
    "from" => &it.from,
    "to" => &it.to,
    "keys" => it.keys,
    "charges" => it.charges,
    "credits" => it.credits,
    "effective_cost" => it.cost,
    "currency" => &it.currency,
}
