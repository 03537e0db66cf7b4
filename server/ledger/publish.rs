//! Publishing and undoing: the only moments at which what the ledger counts changes.
//!
//! *ActiveImports* is a function of the published deliveries that were not undone, in order of publishing, per
//! scope: from the last one that replaced, with every addition since; corrected rows count while the delivery
//! does that lacked them. Because it is recomputed from that order, undo is exact in any order. Each publish and undo advances the ledger's sequence by one;
//! `visibility` keeps from which sequence to which a delivery counted, so a page can be asked as of one.

use chrono::{DateTime, NaiveDate, Utc};
use sqlx::{Connection, PgConnection};

use crate::billing::FORMATS;
use crate::period::BillingMonth;

use super::catalog::recognize_keys_of;
use super::loss::{self, Loss, Measured};
use super::overlap::{self, Change, Overlap};
use super::part::PartBy;
use super::renamed_scopes::{Formerly, state_as_empty};
use super::shrunk;
use super::{Decision, Scope, correction, halves};

/// What happened on [`publish`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// The ledger counts the delivery from this sequence on.
    At(i64),
    /// Nothing happened: replacing would lose something, and nobody said what to do.
    Asks(Question),
    /// Nothing happened: corrected rows do more than complete a delivery, and nobody said what to do.
    Doubts(&'static str),
    /// Nothing happened: rows of it are active already and would stay so, and so count twice.
    Overlaps(Overlap),
    /// Nothing happened: these imports have the other half of its months active, and it was loaded with another one.
    OtherHalf(Vec<i64>),
    /// It was published or undone before; nothing happened.
    Already,
}

/// What somebody must decide before a delivery is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub shortfalls: Vec<Shortfall>,
    /// By what it was recognized as another part of what it would replace: then *add* is what one most likely wants.
    pub part: Option<PartBy>,
    /// A file of its name is active already: then adding most likely counts it twice.
    pub is_again: bool,
    /// What is active is of another export: then adding counts the month twice.
    pub is_other_export: bool,
    /// Whether something is active that it would replace.
    pub meets_active: bool,
}

/// Why a delivery should not simply replace what a scope holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    pub scope: Scope,
    pub replaces_delivery: i64,
    pub reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What it replaces has sub-accounts, days or currencies that this one has not.
    Lacks { sub_accounts: Vec<String>, days: Vec<NaiveDate>, currencies: Vec<String> },
    /// It would remove more than a small part of the rows, cost, keys, services or machines.
    Shrinks(Box<Loss>),
    /// It is a slice, and what is there states the whole month.
    IsSlice,
    /// It is a slice, and what is there states the same days in slices of another format, this one.
    OtherExport { format: String },
    /// What is there was uploaded after this one, and was ready before.
    CameLater,
    /// More rows are missing from this one than from what is there.
    Missing { here: i64, there: i64 },
    /// What is there has the same charges under the account of which this is a subscription, or the other way round.
    Subscription { now: Scope },
    /// What is there was loaded under a former name of the account or provider, which is this one now.
    Renamed { now: Scope },
}

impl std::fmt::Display for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shortfalls: Vec<String> = self.shortfalls.iter().map(ToString::to_string).collect();
        write!(f, "{}", shortfalls.join("; "))?;
        if self.is_again {
            write!(f, ". A file of the same name is active already: adding this one may count it twice")?;
        }
        let is_said = self.shortfalls.iter().any(|it| matches!(it.reason, Reason::OtherExport { .. }));
        if self.is_other_export && !is_said {
            write!(
                f,
                ". What is active is another export of the same month: adding this one counts it twice"
            )?;
        }
        match self.part {
            Some(part) => write!(f, ". It looks like another part of the same export: {}", part.reason()),
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scope: Scope { provider, billing_account, month }, replaces_delivery: other, reason } =
            self;
        write!(f, "{provider} {billing_account} {month}: ")?;
        match reason {
            Reason::Lacks { sub_accounts, days, currencies } => {
                let days: Vec<String> = days.iter().map(ToString::to_string).collect();
                let missing: Vec<String> =
                    [("sub-accounts", sub_accounts), ("days", &days), ("currencies", currencies)]
                        .into_iter()
                        .filter(|(_, values)| !values.is_empty())
                        .map(|(what, values)| format!("{what} {}", shorten(values)))
                        .collect();
                write!(f, "import {other} has what this one does not: {}", missing.join("; "))
            }
            Reason::Shrinks(loss) => write!(f, "replacing import {other} would remove {loss}"),
            Reason::IsSlice => {
                write!(f, "import {other} has the whole month, and this file is one part of it")
            }
            Reason::OtherExport { format } => {
                let label = FORMATS
                    .iter()
                    .find(|known| known.name() == format)
                    .map_or(format.as_str(), |it| it.label());
                write!(
                    f,
                    "import {other} has the same days in another export ({label}): adding counts them twice"
                )
            }
            Reason::CameLater => {
                write!(f, "import {other} was uploaded later than this one and is active already")
            }
            Reason::Missing { here, there } => {
                write!(f, "more rows are missing than in import {other}: {here} here, {there} there")
            }
            Reason::Subscription { now: Scope { provider, billing_account, .. } } => write!(
                f,
                "import {other} has the same charges: one of this account and {provider} {billing_account}, as this file calls it, \
                 is a subscription of the other. Replacing replaces it, adding counts them twice; discard this one if the \
                 account's file is there"
            ),
            Reason::Renamed { now: Scope { provider, billing_account, .. } } => write!(
                f,
                "import {other} has this month under a former name. This file calls it {provider} {billing_account}: \
                 replacing replaces it, adding counts both"
            ),
        }
    }
}

fn shorten(values: &[String]) -> String {
    match values {
        [.., _] if values.len() > 5 => format!("{} and {} more", values[..4].join(", "), values.len() - 4),
        _ => values.join(", "),
    }
}

/// Makes a loaded delivery count. Without a decision it replaces, unless that would lose what is there. `reason` says why
/// its months become smaller, where somebody was asked.
pub async fn publish(
    db: &mut PgConnection,
    delivery_id: i64,
    decision: Option<Decision>,
    reason: Option<&str>,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Published> {
    // Before it is measured, and the ledger is locked, since there may be many; and once more after that.
    recognize_keys(&mut *db, delivery_id).await?;
    let is_addition = decision == Some(Decision::Add);
    // First, since what is measured and what the preview of the decision shows has the scopes that are stated as empty.
    let formerly = state_as_empty(&mut *db, delivery_id).await?;
    // Measured before the ledger is locked, since a large month takes a second. What is added to loses nothing.
    let mut measured = if is_addition {
        Measured::default()
    } else {
        loss::measure(&mut *db, delivery_id, &formerly).await?
    };
    let compared =
        overlap::compare(&mut *db, delivery_id, Change::Publish(decision.unwrap_or(Decision::Replace)))
            .await?;
    let mut tx = db.begin().await?;
    let sequence = begin_version(&mut tx).await?;
    let Some(status) = undecided(&mut tx, delivery_id).await? else { return Ok(Published::Already) };
    recognize_keys_of(&mut tx, delivery_id).await?;
    let formerly = state_as_empty(&mut tx, delivery_id).await?;
    if !is_addition && !measured.still_holds(&mut tx, delivery_id).await? {
        measured = loss::measure(&mut tx, delivery_id, &formerly).await?;
    }
    if !is_addition && let Some(unmet) = halves::unmet(&mut tx, delivery_id).await? {
        // Who was asked may replace by a half alone, and never by one that was replaced since.
        if unmet.is_completed || status == Undecided::Loaded || decision.is_none() {
            return Ok(Published::OtherHalf(unmet.active));
        }
    }
    let asks = question(&mut tx, delivery_id, &measured, &formerly).await?;
    if decision.is_none() && !asks.shortfalls.is_empty() {
        return Ok(Published::Asks(asks));
    }
    if let Some(overlap) = compared.now(&mut tx).await? {
        return Ok(Published::Overlaps(overlap));
    }
    if is_addition && let Some(overlap) = halves::taken_and_active(&mut tx, delivery_id).await? {
        return Ok(Published::Overlaps(overlap));
    }
    // None where it adds, since nothing is measured then; and a slice that meets a whole month undecided asks above.
    count(&mut tx, sequence, delivery_id, is_addition, &measured.whole_scopes()).await?;
    shrunk::record(&mut tx, delivery_id, &measured, (reason, by, now)).await?;
    advance(&mut tx, sequence, delivery_id, "publish", by, now).await?;
    shrunk::carry_over(&mut tx, delivery_id, sequence).await?;
    tx.commit().await?;
    Ok(Published::At(sequence))
}

/// What there is to decide before a delivery replaces anything, without publishing it.
pub(super) async fn ask(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Question> {
    let formerly = state_as_empty(&mut *db, delivery_id).await?;
    let measured = loss::measure(&mut *db, delivery_id, &formerly).await?;
    question(db, delivery_id, &measured, &formerly).await
}

/// Makes a loaded delivery of corrected rows count beside those that it completes and as long as they do, unless there is
/// a doubt.
pub async fn publish_corrected(
    db: &mut PgConnection,
    delivery_id: i64,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Published> {
    let compared = overlap::compare(&mut *db, delivery_id, Change::Publish(Decision::Add)).await?;
    // Before the ledger is locked, since there may be many; and once more after that.
    recognize_keys(&mut *db, delivery_id).await?;
    let mut tx = db.begin().await?;
    let sequence = begin_version(&mut tx).await?;
    if undecided(&mut tx, delivery_id).await?.is_none() {
        return Ok(Published::Already);
    }
    recognize_keys_of(&mut tx, delivery_id).await?;
    if let Some(doubt) = correction::doubt(&mut tx, delivery_id).await? {
        return Ok(Published::Doubts(doubt));
    }
    if let Some(overlap) = compared.now(&mut tx).await? {
        return Ok(Published::Overlaps(overlap));
    }
    count(&mut tx, sequence, delivery_id, true, &[]).await?;
    sqlx::query!("update deliveries set completes = true where delivery_id = $1", delivery_id)
        .execute(&mut *tx)
        .await?;
    advance(&mut tx, sequence, delivery_id, "publish", by, now).await?;
    tx.commit().await?;
    Ok(Published::At(sequence))
}

/// Why a delivery keeps its prices that has corrected rows.
pub(super) const CORRECTED_ROWS: &str =
    "rows of it were corrected after the import: import the whole file again, corrected";

/// Whether rows of a delivery were corrected by an active one, or correct others'.
pub(super) async fn is_corrected(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (
               select from corrected_rejections c join deliveries d using (delivery_id)
               where d.status = 'loaded' and (c.delivery_id = $1 or c.corrects_delivery_id = $1)
           ) as "is_corrected!""#,
        delivery_id,
    )
    .fetch_one(db)
    .await
}

/// Makes a delivery count in the place of an active one whose files it has priced again: where that replaces, adds or is a slice,
/// so does this.
pub(super) async fn publish_repriced(
    db: &mut PgConnection,
    delivery_id: i64,
    of: i64,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Published> {
    recognize_keys(&mut *db, delivery_id).await?;
    let mut tx = db.begin().await?;
    let sequence = begin_version(&mut tx).await?;
    if undecided(&mut tx, delivery_id).await?.is_none() {
        return Ok(Published::Already);
    }
    recognize_keys_of(&mut tx, delivery_id).await?;
    // Somebody may have corrected rows while it was loaded.
    if is_corrected(&mut tx, of).await? {
        return Ok(Published::Doubts(CORRECTED_ROWS));
    }
    let placed = sqlx::query!(
        "update deliveries again
         set status = 'loaded', published_sequence = $2, message = null,
             notes = array_prepend('the files of import ' || before.delivery_id || ', priced again', again.notes), reprices = coalesce(before.reprices, before.delivery_id),
             place_sequence = coalesce(before.place_sequence, before.published_sequence)
         from deliveries before
         where again.delivery_id = $1 and before.delivery_id = $3 and before.status = 'loaded'
           and exists (select from visibility v where v.delivery_id = $3 and v.until_sequence is null)",
        delivery_id,
        sequence,
        of,
    )
    .execute(&mut *tx)
    .await?;
    // Somebody has undone or replaced it.
    if placed.rows_affected() == 0 {
        return Ok(Published::Already);
    }
    // What the former one states as empty, so does this one.
    sqlx::query!(
        "insert into delivery_scopes (delivery_id, scope_id, sub_accounts, days, charges, is_provisional, slice)
         select $1, scope_id, '{}', '{}', 0, is_provisional, slice
         from delivery_scopes
         where delivery_id = $2
         on conflict do nothing",
        delivery_id,
        of,
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "update deliveries before
         set rates_compared = again.rates_compared, rates_catalog = again.rates_catalog, rates_problem = null, rates_retry_at = null
         from deliveries again
         where before.delivery_id = $2 and again.delivery_id = $1",
        delivery_id,
        of,
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "update delivery_scopes again
         set is_addition = before.is_addition, slice = before.slice
         from delivery_scopes before
         where again.delivery_id = $1 and before.delivery_id = $2 and before.scope_id = again.scope_id",
        delivery_id,
        of,
    )
    .execute(&mut *tx)
    .await?;
    advance(&mut tx, sequence, delivery_id, "publish", by, now).await?;
    shrunk::carry_over(&mut tx, delivery_id, sequence).await?;
    tx.commit().await?;
    Ok(Published::At(sequence))
}

/// Recognizes its keys again that an earlier catalog recognized.
async fn recognize_keys(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    recognize_keys_of(&mut tx, delivery_id).await?;
    tx.commit().await
}

/// A delivery that is loaded, and neither is active nor was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undecided {
    /// Nobody was asked.
    Loaded,
    Waiting,
}

async fn undecided(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Option<Undecided>> {
    let status =
        sqlx::query_scalar!("select status from deliveries where delivery_id = $1 for update", delivery_id)
            .fetch_one(db)
            .await?;
    Ok(match status.as_str() {
        "loading" => Some(Undecided::Loaded),
        "waiting" => Some(Undecided::Waiting),
        _ => None,
    })
}

/// Writes down that the delivery counts from this sequence on, and how. In its `whole_scopes` a slice stands for the
/// whole month from then on: it was published to replace one.
async fn count(
    db: &mut PgConnection,
    sequence: i64,
    delivery_id: i64,
    is_addition: bool,
    whole_scopes: &[i64],
) -> sqlx::Result<()> {
    sqlx::query!(
        "update deliveries set status = 'loaded', published_sequence = $2, message = null where delivery_id = $1",
        delivery_id,
        sequence,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "update delivery_scopes
         set is_addition = $2, slice = case when scope_id <> all($3) then slice end
         where delivery_id = $1",
        delivery_id,
        is_addition,
        whole_scopes,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The deliveries that stopped counting somewhere when this one was published.
pub async fn superseded_by(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        "select distinct v.delivery_id
         from visibility v
         join deliveries d on d.published_sequence = v.until_sequence
         where d.delivery_id = $1
         order by 1",
        delivery_id,
    )
    .fetch_all(db)
    .await
}

/// The sequence that the ledger stands at.
pub async fn sequence(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!("select sequence from ledger").fetch_one(db).await
}

/// The sequence of a step about to be made. Locks the ledger's one row, so that steps happen one after the
/// other; the transaction ends with [`end_version`], or nothing happened.
pub async fn begin_version(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!(r#"select sequence + 1 as "next!" from ledger for update"#).fetch_one(db).await
}

/// Writes a step down and moves the ledger on to its sequence.
pub async fn end_version(
    db: &mut PgConnection,
    sequence: i64,
    delivery_id: Option<i64>,
    action: &str,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into ledger_log (sequence, delivery_id, action, happened_at, happened_by) values ($1, $2, $3, $4, $5)",
        sequence,
        delivery_id,
        action,
        now,
        by,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!("update ledger set sequence = $1", sequence).execute(&mut *db).await?;
    Ok(())
}

/// Brings what is active up to date, as a version of the ledger: where the delivery can change it, and nowhere else.
pub(super) async fn advance(
    db: &mut PgConnection,
    sequence: i64,
    delivery_id: i64,
    action: &str,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let touched =
        sqlx::query_scalar!(r#"select scope_id as "scope_id!" from touched_scopes($1)"#, delivery_id)
            .fetch_all(&mut *db)
            .await?;
    sqlx::query_file!("server/ledger/close_visibility.sql", sequence, &touched).execute(&mut *db).await?;
    sqlx::query_file!("server/ledger/open_visibility.sql", sequence, &touched).execute(&mut *db).await?;
    end_version(db, sequence, Some(delivery_id), action, by, now).await
}

/// Why the delivery should not simply replace what is visible in its scopes.
async fn question(
    db: &mut PgConnection,
    delivery_id: i64,
    measured: &Measured,
    formerly: &[Formerly],
) -> sqlx::Result<Question> {
    let rows = sqlx::query_file!("server/ledger/shortfalls.sql", delivery_id).fetch_all(db).await?;
    let mut shortfalls: Vec<Shortfall> = rows
        .into_iter()
        .map(|row| {
            let month = BillingMonth::of(row.billing_month);
            let scope = Scope { provider: row.provider, billing_account: row.billing_account, month };
            let renamed = formerly.iter().find(|it| it.name == scope);
            let reason = match (row.other_format, row.missing_here.zip(row.missing_there), renamed) {
                (Some(format), ..) => Reason::OtherExport { format },
                (_, Some((here, there)), _) => Reason::Missing { here, there },
                _ if row.is_slice => Reason::IsSlice,
                _ if row.came_later => Reason::CameLater,
                (_, None, Some(renamed)) if renamed.is_subscription => {
                    Reason::Subscription { now: renamed.now.clone() }
                }
                (_, None, Some(renamed)) => Reason::Renamed { now: renamed.now.clone() },
                (_, None, None) => {
                    let (sub_accounts, days, currencies) = (row.sub_accounts, row.days, row.currencies);
                    Reason::Lacks { sub_accounts, days, currencies }
                }
            };
            Shortfall { scope, replaces_delivery: row.replaces, reason }
        })
        .collect();
    // A renamed scope lacks its days as it lacks its currency.
    shortfalls.dedup();
    shortfalls.extend(measured.replaced.iter().filter_map(|replaced| {
        Some(Shortfall {
            scope: replaced.scope.clone(),
            replaces_delivery: replaced.deliveries.last().copied()?,
            reason: Reason::Shrinks(Box::new(replaced.loss.clone()?)),
        })
    }));
    Ok(Question {
        shortfalls,
        part: measured.replaced.iter().find_map(|replaced| replaced.part),
        is_again: measured.is_again,
        is_other_export: measured.is_other_export,
        meets_active: !measured.replaced.is_empty(),
    })
}
