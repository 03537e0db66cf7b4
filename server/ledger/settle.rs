//! Publishing what was loaded, or asking: two imports of one call state the same month, or one lacks what it would replace.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use sqlx::{Connection as _, PgConnection, PgPool};

use crate::audit::{self, Actor, Object, Verb};
use crate::billing::Statement;

use super::correction::{self, CORRECTED};
use super::decision::Decision;
use super::delivery::{self, Awaits, Ended};
use super::group_files::Bundle;
use super::halves;
use super::import::{Import, Outcome, WhenUnsure, load_under};
use super::import_report::{Report, Status};
use super::loaded::{Loaded, Source};
use super::original::Originals;
use super::overlap::Overlap;
use super::publish::{self, Published};
use super::review;
use super::scope::Scope;

/// What more than one import of a call states.
pub(super) struct Shared {
    scopes: BTreeSet<Scope>,
    /// Of these, what is stated as actual and as amortized cost, in more files than two.
    mixed: BTreeSet<Scope>,
}

impl Shared {
    /// Different slices of a scope are no two statements, unless they are of different exports.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let mut seen: BTreeMap<Scope, Vec<(&str, Option<&str>)>> = BTreeMap::new();
        let mut halves: BTreeMap<Scope, BTreeSet<bool>> = BTreeMap::new();
        let (mut scopes, mut mixed) = (BTreeSet::new(), BTreeSet::new());
        for outcome in outcomes {
            let Outcome::Loaded { loaded, .. } = outcome else { continue };
            let own = (loaded.format.name(), loaded.slice.as_deref());
            let is_other_slice = |other: &(&str, Option<&str>)| {
                other.0 == own.0 && other.1.is_some() && own.1.is_some() && *other != own
            };
            let half = only_half(loaded);
            for (scope, _) in loaded.reading.scopes.values() {
                let slices = seen.entry(scope.clone()).or_default();
                if !slices.iter().all(is_other_slice) {
                    scopes.insert(scope.clone());
                }
                slices.push(own);
                if let Some(half) = half {
                    let stated = halves.entry(scope.clone()).or_default();
                    stated.insert(half);
                    if stated.len() > 1 {
                        mixed.insert(scope.clone());
                    }
                }
            }
        }
        mixed.retain(|scope| scopes.contains(scope));
        Self { scopes, mixed }
    }

    fn has_mixed(&self, loaded: &Loaded) -> bool {
        loaded.reading.scopes.values().any(|(scope, _)| self.mixed.contains(scope))
    }

    /// The question that two imports of one month, submitted together, raise.
    fn question(&self, loaded: &Loaded) -> Option<String> {
        let mut stated = loaded.reading.scopes.values().map(|(scope, _)| scope);
        let scope = stated.find(|scope| self.scopes.contains(*scope))?;
        Some(format!(
            "several of these files state {} {} {}, and no manifest says that they belong together",
            scope.provider, scope.billing_account, scope.month
        ))
    }
}

/// Whether all files of an import state amortized cost, or all another one; nothing of both together, and of formats that know no
/// halves.
fn only_half(loaded: &Loaded) -> Option<bool> {
    let is_effective = |half: Statement| half == Statement::Effective;
    let first = is_effective(loaded.files.first()?.states);
    let are_same = loaded.files.iter().all(|file| is_effective(file.states) == first);
    (loaded.format.states_halves() && are_same).then_some(first)
}

/// What to say, and what is to be done.
type Question = (String, Awaits);

/// Publishes what was loaded, or says why not. Where the other half of a month was imported meanwhile, it is loaded again with
/// that one.
pub(super) async fn settle(
    (pool, originals): (&PgPool, &Originals),
    db: &mut PgConnection,
    import: &Import<'_>,
    (bundle, outcome): (&Bundle, Outcome),
    shared: &Shared,
) -> sqlx::Result<Report> {
    let (delivery_id, mut loaded) = match outcome {
        Outcome::Ended(report) => return Ok(*report),
        Outcome::Loaded { delivery_id, loaded } => (delivery_id, loaded),
    };
    let mut sources: Vec<Source> = match bundle {
        Bundle::Files(sources) => sources.clone(),
        Bundle::Refused { .. } => Vec::new(),
    };
    let is_corrected = loaded.columns.names.iter().any(|name| name == CORRECTED);
    let question = loop {
        if let Some(question) = of_several(db, import, (delivery_id, is_corrected), &loaded, shared).await? {
            break Some(question);
        }
        let review = match import.decision {
            None => review::reason(db, import.when_unsure, (&loaded, is_corrected)).await?,
            Some(_) => None,
        };
        match publish_and_record(db, import, (delivery_id, is_corrected), review.is_some()).await? {
            Published::At(_) => break review.map(|reason| (reason, Awaits::Review)),
            Published::Already => break None,
            Published::Asks(question) => {
                let is_taken = loaded.files.iter().any(|file| file.taken_from.is_some());
                let (said, suggested) = asked(&question, is_taken);
                break Some((said, Awaits::Decision(suggested)));
            }
            Published::Overlaps(overlap) => {
                break Some((counts_twice(&overlap, import.decision), Awaits::Decision(None)));
            }
            Published::Doubts(doubt) => break Some((doubted(doubt), Awaits::Decision(None))),
            Published::OtherHalf(others) => {
                let again = halves::complete_again(db, import.looking(originals), &sources).await?;
                let Some(Bundle::Files(again)) = again else {
                    break Some((loses_half(&others), Awaits::Decision(None)));
                };
                delivery::begin_again(db, delivery_id).await?;
                match load_under(pool, db, originals, import, (delivery_id, &again)).await? {
                    Ok(again) => loaded = again,
                    Err(report) => return Ok(report),
                }
                sources = again;
            }
        }
    };
    let report = match question {
        None => published(db, (delivery_id, is_corrected), &loaded).await?,
        Some(question) => asks(db, import, delivery_id, &loaded, question).await?,
    };
    delivery::release(db, delivery_id).await?;
    Ok(report)
}

/// What is reported of what was published.
async fn published(
    db: &mut PgConnection,
    (delivery_id, is_corrected): (i64, bool),
    loaded: &Loaded,
) -> sqlx::Result<Report> {
    let listed = |ids: &[i64]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let superseded = publish::superseded_by(db, delivery_id).await?;
    let mut report = Report::loaded(delivery_id, loaded);
    if !superseded.is_empty() {
        report.message = Some(format!("replaces import {}", listed(&superseded)));
    } else if is_corrected {
        let corrects = correction::corrects(db, delivery_id).await?;
        report.message = Some(format!("adds corrected rows to import {}", listed(&corrects)));
    }
    if loaded.reading.rejected.repeated > 0 {
        let sentence = repeated_rows(loaded.reading.rejected.repeated);
        report.message =
            Some(report.message.map_or_else(|| sentence.clone(), |it| format!("{it}; {sentence}")));
    }
    Ok(report)
}

/// What is reported of what somebody must decide.
async fn asks(
    db: &mut PgConnection,
    import: &Import<'_>,
    delivery_id: i64,
    loaded: &Loaded,
    (message, awaits): Question,
) -> sqlx::Result<Report> {
    let delivery = match import.when_unsure {
        WhenUnsure::Wait | WhenUnsure::Review => {
            delivery::wait(db, delivery_id, &message, awaits).await?;
            Some(delivery_id)
        }
        WhenUnsure::Discard => {
            delivery::discard(db, delivery_id, Ended::Discarded, &message).await?;
            None
        }
    };
    let report = Report::loaded(delivery_id, loaded);
    Ok(Report { status: Status::Waiting, delivery, message: Some(message), ..report })
}

/// Why a half is not published: what completes it cannot be told.
fn loses_half(others: &[i64]) -> String {
    let listed: Vec<String> = others.iter().map(ToString::to_string).collect();
    let (imports, have, them) =
        if others.len() == 1 { ("import", "has", "it") } else { ("imports", "have", "them") };
    format!(
        "actual and amortized cost of a month complete each other, and {imports} {} {have} the other one for other accounts or \
         months than this file, or together with imports that were added: replacing removes {them}, adding counts the month \
         twice. Undo {them}, then import all files of these months together",
        listed.join(", ")
    )
}

/// What a file that holds itself twice amounts to.
fn repeated_rows(rows: u64) -> String {
    let (are, count) = if rows == 1 { ("row is", "counts") } else { ("rows are", "count") };
    format!(
        "{rows} {are} the same as others of the import, as in a file that was appended to itself; they {count} once, and nothing \
         is missing"
    )
}

/// The question that one of several files of a month raises. Files that were sent together are parts of the month, or nobody
/// would have sent more than one; where something of it is active already, they may be those very parts again, and are measured
/// as any other file.
async fn of_several(
    db: &mut PgConnection,
    import: &Import<'_>,
    (delivery_id, is_corrected): (i64, bool),
    loaded: &Loaded,
    shared: &Shared,
) -> sqlx::Result<Option<Question>> {
    let is_mixed = shared.has_mixed(loaded);
    match import.decision {
        // Corrected rows add to what they were missing from.
        None if is_corrected => return Ok(None),
        Some(Decision::Add) if !is_mixed => return Ok(None),
        // The last of them would be all that counts.
        None | Some(_) => {}
    }
    let Some(said) = shared.question(loaded) else { return Ok(None) };
    if is_mixed {
        let message = format!(
            "{said}: some are amortized cost and the others are or may be actual cost, which count twice where they are added. \
             Import the files of each export together with its manifest.json, or, where both show commitments, one file of each"
        );
        return Ok(Some((message, Awaits::Decision(None))));
    }
    let asks = publish::ask(db, delivery_id).await?;
    if import.decision.is_some() {
        let undo = if asks.meets_active { "Undo the active imports and add these" } else { "Add these" };
        let message = format!("{said}, so only the last would be active. {undo}, or import one at a time.");
        return Ok(Some((message, Awaits::Decision(None))));
    }
    let adds = !asks.meets_active || asks.part.is_some();
    let question = if asks.shortfalls.is_empty() { said } else { format!("{said}; {asks}") };
    let question = if adds {
        question
    } else {
        format!(
            "{question}. If these are all parts of the month, undo the active imports first, then add these"
        )
    };
    let suggested = adds.then_some(Decision::Add);
    Ok(Some((format!("{question}. {}", choices(suggested)), Awaits::Decision(suggested))))
}

/// Why an import is not published whose rows are active already, and what to do.
fn counts_twice(overlap: &Overlap, decision: Option<Decision>) -> String {
    let others = overlap.others();
    if decision == Some(Decision::Add) {
        format!(
            "{overlap}: adding this one would count them twice. Undo {others} first, replace the active imports, or leave these rows out"
        )
    } else {
        format!(
            "{overlap}, which stays active: they would count twice. Undo {others} and add this one, or discard it"
        )
    }
}

/// What is asked where replacing would lose something, and what is offered first; `is_taken`: it has a file that was taken from an
/// import which is active, and would count twice beside it.
pub(super) fn asked(question: &publish::Question, is_taken: bool) -> (String, Option<Decision>) {
    if is_taken {
        let choice = "Choose whether to replace the active imports or to discard this one.";
        return (format!("{question}. {choice}"), Some(Decision::Replace));
    }
    let suggested = question.part.map(|_| Decision::Add);
    (format!("{question}. {}", choices(suggested)), suggested)
}

/// What is asked where corrected rows do more than complete an import.
pub(super) fn doubted(doubt: &str) -> String {
    format!(
        "these are rows that were rejected in an earlier import, and {doubt}: adding counts them with the active rows, replacing \
         leaves only these rows. {}",
        choices(None)
    )
}

/// What to decide, the likelier first.
fn choices(suggested: Option<Decision>) -> &'static str {
    match suggested {
        Some(Decision::Add) => "Choose whether to add the file or to replace the active imports.",
        Some(Decision::Replace) | None => "Choose whether to replace the active imports or to add the file.",
    }
}

/// On trial, it says what would happen, and nothing does.
async fn publish_and_record(
    db: &mut PgConnection,
    import: &Import<'_>,
    (delivery_id, is_corrected): (i64, bool),
    is_trial: bool,
) -> sqlx::Result<Published> {
    let mut tx = db.begin().await?;
    let published = match import.decision {
        None if is_corrected => {
            publish::publish_corrected(&mut tx, delivery_id, import.by, import.now).await?
        }
        decision => {
            publish::publish(&mut tx, delivery_id, decision, import.reason, import.by, import.now).await?
        }
    };
    if is_trial && matches!(published, Published::At(_)) {
        tx.rollback().await?;
        return Ok(published);
    }
    if let Published::At(sequence) = published {
        let (by, object) = (Actor::on_behalf_of(import.by), Object::Delivery(delivery_id));
        let details = json!({ "sequence": sequence });
        audit::record(&mut tx, by.at(import.now), Verb::DeliveryPublished, &object, details).await?;
    }
    tx.commit().await?;
    Ok(published)
}
