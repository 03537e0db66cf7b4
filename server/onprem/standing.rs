//! From a register to the ledger: how each month of a cluster stands, what counts against what it comes to.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use uuid::Uuid;

use super::bill::{PROVIDER, bill};
use super::entry::Cluster;
use super::keep::{current, readings};
use super::month::{Line, lines};
use super::power::Reading;
use super::register::Register;
use crate::money::{Currency, Decimal, Money};
use crate::period::BillingMonth;

/// A month of a cluster: what counts, and what it comes to by the register as it is.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterMonth {
    pub month: BillingMonth,
    pub state: State,
    /// The delivery that counts, and the revision it was reckoned from.
    pub delivery: Option<i64>,
    pub revision: Option<i64>,
    /// Effective cost by currency: what counts, and what would.
    pub counts: Vec<Money>,
    pub reckoned: Vec<Money>,
    #[serde(skip)]
    pub lines: Vec<Line>,
    /// What its meters read.
    #[serde(skip)]
    pub readings: Vec<Reading>,
    /// The month as it would be handed in.
    #[serde(skip)]
    pub file: Vec<u8>,
}

impl ClusterMonth {
    fn sha256(&self) -> Vec<u8> {
        Sha256::digest(&self.file).to_vec()
    }

    /// What a delivery of it is called.
    pub fn file_name(&self, cluster: &str) -> String {
        format!("{cluster}-{}.csv", self.month)
    }
}

/// How a month stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// What counts is what the register says.
    Published,
    /// Nothing of it counts.
    New,
    /// Another month counts than the register says.
    Differs,
    /// It goes on: what counts of it, if anything does, is what was known when it was handed in.
    Running,
    /// It was handed in and is being loaded.
    HandedIn,
    /// A file counts that somebody loaded, and that no register was asked for.
    Uploaded,
    /// The register says nothing of it, but something counts.
    Gone,
    /// There is nothing, and nothing counts.
    Empty,
}

impl State {
    /// Whether it waits for being handed in. A month that goes on does not: each day would change it.
    pub fn is_due(self) -> bool {
        matches!(self, Self::New | Self::Differs | Self::Gone)
    }

    /// Whether handing it in would change something.
    pub fn may_be_handed_in(self) -> bool {
        self.is_due() || matches!(self, Self::Running | Self::Uploaded)
    }
}

/// Each month of a cluster from its first to this one.
pub async fn months(
    db: &mut PgConnection,
    cluster: &str,
    today: NaiveDate,
) -> sqlx::Result<Vec<ClusterMonth>> {
    let (revision, register) = current(&mut *db).await?;
    let (Some(it), Some(first)) = (register.cluster(cluster), register.first_month(cluster)) else {
        return Ok(Vec::new());
    };
    let this_month = BillingMonth::of(today);
    let mut counting = counting(&mut *db, cluster).await?;
    let waiting = waiting(&mut *db, cluster).await?;
    let mut months = Vec::new();
    for month in std::iter::successors(Some(first), |month| Some(month.next())) {
        if month > this_month {
            break;
        }
        let counts = counting.remove(&month);
        let read = readings(&mut *db, &register, cluster, month, revision).await?;
        let lines = lines_until(&register, &read, cluster, month, today);
        months.push(stand(it, month, (lines, read), counts, &waiting, today));
    }
    // What was published of months that the cluster is said not to have had.
    months.extend(
        counting
            .into_iter()
            .map(|(month, counts)| stand(it, month, (Vec::new(), Vec::new()), Some(counts), &waiting, today)),
    );
    months.sort_by_key(|it| it.month);
    Ok(months)
}

/// The lines of a month as far as it has gone: of one that goes on, the days before today.
pub fn lines_until(
    register: &Register,
    readings: &[Reading],
    cluster: &str,
    month: BillingMonth,
    today: NaiveDate,
) -> Vec<Line> {
    let mut lines = lines(register, readings, cluster, month);
    lines.retain(|line| line.days.start < today);
    lines
}

/// A month of a cluster as it stands; `None` of a cluster that there is not.
pub async fn month(
    db: &mut PgConnection,
    cluster: &str,
    month: BillingMonth,
    today: NaiveDate,
) -> sqlx::Result<Option<ClusterMonth>> {
    let (revision, register) = current(&mut *db).await?;
    let Some(it) = register.cluster(cluster) else { return Ok(None) };
    let counts = counting(&mut *db, cluster).await?.remove(&month);
    let waiting = waiting(&mut *db, cluster).await?;
    let read = readings(db, &register, cluster, month, revision).await?;
    let lines = lines_until(&register, &read, cluster, month, today);
    Ok(Some(stand(it, month, (lines, read), counts, &waiting, today)))
}

/// What counts of a month.
struct Counting {
    delivery: i64,
    revision: Option<i64>,
    sha256: Option<Vec<u8>>,
    effective: Vec<Money>,
}

fn stand(
    cluster: &Cluster,
    month: BillingMonth,
    (lines, readings): (Vec<Line>, Vec<Reading>),
    counts: Option<Counting>,
    waiting: &[BillingMonth],
    today: NaiveDate,
) -> ClusterMonth {
    let is_over = month.next().first_day() <= today;
    // Texts are written to memory.
    let file = bill(cluster, month, &lines, is_over).unwrap_or_default();
    let sha256 = Sha256::digest(&file).to_vec();
    let state = match (&counts, lines.is_empty()) {
        _ if waiting.contains(&month) => State::HandedIn,
        (None, true) => State::Empty,
        (Some(it), _) if it.revision.is_none() => State::Uploaded,
        (Some(_), true) => State::Gone,
        (Some(it), false) if it.sha256.as_ref() == Some(&sha256) => State::Published,
        (_, false) if !is_over => State::Running,
        (None, false) => State::New,
        (Some(_), false) => State::Differs,
    };
    let mut reckoned: BTreeMap<&Currency, Decimal> = BTreeMap::new();
    for line in &lines {
        *reckoned.entry(&line.currency).or_default() += line.effective;
    }
    let reckoned =
        reckoned.into_iter().map(|(currency, amount)| Money { amount, currency: currency.clone() }).collect();
    ClusterMonth {
        month,
        state,
        delivery: counts.as_ref().map(|it| it.delivery),
        revision: counts.as_ref().and_then(|it| it.revision),
        counts: counts.map(|it| it.effective).unwrap_or_default(),
        reckoned,
        lines,
        readings,
        file,
    }
}

async fn counting(db: &mut PgConnection, cluster: &str) -> sqlx::Result<BTreeMap<BillingMonth, Counting>> {
    let rows = sqlx::query!(
        r#"select s.billing_month, d.delivery_id, t.currency,
                  t.effective_cost as "effective: Decimal",
                  (select f.sha256 from delivery_files f where f.delivery_id = d.delivery_id limit 1) as sha256,
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
            sha256: row.sha256,
            effective: Vec::new(),
        });
        counting.effective.push(Money { amount: row.effective, currency: Currency::exactly(&row.currency) });
    }
    Ok(months)
}

/// How many months of a cluster count in the ledger, or are about to.
pub async fn counting_months(db: &mut PgConnection, cluster: &str) -> sqlx::Result<usize> {
    Ok(counting(&mut *db, cluster).await?.len() + waiting(db, cluster).await?.len())
}

/// Months of a cluster that were handed in and are not loaded yet.
async fn waiting(db: &mut PgConnection, cluster: &str) -> sqlx::Result<Vec<BillingMonth>> {
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

/// Keeps the register as it is until the transaction ends, and others from handing in months of this cluster. Answers the
/// revision.
pub async fn hold(db: &mut PgConnection, cluster: &str) -> sqlx::Result<i64> {
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended('cluster ' || $1, 0))", cluster)
        .fetch_one(&mut *db)
        .await?;
    sqlx::query_scalar!("select revision from register for share").fetch_one(db).await
}

/// Notes of which revision and with which batch these months are handed in.
pub async fn note_handed_in(
    db: &mut PgConnection,
    (cluster, revision): (&str, i64),
    months: &[&ClusterMonth],
    batch_id: Uuid,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    for it in months {
        let sha256 = it.sha256();
        sqlx::query!(
            "insert into cluster_months (sha256, cluster, billing_month, revision, batch_id, made_at, made_by)
             values ($1, $2, $3, $4, $5, $6, $7)
             on conflict (sha256, revision) do update set batch_id = $5, made_at = $6, made_by = $7",
            &sha256,
            cluster,
            it.month.first_day(),
            revision,
            batch_id,
            now,
            by,
        )
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

/// The deliveries of a month that were made of the register and would count if later ones were undone, the latest first.
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
