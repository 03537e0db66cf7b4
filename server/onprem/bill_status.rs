//! From an asset register to the ledger: how each month of a cluster stands, what is active against what it amounts to.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::bill_file::{MonthFile, PROVIDER};
use super::bill_totals::{ComputedBill, Sha, is_over};
use crate::money::{Currency, Decimal, Money};
use crate::period::BillingMonth;

/// A month of a cluster: what is active, and what it amounts to by the asset register as it is.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterMonth {
    pub month: BillingMonth,
    pub state: State,
    /// The active delivery, and the revision it was computed from.
    pub delivery: Option<i64>,
    pub revision: Option<i64>,
    /// Effective cost by currency: what is active, and what would be.
    pub counts: Vec<Money>,
    // The name is a contract with scripts.
    #[serde(rename = "reckoned")]
    pub computed: Vec<Money>,
    /// What it amounts to, added up.
    #[serde(skip)]
    pub sums: Arc<ComputedBill>,
}

impl ClusterMonth {
    /// What a delivery of it is called.
    pub fn file_name(&self, cluster: &str) -> String {
        format!("{cluster}-{}.csv", self.month)
    }
}

/// How a month stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// What is active is what the asset register says.
    Published,
    /// Nothing of it is active.
    New,
    /// Other amounts count than the asset register says, or for others.
    Differs,
    /// Every amount counts as the asset register says; names or descriptions do not.
    Reworded,
    /// It is not over: what is active of it, if anything is, is what was known when it was submitted.
    Running,
    /// It was submitted and is being loaded.
    #[serde(rename = "handed-in")]
    Submitted,
    /// A file counts that somebody loaded, and that no asset register was asked for.
    Uploaded,
    /// The asset register says nothing of it, but something counts.
    Gone,
    /// There is nothing, and nothing counts.
    Empty,
}

impl State {
    /// Whether it waits for being published. A month that goes on does not: each day would change it. Nor does one of
    /// which only words have changed.
    pub fn is_due(self) -> bool {
        matches!(self, Self::New | Self::Differs | Self::Gone)
    }

    /// Whether handing it in would change something.
    pub fn may_be_published(self) -> bool {
        self.is_due() || matches!(self, Self::Reworded | Self::Running | Self::Uploaded)
    }
}

/// What is active of a month.
pub(super) struct Counting {
    delivery: i64,
    revision: Option<i64>,
    /// Of its file, where the asset register was asked for it.
    content: Option<Vec<u8>>,
    amounts: Option<Vec<u8>>,
    effective: Vec<Money>,
}

impl ClusterMonth {
    /// What was computed against what is active.
    pub(super) fn stands(
        computed: Arc<ComputedBill>,
        counts: Option<Counting>,
        waiting: &[BillingMonth],
        today: NaiveDate,
    ) -> Self {
        let month = computed.month;
        let is = |known: &Option<Vec<u8>>, sha: &Sha| known.as_deref() == Some(sha.as_slice());
        let state = match (&counts, computed.is_empty()) {
            _ if waiting.contains(&month) => State::Submitted,
            (None, true) => State::Empty,
            (Some(it), _) if it.revision.is_none() => State::Uploaded,
            (Some(_), true) => State::Gone,
            (Some(it), false) if is(&it.content, &computed.content) => State::Published,
            (_, false) if !is_over(month, today) => State::Running,
            (None, false) => State::New,
            (Some(it), false) if is(&it.amounts, &computed.amounts) => State::Reworded,
            (Some(_), false) => State::Differs,
        };
        Self {
            month,
            state,
            delivery: counts.as_ref().map(|it| it.delivery),
            revision: counts.as_ref().and_then(|it| it.revision),
            counts: counts.map(|it| it.effective).unwrap_or_default(),
            computed: computed.effective(),
            sums: computed,
        }
    }
}

pub(super) async fn counting(
    db: &mut PgConnection,
    cluster: &str,
) -> sqlx::Result<BTreeMap<BillingMonth, Counting>> {
    let rows = sqlx::query!(
        r#"select s.billing_month, d.delivery_id, t.currency,
                  t.effective_cost as "effective: Decimal",
                  -- The same bytes say the same; what was noted last was hashed as this program does.
                  (select m.content_sha256 from delivery_files f join cluster_months m using (sha256)
                   where f.delivery_id = d.delivery_id
                   order by m.content_sha256 is null, m.made_at desc, m.revision desc limit 1) as content,
                  (select m.amounts_sha256 from delivery_files f join cluster_months m using (sha256)
                   where f.delivery_id = d.delivery_id
                   order by m.content_sha256 is null, m.made_at desc, m.revision desc limit 1) as amounts,
                  (select m.revision from delivery_files f join cluster_months m using (sha256)
                   where f.delivery_id = d.delivery_id
                   -- The same bytes may be handed in at several revisions.
                   order by m.batch_id = d.batch_id desc, m.revision desc limit 1) as revision
           from scopes s
           join visible_deliveries v using (scope_id)
           join deliveries d using (delivery_id)
           join delivery_totals t using (delivery_id, scope_id)
           where s.provider = $1 and s.billing_account = $2
           order by s.billing_month, d.delivery_id, t.currency"#,
        PROVIDER,
        cluster,
    )
    .fetch_all(db)
    .await?;
    let mut months: BTreeMap<BillingMonth, Counting> = BTreeMap::new();
    for row in rows {
        let counting = months.entry(BillingMonth::of(row.billing_month)).or_insert_with(|| Counting {
            delivery: row.delivery_id,
            revision: row.revision,
            content: row.content,
            amounts: row.amounts,
            effective: Vec::new(),
        });
        if counting.delivery != row.delivery_id {
            // Several deliveries add up to it, so it is not what the asset register was asked for.
            (counting.content, counting.amounts) = (None, None);
        }
        let currency = Currency::exactly(&row.currency);
        match counting.effective.iter_mut().find(|it| it.currency == currency) {
            Some(known) => known.amount += row.effective,
            None => counting.effective.push(Money { amount: row.effective, currency }),
        }
    }
    Ok(months)
}

/// How many months of a cluster count in the ledger, or are about to.
pub async fn active_months(db: &mut PgConnection, cluster: &str) -> sqlx::Result<usize> {
    Ok(counting(&mut *db, cluster).await?.len() + waiting(db, cluster).await?.len())
}

/// Months of a cluster that were submitted and are not loaded yet.
pub(super) async fn waiting(db: &mut PgConnection, cluster: &str) -> sqlx::Result<Vec<BillingMonth>> {
    let months = sqlx::query_scalar!(
        "select m.billing_month from cluster_months m
         join jobs j on j.batch_id = m.batch_id
         where m.cluster = $1 and j.status in ('queued', 'running')",
        cluster,
    )
    .fetch_all(db)
    .await?;
    Ok(months.into_iter().map(BillingMonth::of).collect())
}

/// Keeps the asset register as it is until the transaction ends, and others from submitting months of this cluster. Answers the
/// revision.
pub async fn hold(db: &mut PgConnection, cluster: &str) -> sqlx::Result<i64> {
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended('cluster ' || $1, 0))", cluster)
        .fetch_one(&mut *db)
        .await?;
    sqlx::query_scalar!("select version from documents where kind = 'asset-register' for share")
        .fetch_one(db)
        .await
}

/// Notes of which revision and with which batch a month is submitted, as this file.
pub async fn note_submitted(
    db: &mut PgConnection,
    (cluster, revision): (&str, i64),
    (month, file): (&ClusterMonth, &MonthFile),
    batch_id: Uuid,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into cluster_months (sha256, cluster, billing_month, revision, batch_id, made_at, made_by,
                                     content_sha256, amounts_sha256)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (sha256, revision) do update
         set batch_id = $5, made_at = $6, made_by = $7, content_sha256 = $8, amounts_sha256 = $9",
        &file.sha256,
        cluster,
        month.month.first_day(),
        revision,
        batch_id,
        now,
        by,
        &month.sums.content,
        &month.sums.amounts,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The deliveries of a month that were made of the asset register and would count if later ones were undone, the latest first.
pub async fn deliveries_of(
    db: &mut PgConnection,
    cluster: &str,
    month: BillingMonth,
) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        "select d.delivery_id
         from deliveries d
         join delivery_scopes using (delivery_id)
         join scopes s using (scope_id)
         where s.provider = $1 and s.billing_account = $2 and s.billing_month = $3 and d.status = 'loaded'
           and d.delivery_id in (select f.delivery_id from delivery_files f join cluster_months using (sha256))
         order by d.published_sequence desc",
        PROVIDER,
        cluster,
        month.first_day(),
    )
    .fetch_all(db)
    .await
}
