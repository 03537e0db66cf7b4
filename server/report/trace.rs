//! One charge and where it comes from: its key, its delivery, its file and row, and from when to when it counted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::accelerator::Accelerators;
use crate::accounts::Viewer;
use crate::accounts::people::normalize_team;
use crate::allocation;
use crate::ledger::{Payer, Sha256};
use crate::money::Decimal;
use crate::period::BillingMonth;

use super::CostMetric;
use super::owner::{Owner, owner};

const BILLING_ACCOUNT: &str = "Billing account";
const SUB_ACCOUNT: &str = "Sub-account";

/// A row of a file of a delivery, whether or not it became a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowAddress {
    pub delivery: i64,
    pub file: i16,
    /// From 1, the header not counted.
    pub row: i64,
}

/// What is needed to read a file of a delivery again.
#[derive(Clone, Debug)]
pub struct FileOfDelivery {
    pub name: String,
    /// `None` where it was not kept.
    pub sha256: Option<Sha256>,
    /// It was kept, and removed since its import is archived.
    pub is_removed: bool,
    pub rows: i64,
    pub format: Option<String>,
    pub noisy_tags: Vec<String>,
}

/// A charge with everything the ledger knows of it.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    pub delivery: i64,
    pub delivery_status: String,
    pub delivered_at: DateTime<Utc>,
    /// Who handed it in. `None`, as whatever else is about deliveries, where the viewer sees their own rows only.
    pub delivered_by: Option<String>,
    /// Whether the ledger counts the charge now; else it was replaced, undone, or never published.
    pub is_counted: bool,
    /// From when to when it counted.
    pub counted: Vec<Counted>,
    /// The other deliveries of its account and month, newest first; the first twenty.
    pub others: Vec<OtherDelivery>,
    pub file: String,
    pub row: i64,
    pub format: Option<String>,
    pub billing_period: String,
    pub charge_period_start: DateTime<Utc>,
    pub charge_period_end: DateTime<Utc>,
    pub billed_cost: Decimal,
    pub effective_cost: Decimal,
    pub contracted_cost: Decimal,
    pub list_cost: Decimal,
    pub currency: String,
    pub consumed_quantity: Option<Decimal>,
    pub unit: String,
    pub is_metered: bool,
    pub accelerator: Option<String>,
    /// Accelerators that one unit of the quantity pays for: `8`, `1/7`.
    pub accelerators_per_unit: Option<String>,
    pub charge_key: Uuid,
    /// The key's dimensions by name, in reading order; those without value are left out.
    pub dimensions: Vec<(&'static str, String)>,
    pub tags: Value,
    /// Whose it is now. Null while there are no teams.
    pub owner: Option<Owner>,
}

/// A span of the ledger in which a delivery counted for a scope, and what ended it.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    pub from_sequence: i64,
    pub from: DateTime<Utc>,
    pub until_sequence: Option<i64>,
    pub until: Option<DateTime<Utc>>,
    /// The delivery whose publishing or undoing ended it.
    pub ended_by_delivery: Option<i64>,
    /// `publish` or `undo`.
    pub ended_by_action: Option<String>,
    pub ended_by: Option<String>,
}

/// Another delivery of the same account and month.
#[derive(Clone, Debug, Serialize)]
pub struct OtherDelivery {
    pub delivery: i64,
    pub status: String,
    pub is_counted: bool,
    pub delivered_at: DateTime<Utc>,
}

impl Trace {
    /// The billing account, with the spellings of the file, where the charge has a sub-account of its own, by which other
    /// pages name it.
    pub fn payer<'a>(&'a self, of_file: impl Iterator<Item = &'a str>) -> Option<Payer> {
        Payer::of(self.dimension(BILLING_ACCOUNT), self.dimension(SUB_ACCOUNT), of_file)
    }

    /// What it is for, in a few words.
    pub fn name(&self) -> &str {
        let names = ["Meter", "Service"].map(|name| self.dimension(name));
        names.into_iter().find(|name| !name.is_empty()).unwrap_or("Charge")
    }

    pub fn category(&self) -> &str {
        self.dimension("Charge category")
    }

    fn dimension(&self, wanted: &str) -> &str {
        self.dimensions.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value.as_str())
    }

    /// One of its four costs.
    pub fn cost(&self, cost: CostMetric) -> Decimal {
        match cost {
            CostMetric::Billed => self.billed_cost,
            CostMetric::Effective => self.effective_cost,
            CostMetric::Contracted => self.contracted_cost,
            CostMetric::List => self.list_cost,
        }
    }

    /// Takes out who pays: also from names of commitments, tags and the file.
    pub fn hide(&mut self, payer: &Payer) {
        for (name, value) in &mut self.dimensions {
            match *name {
                SUB_ACCOUNT => {}
                BILLING_ACCOUNT => "not shown to team leads".clone_into(value),
                _ => *value = payer.hide(value),
            }
        }
        payer.hide_in_tags(&mut self.tags);
        self.file = payer.hide(&self.file);
    }
}

/// The file that a row is in. `None` where there is none of that number.
pub async fn file_of(db: &mut PgConnection, at: RowAddress) -> sqlx::Result<Option<FileOfDelivery>> {
    let file = sqlx::query!(
        r#"select f.name, f.sha256, f.rows_read, d.format, d.noisy_tags,
               exists (select from originals o where o.sha256 = f.sha256) as "is_kept!"
         from delivery_files f
         join deliveries d using (delivery_id)
         where f.delivery_id = $1 and f.file_no = $2"#,
        at.delivery,
        at.file,
    )
    .fetch_optional(db)
    .await?;
    Ok(file.map(|file| FileOfDelivery {
        name: file.name,
        is_removed: file.sha256.is_some() && !file.is_kept,
        sha256: file.sha256.and_then(|bytes| Sha256::try_from(bytes).ok()),
        rows: file.rows_read,
        format: file.format,
        noisy_tags: file.noisy_tags,
    }))
}

/// Finds the charges of a row, in the order of these keys and of when they begin: at once by their keys, where these find as many as the row
/// `made`, else among all charges of the delivery. Without those that the viewer may not see.
pub async fn charges_of_row(
    db: &mut PgConnection,
    at: RowAddress,
    (keys, made): (&[Uuid], usize),
    viewer: &Viewer,
) -> sqlx::Result<Vec<Trace>> {
    let mut rows = Vec::new();
    for keys in [Some(keys), None].into_iter().filter(|keys| keys.is_none_or(|keys| !keys.is_empty())) {
        rows = sqlx::query_file!("server/report/trace.sql", at.delivery, at.file, at.row, keys)
            .fetch_all(&mut *db)
            .await?;
        if !rows.is_empty() && rows.len() >= made {
            break;
        }
    }
    let (mut owners, mut scopes) = (HashMap::new(), HashMap::new());
    let mut charges = Vec::with_capacity(rows.len());
    for row in rows {
        let month = BillingMonth::of(row.billing_month);
        let owner = match owners.entry((row.charge_key_id, month)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let facts = allocation::facts_of(&mut *db, row.charge_key_id).await?;
                new.insert(owner(&mut *db, month, &facts, viewer).await?)
            }
        };
        let may_see = match (&*owner, viewer) {
            (Some((_, may_see)), _) => *may_see,
            (None, Viewer::Teams(teams)) => is_of_teams(&row.tags, teams),
            (None, Viewer::Everything) => true,
        };
        if !may_see {
            continue;
        }
        let of_scope = match scopes.entry(row.scope_id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                new.insert(OfScope::find(&mut *db, at.delivery, row.scope_id, viewer).await?)
            }
        };
        let dimensions = [
            ("Provider", row.provider),
            (BILLING_ACCOUNT, row.billing_account),
            (SUB_ACCOUNT, row.sub_account),
            ("Service", row.service),
            ("Service category", row.service_category),
            ("SKU", row.sku),
            ("Region", row.region),
            ("Instance type", row.instance_type),
            ("Meter", row.meter),
            ("Resource", row.resource_id.unwrap_or_default()),
            ("Charge category", row.category),
            ("Charge class", if row.is_correction { "Correction".into() } else { String::new() }),
            ("Pricing category", row.pricing),
            ("Commitment discount", row.commitment_discount_id),
        ];
        charges.push(Trace {
            delivery: at.delivery,
            delivery_status: row.status,
            delivered_at: row.created_at,
            delivered_by: Some(row.created_by).filter(|_| *viewer == Viewer::Everything),
            is_counted: of_scope.counted.iter().any(|span| span.until_sequence.is_none()),
            counted: of_scope.counted.clone(),
            others: of_scope.others.clone(),
            file: row.file,
            row: at.row,
            format: row.format,
            billing_period: row.billing_month.format("%Y-%m").to_string(),
            charge_period_start: row.charge_period_start,
            charge_period_end: row.charge_period_end,
            billed_cost: row.billed_cost,
            effective_cost: row.effective_cost,
            contracted_cost: row.contracted_cost,
            list_cost: row.list_cost,
            currency: row.currency,
            consumed_quantity: row.consumed_quantity,
            unit: row.unit,
            is_metered: row.is_metered,
            accelerator: row.accelerator,
            accelerators_per_unit: row
                .accelerator_parts
                .map(|parts| Accelerators::from_parts(parts).to_string()),
            charge_key: row.charge_key_id,
            dimensions: dimensions.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
            tags: row.tags,
            owner: owner.as_ref().map(|(owner, _)| owner.clone()),
        });
    }
    Ok(charges)
}

/// What is the same for all charges of a delivery and scope.
struct OfScope {
    counted: Vec<Counted>,
    others: Vec<OtherDelivery>,
}

impl OfScope {
    /// As the viewer may see it.
    async fn find(
        db: &mut PgConnection,
        delivery_id: i64,
        scope_id: i64,
        viewer: &Viewer,
    ) -> sqlx::Result<Self> {
        let mut counted = counted(&mut *db, delivery_id, scope_id).await?;
        if *viewer == Viewer::Everything {
            return Ok(Self { counted, others: others(db, delivery_id, scope_id).await? });
        }
        for span in &mut counted {
            (span.ended_by_delivery, span.ended_by_action, span.ended_by) = (None, None, None);
        }
        Ok(Self { counted, others: Vec::new() })
    }
}

async fn counted(db: &mut PgConnection, delivery_id: i64, scope_id: i64) -> sqlx::Result<Vec<Counted>> {
    sqlx::query_as!(
        Counted,
        r#"select v.from_sequence, began.happened_at as "from!", v.until_sequence,
                  ended.happened_at as "until?", ended.delivery_id as "ended_by_delivery?",
                  ended.action as "ended_by_action?", ended.happened_by as "ended_by?"
           from visibility v
           join ledger_log began on began.sequence = v.from_sequence
           left join ledger_log ended on ended.sequence = v.until_sequence
           where v.delivery_id = $1 and v.scope_id = $2
           order by 1"#,
        delivery_id,
        scope_id,
    )
    .fetch_all(db)
    .await
}

async fn others(db: &mut PgConnection, delivery_id: i64, scope_id: i64) -> sqlx::Result<Vec<OtherDelivery>> {
    sqlx::query_as!(
        OtherDelivery,
        r#"select d.delivery_id as delivery, d.status, d.created_at as delivered_at, exists (
               select from visibility v
               where v.delivery_id = d.delivery_id and v.scope_id = $2 and v.until_sequence is null
           ) as "is_counted!"
           from delivery_scopes ds
           join deliveries d using (delivery_id)
           where ds.scope_id = $2 and ds.delivery_id <> $1 and d.status <> 'loading'
           order by 1 desc
           limit 20"#,
        delivery_id,
        scope_id,
    )
    .fetch_all(db)
    .await
}

/// The same test as the filter of every other report: a tag called team, whatever the case, trimmed.
fn is_of_teams(tags: &Value, teams: &[String]) -> bool {
    tags.as_object().is_some_and(|tags| {
        tags.iter().any(|(name, value)| {
            let value = normalize_team(value.as_str().unwrap_or_default());
            name.eq_ignore_ascii_case("team") && teams.contains(&value)
        })
    })
}
