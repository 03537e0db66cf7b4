//! Months of clusters, computed once and remembered. What decides a month is what it is remembered by: the entries behind
//! its cluster, the last revision at which readings of its meters in that month were taken or replaced, and of a month
//! that goes on, the day. So nothing expires, and what is changed of another cluster leaves it remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::NaiveDate;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;

use super::asset_register::AssetRegister;
use super::bill_file::MonthFile;
use super::bill_status::{ClusterMonth, Counting, counting, waiting};
use super::bill_totals::{ComputedBill, Sha, feed, is_over, lines_until};
use super::cost_lines::Line;
use super::entry::{Cluster, Entry};
use super::readings::readings;
use crate::cache::{Cache, SizeInCache};
use crate::compute::compute;
use crate::period::BillingMonth;

/// Months that were computed, in bounded memory.
#[derive(Default)]
pub struct Months {
    computed: Cache<Key, ComputedBill>,
    /// By meters and revision.
    read: Cache<(Vec<i64>, i64), ReadIn>,
    /// By cluster and revision.
    behind: Cache<(String, i64), Behind>,
    computations: AtomicU64,
}

/// What decides a month.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    cluster: String,
    /// Of the entries behind it.
    behind: Sha,
    month: BillingMonth,
    /// The last revision at which its readings changed; 0 without any.
    read: i64,
    /// Of a month that goes on.
    today: Option<NaiveDate>,
}

/// The last revision at which readings of a month changed.
type ReadIn = BTreeMap<BillingMonth, i64>;

/// A cluster with what its months follow from, as of a revision.
struct Behind {
    cluster: Cluster,
    asset_register: Arc<AssetRegister>,
    revision: i64,
    sha: Sha,
}

impl Behind {
    fn find(&(revision, asset_register): &(i64, &AssetRegister), cluster: &str) -> Option<Self> {
        let cluster = asset_register.cluster(cluster)?.clone();
        let asset_register = asset_register.behind(&cluster.handle);
        let mut hash = Sha256::new();
        feed(&mut hash, &asset_register.entries);
        Some(Self {
            cluster,
            asset_register: Arc::new(asset_register),
            revision,
            sha: hash.finalize().into(),
        })
    }

    fn meters(&self) -> Vec<i64> {
        self.asset_register.meters().map(|(id, _)| id).collect()
    }
}

impl Months {
    /// Each month of a cluster from its first to this one, and those that count without having been.
    pub async fn of(
        &self,
        db: &mut PgConnection,
        at: (i64, &AssetRegister),
        cluster: &str,
        today: NaiveDate,
    ) -> sqlx::Result<Vec<ClusterMonth>> {
        let (Some(behind), Some(first)) = (self.behind(at, cluster).await?, at.1.first_month(cluster)) else {
            return Ok(Vec::new());
        };
        let mut counting = counting(&mut *db, cluster).await?;
        let waiting = waiting(&mut *db, cluster).await?;
        let read = self.read_in(&mut *db, &behind).await?;
        let this_month = BillingMonth::of(today);
        let has_been: BTreeSet<BillingMonth> = first.through(this_month).collect();
        let all: BTreeSet<BillingMonth> = has_been.iter().chain(counting.keys()).copied().collect();
        let mut months = Vec::new();
        for month in all {
            let computed = if has_been.contains(&month) {
                self.computed(&mut *db, &behind, &read, month, today).await?
            } else {
                Arc::new(ComputedBill::nothing(month))
            };
            let counts: Option<Counting> = counting.remove(&month);
            months.push(ClusterMonth::stands(computed, counts, &waiting, today));
        }
        Ok(months)
    }

    /// A month of a cluster as it stands; `None` of a cluster that there is not.
    pub async fn one(
        &self,
        db: &mut PgConnection,
        at: (i64, &AssetRegister),
        cluster: &str,
        month: BillingMonth,
        today: NaiveDate,
    ) -> sqlx::Result<Option<ClusterMonth>> {
        let Some(behind) = self.behind(at, cluster).await? else { return Ok(None) };
        let counts = counting(&mut *db, cluster).await?.remove(&month);
        let waiting = waiting(&mut *db, cluster).await?;
        let read = self.read_in(&mut *db, &behind).await?;
        let computed = self.computed(db, &behind, &read, month, today).await?;
        Ok(Some(ClusterMonth::stands(computed, counts, &waiting, today)))
    }

    /// How many months were computed, and not remembered.
    pub fn computations(&self) -> u64 {
        self.computations.load(Ordering::Relaxed)
    }

    async fn computed(
        &self,
        db: &mut PgConnection,
        behind: &Behind,
        read: &ReadIn,
        month: BillingMonth,
        today: NaiveDate,
    ) -> sqlx::Result<Arc<ComputedBill>> {
        let key = Key {
            cluster: behind.cluster.handle.clone(),
            behind: behind.sha,
            month,
            read: read.get(&month).copied().unwrap_or_default(),
            today: (!is_over(month, today)).then_some(today),
        };
        let computation = async {
            self.computations.fetch_add(1, Ordering::Relaxed);
            let Behind { cluster, asset_register, revision, .. } = behind;
            let read = readings(db, asset_register, &cluster.handle, month, *revision).await?;
            let (cluster, asset_register) = (cluster.clone(), Arc::clone(asset_register));
            Ok(compute(move || ComputedBill::of(&asset_register, &read, &cluster, month, today)).await?)
        };
        self.computed.get(key, computation).await
    }

    /// What the months of a cluster follow from; `None` of a cluster that there is not.
    async fn behind(&self, at: (i64, &AssetRegister), cluster: &str) -> sqlx::Result<Option<Arc<Behind>>> {
        if at.1.cluster(cluster).is_none() {
            return Ok(None);
        }
        let find = async { Behind::find(&at, cluster).ok_or(sqlx::Error::RowNotFound) };
        self.behind.get((cluster.to_owned(), at.0), find).await.map(Some)
    }

    /// The last revision at which readings of a cluster changed, by the months that they lie in.
    async fn read_in(&self, db: &mut PgConnection, behind: &Behind) -> sqlx::Result<Arc<ReadIn>> {
        let meters = behind.meters();
        if meters.is_empty() {
            return Ok(Arc::default());
        }
        let key = (meters.clone(), behind.revision);
        self.read.get(key, read_in(db, &meters, behind.revision)).await
    }
}

async fn read_in(db: &mut PgConnection, meters: &[i64], revision: i64) -> sqlx::Result<ReadIn> {
    let rows = sqlx::query!(
        r#"select date_trunc('month', starts_at at time zone 'UTC')::date as "first!",
                  date_trunc('month', (ends_at - interval '1 microsecond') at time zone 'UTC')::date as "last!",
                  max(greatest(from_revision, case when until_revision <= $2 then until_revision end)) as "revision!"
           from meter_readings
           where meter_id = any($1) and from_revision <= $2
           group by 1, 2"#,
        meters,
        revision,
    )
    .fetch_all(db)
    .await?;
    let mut read = ReadIn::new();
    for row in rows {
        for month in BillingMonth::of(row.first).through(BillingMonth::of(row.last)) {
            let known = read.entry(month).or_default();
            *known = row.revision.max(*known);
        }
    }
    Ok(read)
}

/// The lines of a month as far as it has gone; none of a cluster that there is not.
pub async fn lines_of(
    db: &mut PgConnection,
    at: (i64, &AssetRegister),
    cluster: &str,
    month: BillingMonth,
    today: NaiveDate,
) -> sqlx::Result<Vec<Line>> {
    let Some(Behind { cluster, asset_register, revision, .. }) = Behind::find(&at, cluster) else {
        return Ok(Vec::new());
    };
    let read = readings(db, &asset_register, &cluster.handle, month, revision).await?;
    Ok(compute(move || lines_until(&asset_register, &read, &cluster.handle, month, today)).await?)
}

/// A month as it is submitted; `None` of a cluster that there is not.
pub async fn file_of(
    db: &mut PgConnection,
    at: (i64, &AssetRegister),
    cluster: &str,
    month: BillingMonth,
    today: NaiveDate,
) -> sqlx::Result<Option<MonthFile>> {
    let Some(it) = at.1.cluster(cluster).cloned() else { return Ok(None) };
    let lines = lines_of(db, at, cluster, month, today).await?;
    Ok(Some(compute(move || MonthFile::of(&it, month, &lines, is_over(month, today))).await?))
}

impl SizeInCache for ComputedBill {
    fn size_in_cache(&self) -> usize {
        let components: usize = self.summaries.iter().map(|it| it.components.len() * 64).sum();
        let hours: usize = self.hours.iter().map(|it| size_of_val(it) + it.name.len()).sum();
        size_of_val(self) + size_of_val(self.summaries.as_slice()) + components + hours
    }
}

impl SizeInCache for Behind {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.asset_register.entries.len() * size_of::<Entry>()
    }
}

impl SizeInCache for ReadIn {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.len() * 32
    }
}
