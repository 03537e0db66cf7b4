//! What decides answers besides the question, remembered itself: what is active, rates, the configuration, and how months are
//! allocated.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use tokio::sync::Semaphore;

use super::Answers;
use crate::allocation::{self, Configuration, Division, MonthAllocation};
use crate::cache::{self, Cache};
use crate::changes::Document as _;
use crate::exchange::{self, Rates};
use crate::ledger::{self, ActiveImports, Archived};
use crate::money::Currency;
use crate::period::{BillingMonth, Period};
use crate::price_catalogue::{self, Catalogue};
use crate::report::Question;
use crate::report::compared::SameDays;
use crate::report::snapshot::{Allocation, Names, Snapshot, months, teams};

/// What decides how a month is allocated: what is active in it, its rates, and the version of the configuration. And the day of this
/// process, on which PostgreSQL was told that it is used: nothing is removed there that was used not long ago.
type AllocationKey = (BillingMonth, Arc<ActiveImports>, Arc<Rates>, i64, u64);

/// The months and the sequence of a question, when one of the imports that are active in them was loaded again last, and how
/// often the catalog was changed.
type Counted = (BillingMonth, BillingMonth, i64, Option<DateTime<Utc>>, u32);

#[derive(Default)]
pub(super) struct Inputs {
    /// What counts at a sequence does not change, but its rows may have been loaded again since.
    visible: Cache<Counted, ActiveImports>,
    rates: Cache<(BillingMonth, BillingMonth, i64), Rates>,
    reporting_currency: Cache<i64, Option<Currency>>,
    same_days: Cache<(Period, Arc<ActiveImports>), Option<Arc<SameDays>>>,
    /// By the version of the configuration, which is the last version of the ledger that changed it.
    configurations: Cache<i64, Configuration>,
    versions: Cache<i64, i64>,
    months: Arc<Cache<AllocationKey, MonthAllocation>>,
    /// By the revision of the list.
    lists: Cache<i64, Catalogue>,
}

/// For what pages need and takes longer than a page may.
pub(super) struct Allocating {
    pool: PgPool,
    /// Where all are taken, who asks does it themselves, as long as they wait for it.
    places: Arc<Semaphore>,
}

/// Months that are allocated apart at once.
const AT_ONCE: usize = 2;

impl Allocating {
    pub fn of(pool: PgPool) -> Self {
        Self { pool, places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Answers {
    /// What decides the answer to a question as of a sequence.
    pub(in crate::report) async fn snapshot(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
    ) -> sqlx::Result<Snapshot> {
        let (first, last) = (question.period.previous().first(), question.period.last());
        let into = self.converts_into(db, question, sequence).await?;
        let rates = match &into {
            Some(_) => self.rates(db, first, last, sequence).await?,
            None => Arc::default(),
        };
        let visible = self.visible(db, first, last, sequence).await?;
        let key = (question.period, Arc::clone(&visible));
        let find = async {
            let found = SameDays::find(db, question.period, &visible, sequence).await;
            found.map(|same_days| same_days.map(Arc::new))
        };
        let same_days = self.inputs.same_days.get(key, find).await?;
        Ok(Snapshot {
            visible,
            rates,
            into,
            same_days: Option::clone(&*same_days),
            allocation: self.allocation(db, question, sequence).await?,
        })
    }

    /// What a question's amounts are converted into: what it asks for; where it names no currency at all, the reporting
    /// currency that was chosen as of the sequence.
    async fn converts_into(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
    ) -> sqlx::Result<Option<Currency>> {
        if question.convert_into.is_some() || question.currency.is_some() {
            return Ok(question.convert_into.clone());
        }
        let chosen = exchange::reporting_currency_as_of(db, sequence);
        Ok(Option::clone(&*self.inputs.reporting_currency.get(sequence, chosen).await?))
    }

    /// What a question needs of the allocation of its period and the one before.
    pub(in crate::report) async fn allocation(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
    ) -> sqlx::Result<Arc<Allocation>> {
        if !question.may_need_allocation() {
            return Ok(Arc::default());
        }
        let configuration = self.configuration(db, sequence).await?;
        if !question.needs_allocation(&configuration) {
            return Ok(Arc::default());
        }
        let (first, last) = (question.period.previous().first(), question.period.last());
        let mut found = Allocation {
            months: Vec::new(),
            teams: self.teams(db, question, &configuration, (first, last), sequence).await?,
            names: Names::of(&configuration, first, last),
        };
        for month in months(first, last) {
            found.months.push(self.month(db, &configuration, month, sequence).await?);
        }
        Ok(found.into())
    }

    /// The teams whose rows a question is about as of a sequence, by month. A lead sees of the past what they see of it
    /// today: a change that was undone, or a team that has left, is not read through an earlier step.
    pub(in crate::report) async fn teams(
        &self,
        db: &mut PgConnection,
        question: &Question,
        configuration: &Configuration,
        (first, last): (BillingMonth, BillingMonth),
        sequence: i64,
    ) -> sqlx::Result<Vec<(BillingMonth, String)>> {
        let mut found = question.teams(configuration, first, last);
        if found.is_empty() || question.sees_everything {
            return Ok(found);
        }
        let current = ledger::sequence(&mut *db).await?;
        if sequence < current {
            let today = self.configuration(db, current).await?;
            let today = teams(&today, &question.viewer, first, last);
            found.retain(|of_month| today.contains(of_month));
        }
        Ok(found)
    }

    /// How a month is allocated as of a sequence.
    pub(in crate::report) async fn month(
        &self,
        db: &mut PgConnection,
        configuration: &Arc<Configuration>,
        month: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<MonthAllocation> {
        let visible = self.visible(db, month, month, sequence).await?;
        let rates = self.rates(db, month, month, sequence).await?;
        let version = self.version(db, sequence).await?;
        let key = (month, Arc::clone(&visible), Arc::clone(&rates), version, self.day());
        if let Some(allocating) = &self.allocating
            && self.inputs.months.known(&key).is_none()
            && !self.inputs.months.is_being_made(&key)
            && let Ok(place) = Arc::clone(&allocating.places).try_acquire_owned()
        {
            let (months, pool, key) = (Arc::clone(&self.inputs.months), allocating.pool.clone(), key.clone());
            let (configuration, visible, rates) =
                (Arc::clone(configuration), Arc::clone(&visible), Arc::clone(&rates));
            let allocate = async move {
                let _place = place;
                let mut db = pool.acquire().await?;
                months
                    .get(
                        key,
                        allocation::allocate(&mut db, &configuration, month, &visible, &rates, sequence),
                    )
                    .await
            };
            cache::apart::<_, sqlx::Error>(allocate).await;
        }
        let allocated = allocation::allocate(db, configuration, month, &visible, &rates, sequence);
        Ok(MonthAllocation::clone(&*self.inputs.months.get(key, allocated).await?))
    }

    /// How the pools of a month were divided as of a sequence. `None` where nothing is known of it.
    pub async fn division(
        &self,
        db: &mut PgConnection,
        month: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<Option<Division>> {
        let configuration = self.configuration(db, sequence).await?;
        let allocated = self.month(db, &configuration, month, sequence).await?;
        allocation::division_of(db, allocated.division_id).await
    }

    /// The allocation configuration as of a sequence.
    pub async fn configuration(
        &self,
        db: &mut PgConnection,
        sequence: i64,
    ) -> sqlx::Result<Arc<Configuration>> {
        let version = self.version(db, sequence).await?;
        self.inputs.configurations.get(version, Configuration::as_of(db, sequence)).await
    }

    /// The list of prices as of a revision that there is.
    pub async fn list(&self, db: &mut PgConnection, revision: i64) -> sqlx::Result<Arc<Catalogue>> {
        self.inputs.lists.get(revision, price_catalogue::as_of(db, revision)).await
    }

    async fn version(&self, db: &mut PgConnection, sequence: i64) -> sqlx::Result<i64> {
        Ok(*self.inputs.versions.get(sequence, allocation::version(db, sequence)).await?)
    }

    async fn rates(
        &self,
        db: &mut PgConnection,
        first: BillingMonth,
        last: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<Arc<Rates>> {
        self.inputs.rates.get((first, last, sequence), exchange::rates(db, first, last, sequence)).await
    }

    /// What counts in these months as of a sequence.
    pub(in crate::report) async fn visible(
        &self,
        db: &mut PgConnection,
        first: BillingMonth,
        last: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<Arc<ActiveImports>> {
        // What was added to the catalog since decides what is recognized, whatever the sequence.
        let catalog = ledger::catalog_revision(&mut *db).await?;
        let key = |again| (first, last, sequence, again, catalog);
        let Some(known) = self.inputs.visible.known(&key(None)) else {
            return self.inputs.visible.get(key(None), ActiveImports::find(db, first, last, sequence)).await;
        };
        // What was active then may have been archived since, and loaded again.
        let again = Archived::check(&mut *db, known.deliveries()).await?;
        if again == known.loaded_again() {
            return Ok(known);
        }
        self.inputs.visible.get(key(again), ActiveImports::find(db, first, last, sequence)).await
    }
}
