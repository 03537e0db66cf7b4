//! Changing the asset register: proposed by whoever may, applied and undone by whoever may decide. Each makes a revision.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::json;
use sqlx::types::Json;
use sqlx::{Connection, PgConnection};

use super::asset_register::Edit;
use super::bill_status::counting_months;
use super::entry::Entry;
use super::keep::asset_register;
use super::power::Reading;
use super::problem::{Problem, problems};
use crate::audit::{self, Actor, Object, Verb};
use crate::money::Decimal;

/// What became of a wish to change the asset register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is as wished from this revision on.
    At { change: i64, revision: i64 },
    /// It waits under this number for whoever decides.
    Proposed(i64),
    /// Nothing happened: it is so already, or was decided before.
    Nothing,
    /// Nothing happened: the asset register would have these problems.
    Refused(Vec<Problem>),
    /// Nothing happened: these entries are not as they were when it was made, or applied.
    Conflict(Vec<String>),
}

/// Whether a change holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Apply,
    Propose,
}

/// How a change stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Status {
    Proposed,
    Applied,
    Undone,
    Discarded,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Applied => "applied",
            Self::Undone => "undone",
            Self::Discarded => "discarded",
        }
    }
}

/// A change of the asset register, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    pub id: i64,
    pub status: Status,
    pub summary: String,
    pub reason: Option<String>,
    /// None where meters were read.
    pub edits: Json<Vec<Edit>>,
    pub made_at: DateTime<Utc>,
    pub made_by: String,
    pub decided_at: Option<DateTime<Utc>>,
    pub decided_by: Option<String>,
    pub applied_revision: Option<i64>,
    pub undone_revision: Option<i64>,
    pub undone_at: Option<DateTime<Utc>>,
    pub undone_by: Option<String>,
}

/// What is to be changed, and why.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub summary: &'a str,
    pub reason: Option<&'a str>,
}

/// Changes the asset register, or proposes to. Edits that change nothing are left out.
pub async fn change(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    about: About<'_>,
    right: Right,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Outcome> {
    let edits: Vec<Edit> = edits.into_iter().filter(|edit| edit.before != edit.after).collect();
    if edits.is_empty() {
        return Ok(Outcome::Nothing);
    }
    let mut tx = db.begin().await?;
    let last = begin(&mut tx).await?;
    if let Some(refusal) = refusal(&mut tx, &edits, last).await? {
        return Ok(refusal);
    }
    let id = sqlx::query_scalar!(
        "insert into asset_register_changes (status, summary, reason, edits, made_at, made_by)
         values ('proposed', $1, $2, $3, $4, $5)
         returning change_id",
        about.summary,
        about.reason,
        Json(&edits) as _,
        now,
        by.name,
    )
    .fetch_one(&mut *tx)
    .await?;
    let decision = Decision { change: id, summary: about.summary, by, now };
    let outcome = match right {
        Right::Propose => {
            decision.record(&mut tx, Verb::AssetRegisterProposed, json!({ "reason": about.reason })).await?;
            Outcome::Proposed(id)
        }
        Right::Apply => {
            write(&mut tx, &edits, last + 1).await?;
            decision.apply(&mut tx, last + 1).await?
        }
    };
    tx.commit().await?;
    Ok(outcome)
}

/// Makes a proposed change hold.
pub async fn apply(db: &mut PgConnection, id: i64, by: &Actor, now: DateTime<Utc>) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let last = begin(&mut tx).await?;
    let Some(change) = find(&mut tx, id).await?.filter(|change| change.status == Status::Proposed) else {
        return Ok(Outcome::Nothing);
    };
    if let Some(refusal) = refusal(&mut tx, &change.edits, last).await? {
        return Ok(refusal);
    }
    write(&mut tx, &change.edits, last + 1).await?;
    let outcome = Decision { change: id, summary: &change.summary, by, now }.apply(&mut tx, last + 1).await?;
    tx.commit().await?;
    Ok(outcome)
}

/// Makes what a change changed as it was before. Where a later one has touched the same, that must be undone first.
pub async fn undo(db: &mut PgConnection, id: i64, by: &Actor, now: DateTime<Utc>) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let last = begin(&mut tx).await?;
    let Some(change) = find(&mut tx, id).await?.filter(|change| change.status == Status::Applied) else {
        return Ok(Outcome::Nothing);
    };
    let revision = last + 1;
    let back: Vec<Edit> = change.edits.0.into_iter().map(Edit::undone).collect();
    if let Some(refusal) = refusal(&mut tx, &back, last).await? {
        return Ok(refusal);
    }
    write(&mut tx, &back, revision).await?;
    if let Some(applied) = change.applied_revision
        && !take_readings_back(&mut tx, applied, revision).await?
    {
        return Ok(Outcome::Conflict(vec![format!("readings of {}", change.summary)]));
    }
    sqlx::query!(
        "update asset_register_changes set status = 'undone', undone_revision = $2, undone_at = $3, undone_by = $4
         where change_id = $1",
        id,
        revision,
        now,
        by.name,
    )
    .execute(&mut *tx)
    .await?;
    end(&mut tx, revision).await?;
    let decision = Decision { change: id, summary: &change.summary, by, now };
    decision.record(&mut tx, Verb::AssetRegisterUndone, json!({ "revision": revision })).await?;
    tx.commit().await?;
    Ok(Outcome::At { change: id, revision })
}

/// Discards a proposal. False where it was decided before.
pub async fn discard(db: &mut PgConnection, id: i64, by: &Actor, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    // Who applies it at the same moment is waited for.
    begin(&mut tx).await?;
    let summary = sqlx::query_scalar!(
        "update asset_register_changes set status = 'discarded', decided_at = $2, decided_by = $3
         where change_id = $1 and status = 'proposed'
         returning summary",
        id,
        now,
        by.name,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(summary) = summary else { return Ok(false) };
    let decision = Decision { change: id, summary: &summary, by, now };
    decision.record(&mut tx, Verb::AssetRegisterDiscarded, json!({})).await?;
    tx.commit().await?;
    Ok(true)
}

/// Readings of a meter, by the number of its entry.
pub struct MeterReadings {
    pub meter_id: i64,
    pub readings: Vec<Reading>,
}

/// Takes what meters read: in place of what each read before in the same time, whole readings for whole readings. Refused
/// where one that was taken before would be replaced in part, since the rest of it would be lost.
pub async fn take_readings(
    db: &mut PgConnection,
    meters: &[MeterReadings],
    summary: &str,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let revision = begin(&mut tx).await? + 1;
    for MeterReadings { meter_id, readings } in meters {
        let (Some(first), Some(last)) =
            (readings.iter().map(|it| it.from).min(), readings.iter().map(|it| it.until).max())
        else {
            continue;
        };
        let before = sqlx::query!(
            "select starts_at, ends_at from meter_readings
             where meter_id = $1 and until_revision is null and ends_at > $2 and starts_at < $3
             order by starts_at",
            meter_id,
            first,
            last,
        )
        .fetch_all(&mut *tx)
        .await?;
        let mut new: Vec<(DateTime<Utc>, DateTime<Utc>)> =
            readings.iter().map(|it| (it.from, it.until)).collect();
        new.sort_unstable();
        let mut replaced = Vec::new();
        let mut at = 0;
        for known in &before {
            // Neither those before nor the new ones overlap among themselves.
            while new.get(at).is_some_and(|(_, until)| *until <= known.starts_at) {
                at += 1;
            }
            let over = new[at..].iter().take_while(|(from, _)| *from < known.ends_at);
            let covered: TimeDelta =
                over.map(|(from, until)| *until.min(&known.ends_at) - *from.max(&known.starts_at)).sum();
            if covered >= known.ends_at - known.starts_at {
                replaced.push(known.starts_at);
            } else if covered > TimeDelta::zero() {
                let minute = |time: DateTime<Utc>| time.format("%Y-%m-%d %H:%M").to_string();
                let what = format!("a reading from {} to {}", minute(known.starts_at), minute(known.ends_at));
                let why = format!(
                    "it was taken before, and these, from {} to {}, would stand for a part of it alone",
                    minute(first),
                    minute(last)
                );
                return Ok(Outcome::Refused(vec![Problem { id: *meter_id, what, why }]));
            }
        }
        sqlx::query!(
            "update meter_readings set until_revision = $3
             where meter_id = $1 and until_revision is null and starts_at = any($2)",
            meter_id,
            &replaced,
            revision,
        )
        .execute(&mut *tx)
        .await?;
        let starts: Vec<DateTime<Utc>> = readings.iter().map(|it| it.from).collect();
        let ends: Vec<DateTime<Utc>> = readings.iter().map(|it| it.until).collect();
        let kwh: Vec<Decimal> = readings.iter().map(|it| it.kwh).collect();
        sqlx::query!(
            "insert into meter_readings (meter_id, starts_at, ends_at, kwh, from_revision)
             select $1, starts_at, ends_at, kwh, $5
             from unnest($2::timestamptz[], $3::timestamptz[], $4::numeric[]) as new (starts_at, ends_at, kwh)",
            meter_id,
            &starts,
            &ends,
            &kwh as &[Decimal],
            revision,
        )
        .execute(&mut *tx)
        .await?;
    }
    let id = sqlx::query_scalar!(
        "insert into asset_register_changes (status, summary, edits, made_at, made_by)
         values ('proposed', $1, '[]', $2, $3)
         returning change_id",
        summary,
        now,
        by.name,
    )
    .fetch_one(&mut *tx)
    .await?;
    let outcome = Decision { change: id, summary, by, now }.apply(&mut tx, revision).await?;
    tx.commit().await?;
    Ok(outcome)
}

/// The changes there were, the latest first.
pub async fn changes(db: &mut PgConnection, limit: i64) -> sqlx::Result<Vec<Change>> {
    sqlx::query_as!(
        Change,
        r#"select change_id as id, status as "status: Status", summary, reason, edits as "edits: Json<Vec<Edit>>",
                  made_at, made_by, decided_at, decided_by, applied_revision, undone_revision, undone_at, undone_by
           from asset_register_changes order by change_id desc limit $1"#,
        limit,
    )
    .fetch_all(db)
    .await
}

/// How many proposals wait for a decision.
pub async fn waiting(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select count(*) as "count!" from asset_register_changes where status = 'proposed'"#
    )
    .fetch_one(db)
    .await
}

/// A change by its number.
pub async fn find(db: &mut PgConnection, id: i64) -> sqlx::Result<Option<Change>> {
    sqlx::query_as!(
        Change,
        r#"select change_id as id, status as "status: Status", summary, reason, edits as "edits: Json<Vec<Edit>>",
                  made_at, made_by, decided_at, decided_by, applied_revision, undone_revision, undone_at, undone_by
           from asset_register_changes where change_id = $1"#,
        id,
    )
    .fetch_optional(db)
    .await
}

/// Locks the asset register, so that revisions are made one after another; answers the last.
async fn begin(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!("select revision from asset_register for update").fetch_one(db).await
}

async fn end(db: &mut PgConnection, revision: i64) -> sqlx::Result<()> {
    sqlx::query!("update asset_register set revision = $1", revision).execute(db).await?;
    Ok(())
}

/// Why edits cannot be made in the asset register as it is.
async fn refusal(db: &mut PgConnection, edits: &[Edit], last: i64) -> sqlx::Result<Option<Outcome>> {
    let now = asset_register(db, last).await?;
    let conflicts = now.conflicts(edits);
    if !conflicts.is_empty() {
        return Ok(Some(Outcome::Conflict(conflicts)));
    }
    let mut found = problems(&now.edited(edits));
    for edit in edits {
        let (Some(Entry::Cluster(it)), None) = (&edit.before, &edit.after) else { continue };
        let counting = counting_months(&mut *db, &it.handle).await?;
        if counting > 0 {
            let why = format!(
                "{counting} of its months are active and would be out of reach: remove its entries from the asset register, \
                 publish what that changes, then remove it"
            );
            found.push(Problem { id: edit.id, what: edit.title(), why });
        }
    }
    Ok((!found.is_empty()).then_some(Outcome::Refused(found)))
}

async fn write(db: &mut PgConnection, edits: &[Edit], revision: i64) -> sqlx::Result<()> {
    let ids: Vec<i64> = edits.iter().map(|edit| edit.id).collect();
    sqlx::query!(
        "update asset_register_entries set until_revision = $2 where entry_id = any($1) and until_revision is null",
        &ids,
        revision,
    )
    .execute(&mut *db)
    .await?;
    for edit in edits {
        if let Some(entry) = &edit.after {
            sqlx::query!(
                "insert into asset_register_entries (entry_id, from_revision, content) values ($1, $2, $3)",
                edit.id,
                revision,
                Json(entry) as _,
            )
            .execute(&mut *db)
            .await?;
        }
    }
    Ok(())
}

/// Takes back what was read at one revision, and puts in its place what that stood for. False where what it read was
/// replaced since, unless what replaced it was undone: then the same readings are there again, from that revision on.
async fn take_readings_back(db: &mut PgConnection, applied: i64, revision: i64) -> sqlx::Result<bool> {
    let is_replaced = sqlx::query_scalar!(
        r#"select exists (
               select from meter_readings was
               where was.from_revision = $1 and not exists (
                   select from meter_readings it
                   where it.meter_id = was.meter_id and it.starts_at = was.starts_at and it.until_revision is null
                     and it.ends_at = was.ends_at and it.kwh = was.kwh
                     and (it.from_revision = $1
                          or it.from_revision in (select undone_revision from asset_register_changes))))
           as "is_replaced!""#,
        applied,
    )
    .fetch_one(&mut *db)
    .await?;
    if is_replaced {
        return Ok(false);
    }
    sqlx::query!(
        "update meter_readings it set until_revision = $2
         from meter_readings was
         where was.from_revision = $1 and it.meter_id = was.meter_id and it.starts_at = was.starts_at
           and it.until_revision is null",
        applied,
        revision,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "insert into meter_readings (meter_id, starts_at, ends_at, kwh, from_revision)
         select meter_id, starts_at, ends_at, kwh, $2 from meter_readings where until_revision = $1",
        applied,
        revision,
    )
    .execute(db)
    .await?;
    Ok(true)
}

/// What somebody decided about a change.
struct Decision<'a> {
    change: i64,
    summary: &'a str,
    by: &'a Actor,
    now: DateTime<Utc>,
}

impl Decision<'_> {
    /// Notes that it holds from this revision on, and ends that.
    async fn apply(&self, db: &mut PgConnection, revision: i64) -> sqlx::Result<Outcome> {
        sqlx::query!(
            "update asset_register_changes
             set status = 'applied', decided_at = $2, decided_by = $3, applied_revision = $4
             where change_id = $1",
            self.change,
            self.now,
            self.by.name,
            revision,
        )
        .execute(&mut *db)
        .await?;
        end(db, revision).await?;
        self.record(db, Verb::AssetRegisterChanged, json!({ "revision": revision })).await?;
        Ok(Outcome::At { change: self.change, revision })
    }

    async fn record(
        &self,
        db: &mut PgConnection,
        verb: Verb,
        mut details: serde_json::Value,
    ) -> sqlx::Result<()> {
        details["summary"] = self.summary.into();
        audit::record(db, self.by, verb, &Object::AssetRegisterChange(self.change), details, self.now).await
    }
}
