//! `/asset-register/changes/7`: a change of the asset register with what it would move, or moved, by cluster and month; undo.

use askama::Template;
use serde_json::json;
use sqlx::PgConnection;

use super::super::csv::{self, Cell, Record};
use super::super::error::{Error, Result};
use super::super::extract::Db;
use super::super::layout::Layout;
use super::super::respond::{As, Format};
use super::super::{Access, filters, paths, respond};
use super::changes::{differences, look, undo_of};
use super::cluster::to_month;
use crate::clock;
use crate::compute::compute;
use crate::onprem::{self, Change, Edit, MovedAmount, Moves, Sides, Status};

#[derive(Template)]
#[template(path = "clusters/change.html")]
struct Page {
    layout: Layout,
    change: Change,
    /// What it would move, or moved; none of one that was discarded.
    moves: Option<Moves>,
    /// What undoing it would move, where that is not the same backwards.
    undoing: Option<Moves>,
    /// Entries that are not as a proposal found them, or as a change left them, so that it cannot be applied or undone.
    conflicts: Vec<String>,
}

impl Page {
    async fn find(layout: Layout, db: &mut PgConnection, id: i64) -> Result<Self> {
        let change = onprem::find(&mut *db, id).await?.ok_or(Error::NotFound)?;
        let moves = computed(onprem::sides(&mut *db, &change).await?).await?;
        let (revision, asset_register) = onprem::current(&mut *db).await?;
        let conflicts = match change.status {
            Status::Proposed => asset_register.conflicts(&change.edits),
            Status::Applied => {
                let back: Vec<Edit> = change.edits.iter().cloned().map(Edit::undone).collect();
                asset_register.conflicts(&back)
            }
            _ => Vec::new(),
        };
        let undoing = match change.applied_revision {
            Some(applied) if applied < revision && conflicts.is_empty() => {
                computed(onprem::sides_of_undoing(&mut *db, &change).await?).await?
            }
            _ => None,
        };
        Ok(Self { layout, change, moves, undoing, conflicts })
    }

    fn may_decide(&self) -> bool {
        self.layout.may(Access::Admin)
    }

    fn is_proposed(&self) -> bool {
        self.change.status == Status::Proposed
    }

    fn is_applied(&self) -> bool {
        self.change.status == Status::Applied
    }

    fn undo(&self) -> Option<String> {
        undo_of(&self.layout, &self.change).filter(|_| self.conflicts.is_empty())
    }

    fn apply(&self) -> paths::AssetRegisterApply {
        paths::AssetRegisterApply { change: self.change.id }
    }

    fn discard(&self) -> paths::AssetRegisterDiscard {
        paths::AssetRegisterDiscard { change: self.change.id }
    }

    fn here(&self) -> paths::AssetRegisterChange {
        paths::AssetRegisterChange { change: As::page(self.change.id) }
    }
}

fn to_moved(it: &MovedAmount) -> String {
    to_month(&it.cluster, it.month)
}

/// Every line of every month is made twice, which takes long of many machines.
async fn computed(sides: Option<Sides>) -> Result<Option<Moves>> {
    let Some(sides) = sides else { return Ok(None) };
    let today = clock::now().date_naive();
    Ok(Some(compute(move || sides.moves(today)).await?))
}

pub async fn show(path: paths::AssetRegisterChange, layout: Layout, mut db: Db) -> Result {
    let As { value: id, format } = path.change;
    let page = Page::find(layout, &mut db, id).await?;
    match format {
        Format::Html => respond::html(page),
        Format::Json => respond::json(&json!({
            "change": page.change,
            "conflicts": page.conflicts, "overtaken": page.conflicts,
            "moves": page.moves,
            "undoing": page.undoing,
        })),
        Format::Csv => {
            let amounts = page.moves.map(|moves| moves.amounts).unwrap_or_default();
            csv::answer(&format!("register-change-{id}"), &amounts)
        }
    }
}

impl Record for MovedAmount {
    const COLUMNS: &'static [&'static str] = &[
        "cluster",
        "month",
        "currency",
        "effective_before",
        "effective_after",
        "effective_difference",
        "billed_before",
        "billed_after",
        "billed_difference",
        "counts",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        vec![
            Cell::text(self.cluster.as_str()),
            Cell::text(self.month.to_string()),
            Cell::text(self.currency.as_str()),
            Cell::Number(self.effective.before),
            Cell::Number(self.effective.after),
            Cell::Number(self.effective.difference),
            Cell::Number(self.billed.before),
            Cell::Number(self.billed.after),
            Cell::Number(self.billed.difference),
            Cell::text(if self.counts { "yes" } else { "no" }),
        ]
    }
}
