//! Quantities: how many training runs, tokens or requests somebody had on a day. Shared costs can be divided by them,
//! and they tell what a unit costs. Entering them is a version of the ledger, and what they were before is kept.

use chrono::NaiveDate;
use serde::Serialize;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::label::normalized;
use super::{BudgetOf, MonthConfiguration};
use crate::audit::{self, Act, Object, Verb};
use crate::enum_words::{words, written_as_str};
use crate::ledger;
use crate::money::Decimal;
use crate::period::{BillingMonth, Period};

words! {
    /// What can have quantities.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, sqlx::Type)]
    #[serde(rename_all = "lowercase")]
    #[sqlx(type_name = "text", rename_all = "lowercase")]
    pub enum QuantityKind: as_str {
        Team = "team";
        Project = "project";
        Experiment = "experiment";
    }
}

written_as_str!(QuantityKind);

/// So many units of an owner on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Quantity {
    pub day: NaiveDate,
    pub kind: QuantityKind,
    /// A handle; of an experiment its normalized label.
    pub owner: String,
    /// Normalized, so that “Runs” and “runs” are one.
    pub unit: String,
    pub quantity: Decimal,
}

/// What entering quantities did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Entered {
    /// From which sequence they hold; `None` where nothing changed.
    pub sequence: Option<i64>,
    pub changed: usize,
    /// Held already.
    pub unchanged: usize,
}

/// Makes these quantities hold from the next sequence on, in one step. Each day, owner and unit stands once.
pub async fn set_quantities(
    db: &mut PgConnection,
    quantities: &[Quantity],
    act: Act<'_>,
) -> sqlx::Result<Entered> {
    let mut tx = db.begin().await?;
    let sequence = ledger::begin_version(&mut tx).await?;
    let kinds: Vec<&str> = quantities.iter().map(|it| it.kind.as_str()).collect();
    let owners: Vec<&str> = quantities.iter().map(|it| it.owner.as_str()).collect();
    let units: Vec<&str> = quantities.iter().map(|it| it.unit.as_str()).collect();
    let days: Vec<NaiveDate> = quantities.iter().map(|it| it.day).collect();
    let amounts: Vec<Decimal> = quantities.iter().map(|it| it.quantity).collect();
    sqlx::query!(
        "update quantities held
         set until_sequence = $1
         from unnest($2::text[], $3::text[], $4::text[], $5::date[], $6::numeric[])
             as new (owner_kind, owner, unit, day, quantity)
         where held.until_sequence is null
           and held.owner_kind = new.owner_kind and held.owner = new.owner and held.unit = new.unit
           and held.day = new.day and held.quantity <> new.quantity",
        sequence,
        &kinds as &[&str],
        &owners as &[&str],
        &units as &[&str],
        &days,
        &amounts as &[Decimal],
    )
    .execute(&mut *tx)
    .await?;
    let inserted = sqlx::query!(
        "insert into quantities (owner_kind, owner, unit, day, quantity, from_sequence)
         select owner_kind, owner, unit, day, quantity, $1
         from unnest($2::text[], $3::text[], $4::text[], $5::date[], $6::numeric[])
             as new (owner_kind, owner, unit, day, quantity)
         on conflict (owner_kind, owner, unit, day) where until_sequence is null do nothing",
        sequence,
        &kinds as &[&str],
        &owners as &[&str],
        &units as &[&str],
        &days,
        &amounts as &[Decimal],
    )
    .execute(&mut *tx)
    .await?;
    let changed = usize::try_from(inserted.rows_affected()).unwrap_or(usize::MAX);
    let unchanged = quantities.len().saturating_sub(changed);
    if changed == 0 {
        return Ok(Entered { sequence: None, changed, unchanged });
    }
    ledger::end_version(&mut tx, sequence, None, "allocation", &act.by.name, act.at).await?;
    let details = match quantities {
        [only] => json!(only),
        _ => json!({ "changed": changed, "unchanged": unchanged }),
    };
    audit::record(&mut tx, act, Verb::QuantitiesSet, &Object::Other("quantities"), details).await?;
    tx.commit().await?;
    Ok(Entered { sequence: Some(sequence), changed, unchanged })
}

/// Makes an owner have none of a unit in a month from the next sequence on. Answers of how many days they had some.
pub async fn remove_quantities(
    db: &mut PgConnection,
    kind: QuantityKind,
    owner: &str,
    unit: &str,
    month: BillingMonth,
    act: Act<'_>,
) -> sqlx::Result<u64> {
    let mut tx = db.begin().await?;
    let sequence = ledger::begin_version(&mut tx).await?;
    let days = month.days();
    let removed = sqlx::query!(
        "update quantities set until_sequence = $1
         where until_sequence is null and owner_kind = $2 and owner = $3 and unit = $4 and day >= $5 and day < $6",
        sequence,
        kind.as_str(),
        owner,
        unit,
        days.start,
        days.end,
    )
    .execute(&mut *tx)
    .await?
    .rows_affected();
    if removed == 0 {
        return Ok(0);
    }
    ledger::end_version(&mut tx, sequence, None, "allocation", &act.by.name, act.at).await?;
    let details = json!({ "removed": removed, "month": month, "kind": kind, "owner": owner, "unit": unit });
    audit::record(&mut tx, act, Verb::QuantitiesRemoved, &Object::Other("quantities"), details).await?;
    tx.commit().await?;
    Ok(removed)
}

/// The quantities of a period, or of all time, as of a sequence; the latest day first.
pub async fn quantities(
    db: &mut PgConnection,
    period: Option<Period>,
    sequence: i64,
) -> sqlx::Result<Vec<Quantity>> {
    sqlx::query_as!(
        Quantity,
        r#"select day, owner_kind as "kind: QuantityKind", owner, unit, quantity as "quantity: Decimal"
           from quantities
           where from_sequence <= $1 and (until_sequence is null or until_sequence > $1)
             and ($2::date is null or day >= $2) and ($3::date is null or day < $3)
           order by day desc, owner_kind, owner, unit"#,
        sequence,
        period.map(|period| period.days().start),
        period.map(|period| period.days().end),
    )
    .fetch_all(db)
    .await
}

impl QuantityKind {
    pub fn parse(text: &str) -> Option<Self> {
        normalized(text).parse().ok()
    }

    /// Who is meant by a name, a handle or another spelling: a handle. Experiments need no entry: there the label is
    /// the handle. `None` where there is nobody.
    pub fn owner_named(self, configuration: &MonthConfiguration<'_>, spelling: &str) -> Option<String> {
        let label = normalized(spelling);
        if label.is_empty() {
            return None;
        }
        let means = |handle: &str, name: &str, spellings: &[String]| {
            let all = [handle, name].into_iter().chain(spellings.iter().map(String::as_str));
            all.map(normalized).any(|known| known == label)
        };
        match self {
            Self::Team => {
                let mut teams = configuration.teams.iter();
                teams.find(|it| means(&it.handle, &it.name, &it.spellings)).map(|it| it.handle.clone())
            }
            Self::Project => {
                let mut projects = configuration.projects.iter();
                projects.find(|it| means(&it.handle, &it.name, &it.spellings)).map(|it| it.handle.clone())
            }
            Self::Experiment => {
                let mut known = configuration.experiments.iter();
                let found = known.find(|it| means(&it.handle, &it.name, &it.spellings));
                Some(found.map_or(label, |it| it.handle.clone()))
            }
        }
    }

    /// What people call an owner of this kind.
    pub fn name_of(self, configuration: &super::Configuration, handle: &str) -> String {
        match self {
            Self::Team => configuration.owner_name(&BudgetOf::Team(handle.to_owned())),
            Self::Project => configuration.owner_name(&BudgetOf::Project(handle.to_owned())),
            Self::Experiment => configuration.experiment_name(handle),
        }
    }
}
