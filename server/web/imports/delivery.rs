//! `/imports/{delivery}`: everything about one delivery.

use std::collections::BTreeSet;

use askama::Template;
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::PgConnection;

use super::super::format::{File, Format};
use super::import_changes::changes_page;
use crate::ledger;
use crate::money::{Decimal, written};
use crate::report::{
    self, Change, Changes, ChangesBy, CostMetric, Delivery, DeliveryFile, Effect, ImportContents,
    ImportScope, LogLine, RejectedRow, Restates, UnrecognizedUsage,
};
use crate::storage;
use crate::web::csv;
use crate::web::error::{Error, Result};
use crate::web::extract::Db;
use crate::web::layout::Layout;
use crate::web::respond;
use crate::web::{Access, filters, paths};

#[derive(Template)]
#[template(path = "imports/delivery.html")]
struct Page {
    layout: Layout,
    path: paths::Delivery,
    delivery: Delivery,
    effects: Vec<Effect>,
    /// By service; the largest.
    changes: Changes,
    /// By team; the largest. Empty of what is published, and where there are no teams.
    of_teams: Option<Changes>,
    /// What it contains, where it waits.
    contents: ImportContents,
    /// What is final, and is not as it was after a decision.
    restates: Vec<Restates>,
    /// All imports that are archived.
    archived: Vec<i64>,
    /// Until when its file stays, where it is archived and files are removed.
    kept_until: Option<DateTime<Utc>>,
    /// What of it looks like an accelerator and is none that is known; the largest first.
    unrecognized: Vec<UnrecognizedUsage>,
}

/// A delivery as scripts read it.
#[derive(Serialize)]
struct InJson<'a> {
    #[serde(flatten)]
    delivery: &'a Delivery,
    unrecognized: Vec<UnrecognizedUsage>,
    /// While it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Vec<Effect>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<ImportContents>,
}

/// Services on this page whose cost changed.
const SHOWN_CHANGES: i64 = 8;
/// Of what is not recognized.
const SHOWN_UNRECOGNIZED: usize = 5;

pub async fn show(path: paths::Delivery, format: Format, layout: Layout, mut db: Db) -> Result {
    let delivery = report::delivery(&mut db, path.delivery).await?.ok_or(Error::NotFound)?;
    match format {
        Format::Html => {}
        Format::Json => {
            let unrecognized = unrecognized(&mut db, &delivery).await?;
            let (effects, contents) = if delivery.status == "waiting" {
                let effects = report::effects(&mut db, delivery.delivery).await?;
                (Some(effects), Some(report::import_contents(&mut db, delivery.delivery).await?))
            } else {
                (None, None)
            };
            return respond::json(&InJson { delivery: &delivery, unrecognized, effects, contents });
        }
        Format::Csv => return csv::answer(&format!("delivery-{}", delivery.delivery), &delivery.scopes),
    }
    let effects = report::effects(&mut db, delivery.delivery).await?;
    let changes = changes(&mut db, &delivery).await?;
    let (of_teams, contents) = if delivery.status == "waiting" {
        let of_teams = of_teams(&mut db, &delivery, changes.cost).await?;
        (of_teams, report::import_contents(&mut db, delivery.delivery).await?)
    } else {
        (None, ImportContents::default())
    };
    let restates = report::restates(&mut db, delivery.delivery).await?;
    let archived = report::archived(&mut db).await?;
    let kept_until = match delivery.archived_at {
        Some(at) => storage::kept_until(&mut db, at).await?,
        None => None,
    };
    let unrecognized = unrecognized(&mut db, &delivery).await?;
    respond::html(Page {
        layout,
        path,
        delivery,
        effects,
        changes,
        of_teams,
        contents,
        restates,
        archived,
        kept_until,
        unrecognized,
    })
}

/// Of billed cost, or of effective cost where that alone changed: amortized cost beside the actual one of a month.
async fn changes(db: &mut PgConnection, delivery: &Delivery) -> sqlx::Result<Changes> {
    let first = || report::Page { first: 0, size: SHOWN_CHANGES };
    let of = async |db: &mut PgConnection, cost| {
        report::changes(db, delivery.delivery, ChangesBy::Service, cost, first()).await
    };
    // The largest come first; a service that is new and costs nothing is a line, too.
    let is_changed = |changes: &Changes| changes.lines.iter().any(|line| line.before != line.after);
    let billed = of(&mut *db, CostMetric::Billed).await?;
    if is_changed(&billed) {
        return Ok(billed);
    }
    let effective = of(db, CostMetric::Effective).await?;
    Ok(if is_changed(&effective) { effective } else { billed })
}

/// How far each team moves; `None` where all of it is unallocated.
async fn of_teams(
    db: &mut PgConnection,
    delivery: &Delivery,
    cost: CostMetric,
) -> sqlx::Result<Option<Changes>> {
    let page = report::Page { first: 0, size: SHOWN_CHANGES };
    let changes = report::changes(db, delivery.delivery, ChangesBy::Team, cost, page).await?;
    let is_of_team = |line: &Change| line.team.as_ref().is_some_and(|team| team.key.is_some());
    let may_have_others = changes.count > SHOWN_CHANGES;
    Ok((may_have_others || changes.lines.iter().any(is_of_team)).then_some(changes))
}

async fn unrecognized(db: &mut PgConnection, delivery: &Delivery) -> sqlx::Result<Vec<UnrecognizedUsage>> {
    let catalog = ledger::catalog(&mut *db).await?;
    report::unrecognized_usage(db, &catalog, Some(delivery.delivery)).await
}

impl Page {
    fn title(&self) -> String {
        format!("Import {}", self.delivery.delivery)
    }

    fn is_waiting(&self) -> bool {
        self.delivery.status == "waiting"
    }

    fn may_add(&self) -> bool {
        self.layout.may(Access::Admin)
    }

    /// Nothing of it was loaded, nor is its file kept.
    fn is_refused(&self) -> bool {
        self.delivery.status == "refused"
    }

    /// Nothing of it is there any more, by a decision or an error: its rows are not counted.
    fn has_ended(&self) -> bool {
        matches!(self.delivery.status.as_str(), "refused" | "failed" | "discarded" | "cancelled")
    }

    /// Whether there is anything to say of how it was read.
    fn was_read(&self) -> bool {
        let Delivery { notes, unknown_columns, absent_columns, noisy_tags, .. } = &self.delivery;
        self.delivery.format.is_some()
            || [notes, unknown_columns, absent_columns, noisy_tags].iter().any(|texts| !texts.is_empty())
    }

    fn is_problem(&self) -> bool {
        matches!(self.delivery.status.as_str(), "refused" | "failed")
    }

    /// How many of the rejected rows a sentence is about.
    fn of_rejected(&self, rows: impl filters::Bare<i64>) -> String {
        match (rows.bare(), self.delivery.rejected) {
            (1, 1) => "It".to_owned(),
            (rows, all) if rows == all => "All of them".to_owned(),
            (rows, _) => format!("{} of them", written(Decimal::from(rows), 0)),
        }
    }

    /// Rejected rows that were imported again since.
    fn corrected_rows(&self) -> i64 {
        let Delivery { missing_rows, repeated_rows, rejected_again, .. } = &self.delivery;
        self.delivery.rejected - missing_rows - repeated_rows - rejected_again
    }

    fn is_published(&self) -> bool {
        self.delivery.status == "loaded"
    }

    /// Whether somebody should say why a month became smaller.
    fn is_unexplained(&self) -> bool {
        self.is_published() && self.delivery.shrank.iter().any(|month| month.explanation.is_none())
    }

    fn adds_first(&self) -> bool {
        self.delivery.suggested_decision.as_deref() == Some("add")
    }

    fn explain(&self) -> paths::DeliveryExplain {
        paths::DeliveryExplain { delivery: self.delivery.delivery }
    }

    /// Whether it waits only for somebody to look at it.
    fn awaits_review(&self) -> bool {
        self.is_waiting() && self.delivery.awaits_review
    }

    /// Whether it adds to what is active when it is published after review, since it corrects rows.
    fn completes(&self) -> bool {
        !self.delivery.corrects.is_empty()
    }

    /// What it replaces when it is published after review: numbers of imports.
    fn replaces(&self) -> Vec<i64> {
        let mut replaced: Vec<i64> =
            self.effects.iter().flat_map(|effect| effect.counts_now.clone()).collect();
        replaced.sort_unstable();
        replaced.dedup();
        replaced
    }

    fn all_changes(&self) -> [(String, String); 4] {
        ChangesBy::ALL.map(|by| {
            let href = changes_page(&self.changes, by, self.changes.cost);
            (format!("By {}", by.label().to_lowercase()), href)
        })
    }

    fn original(&self, file: &DeliveryFile) -> paths::DeliveryFile {
        paths::DeliveryFile { delivery: self.delivery.delivery, file: file.file_no }
    }

    fn rejected_of(&self, file: &DeliveryFile) -> paths::DeliveryFileRejected {
        paths::DeliveryFileRejected { delivery: self.delivery.delivery, file: file.file_no }
    }

    fn row(&self, row: &RejectedRow) -> paths::Charge {
        paths::Charge { delivery: self.delivery.delivery, file: row.file_no, row: row.row }
    }

    fn rejections(&self) -> String {
        File::Csv.of(paths::DeliveryRejections { delivery: self.delivery.delivery })
    }

    /// Archived imports that an undo would make active again.
    fn archived_below(&self) -> Vec<i64> {
        let without: BTreeSet<i64> = self.effects.iter().flat_map(|it| &it.counts_without).copied().collect();
        self.archived.iter().copied().filter(|other| without.contains(other)).collect()
    }

    fn undo(&self) -> paths::DeliveryUndo {
        paths::DeliveryUndo { delivery: self.delivery.delivery }
    }

    /// What happens to the figures when the delivery is undone.
    fn undo_question(&self) -> String {
        let delivery = self.delivery.delivery;
        if !self.delivery.is_counted {
            return format!("No figures change: import {delivery} is not active.");
        }
        let sorted = |of: fn(&Effect) -> &Vec<i64>| self.effects.iter().flat_map(of).copied().collect();
        let now: BTreeSet<i64> = sorted(|effect| &effect.counts_now);
        let without: BTreeSet<i64> = sorted(|effect| &effect.counts_without);
        let mut sentences = Vec::new();
        let mut say = |deliveries: BTreeSet<i64>, one: &str, several: &str| match deliveries
            .iter()
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => {}
            [alone] => sentences.push(format!("Import {alone} {one}.")),
            many => {
                let names: Vec<String> = many.iter().map(ToString::to_string).collect();
                sentences.push(format!("Imports {} {several}.", names.join(", ")));
            }
        };
        say(&without - &now, "becomes active instead", "become active instead");
        say(&without & &now, "stays active", "stay active");
        let along = &(&now - &without) - &BTreeSet::from([delivery]);
        say(along, "corrects its rows and is undone too", "correct its rows and are undone too");
        if without.is_empty() {
            let nothing = "Its months will have no charges of these accounts until you import them again.";
            sentences.insert(0, nothing.to_owned());
        }
        let mut restates: Vec<String> = self.restates.iter().map(Restates::sentence).collect();
        // One sentence a month, whichever of its accounts are restated.
        restates.dedup();
        sentences.extend(restates);
        sentences.push("The file stays stored.".to_owned());
        sentences.join(" ")
    }
}

/// What people choose for an archived import whose file was removed.
fn wanted_file(name: &str) -> String {
    format!("{name}, exactly as imported. No figures change.")
}

/// What was done, to be followed by who did it.
fn done(line: &LogLine) -> &str {
    match line.action.as_str() {
        "publish" => "published",
        "undo" => "undone",
        "discard" => "discarded",
        "archive" => "archived",
        "remove_files" => "file removed",
        "load_again" => "restoring rows requested",
        other => other,
    }
}

impl Restates {
    /// `September 2026 is final; its statements will be marked as restated.`
    pub fn sentence(&self) -> String {
        let Self { provider, billing_account, month, is_whole_month } = self;
        let month = month.name();
        if *is_whole_month {
            format!("{month} is final; its statements will be marked as restated.")
        } else {
            format!("{month} is final for {provider} {billing_account}, but not yet for all accounts.")
        }
    }
}

csv::record! {
    |it: ImportScope|
    "billing_period" => it.month(),
    "provider" => &it.provider,
    "account" => &it.billing_account,
    "currency" => &it.currency,
    "charges" => it.charges,
    "billed_cost" => it.billed(),
    "effective_cost" => it.effective(),
    "is_counted" => it.is_counted,
    "is_provisional" => it.is_provisional,
}
