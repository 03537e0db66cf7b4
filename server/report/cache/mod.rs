//! Answers, remembered. What is asked and which deliveries count decide an answer, and loaded deliveries
//! never change, so an answer stays true for as long as someone remembers it; publishing or undoing in the
//! months that are asked makes it another question.

mod size;

use crate::changes::Document as _;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::as_of::{Error, as_of};
use super::charges::Ranked;
use super::charges_and_credits::{self, MonthChargesAndCredits};
use super::compared::SameDays;
use super::completeness::{self, Completeness, rejected_rows};
use super::hourly::Ways;
use super::machines::{self, Machine};
use super::onprem_unit_cost;
use super::over_time::{self, Days, Series, Step};
use super::reconciliation::{Booked, Reconciliation, booked_of, reconcile};
use super::snapshot::{Allocation, Names, Snapshot, months, teams};
use super::spend::{self, Spend};
use super::sums::{Sums, sums_of};
use super::tags::tag_names_of;
use super::unallocated::{self, Keys};
use super::variance::{self, Variance};
use super::{FIRST, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::{self, Configuration, Division, MonthAllocation};
use crate::cache::{self, Cache};
use crate::compute;
use crate::exchange::{self, Rates};
use crate::ledger;
use crate::ledger::{ActiveImports, Archived};
use crate::money::Currency;
use crate::period::{BillingMonth, Period};
use crate::price_catalogue;
use crate::price_catalogue::Catalogue;

/// The scopes in which somebody sees a charge; `None`: all of them.
type Scopes = Option<Arc<Vec<i64>>>;

/// A question, and what decides its answer.
type Key = (Question, Snapshot);
/// What a viewer sees of a period.
type Seen = (Period, Viewer, Arc<ActiveImports>, Arc<Allocation>);
/// What decides how a month is allocated: what counts in it, its rates, and the version of the configuration. And the day of this
/// process, on which PostgreSQL was told that it is used: nothing is removed there that was used not long ago.
type AllocationKey = (BillingMonth, Arc<ActiveImports>, Arc<Rates>, i64, u64);

/// The months and the sequence of a question, and when one of the imports that are active in them was loaded again last.
type Counted = (BillingMonth, BillingMonth, i64, Option<DateTime<Utc>>);

/// Months that are allocated to find out which is the latest in which a lead is charged something.
const LOOKED_INTO: usize = 3;

/// What pages ask again and again, asked once.
#[derive(Default)]
pub struct Answers {
    began: Began,
    sums: Cache<Key, Sums>,
    /// The same without all that comes after the first groups.
    first_sums: Cache<Key, Sums>,
    /// By sequence, since a delivery of any month may correct rows of this one.
    rejected_rows: Cache<(Period, Viewer, i64), i64>,
    variance: Cache<Key, Variance>,
    /// From a place on, and at most so many.
    unallocated: Cache<(Key, i64, Option<i64>), Keys>,
    /// Perhaps of one key alone.
    ranked: Cache<(Key, Option<Uuid>), Ranked>,
    charges_and_credits: Cache<Key, MonthChargesAndCredits>,
    booked: Cache<(Period, Arc<ActiveImports>), Booked>,
    over_time: Cache<(Key, Step, usize), Series>,
    days: Cache<Key, BTreeMap<Option<String>, Days>>,
    machines: Cache<Key, Vec<Machine>>,
    pub(super) ways: Cache<Key, Ways>,
    tag_names: Cache<(Seen, i64), Vec<String>>,
    scopes: Cache<Seen, Vec<i64>>,
    /// By sequence: a delivery of another month may correct rows of these.
    completeness: Cache<(Period, Scopes, i64), Vec<Completeness>>,
    /// What counts at a sequence does not change either, but its rows may have been loaded again since.
    visible: Cache<Counted, ActiveImports>,
    rates: Cache<(BillingMonth, BillingMonth, i64), Rates>,
    reporting_currency: Cache<i64, Option<Currency>>,
    same_days: Cache<(Period, Arc<ActiveImports>), Option<Arc<SameDays>>>,
    /// By the version of the configuration, which is the last version of the ledger that changed it.
    configurations: Cache<i64, Configuration>,
    versions: Cache<i64, i64>,
    months: Arc<Cache<AllocationKey, MonthAllocation>>,
    /// Where months are allocated apart from whoever asks for them.
    apart: Option<Apart>,
    /// By the revision of the list.
    lists: Cache<i64, Catalogue>,
}

/// For what pages need and takes longer than a page may.
struct Apart {
    pool: PgPool,
    /// Where all are taken, who asks does it themselves, as long as they wait for it.
    places: Arc<Semaphore>,
}

/// Months that are allocated apart at once.
const APART: usize = 2;

struct Began(Instant);

impl Default for Began {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Began {
    /// Whole days since then.
    fn days(&self) -> u64 {
        self.0.elapsed().as_secs() / (24 * 60 * 60)
    }
}

impl Answers {
    /// Of a server: what takes long is made on connections of this pool.
    pub fn of_server(pool: PgPool) -> Self {
        let apart = Apart { pool, places: Arc::new(Semaphore::new(APART)) };
        Self { apart: Some(apart), ..Self::default() }
    }

    /// Whole days since this process began to remember.
    pub fn day(&self) -> u64 {
        self.began.days()
    }

    /// Spend in groups, where on-prem GPU-hours of groups have no price.
    pub async fn spend(&self, db: &mut PgConnection, question: &Question) -> Result<Spend, Error> {
        let mut spend = self.added_up(&mut *db, question).await?;
        // Apart from those who wait for it: most answers have nothing of one's own.
        Box::pin(onprem_unit_cost::price(db, self, question, &mut spend)).await?;
        Ok(spend)
    }

    /// Spend in groups.
    pub async fn priced_spend(&self, db: &mut PgConnection, question: &Question) -> Result<Spend, Error> {
        let mut spend = self.spend(&mut *db, question).await?;
        Box::pin(onprem_unit_cost::price_groups(db, self, question, &mut spend)).await?;
        Ok(spend)
    }

    /// What charges add up to: the price of an hour owned follows from what is owned in the answer alone.
    pub(super) async fn added_up(&self, db: &mut PgConnection, question: &Question) -> Result<Spend, Error> {
        let sequence = as_of(db, question.sequence).await?;
        let snapshot = self.snapshot(db, question, sequence).await?;
        let everything = timeless(question);
        let key = (everything.clone(), snapshot.clone());
        // Apart from the answer, which may wait for it in two places.
        let asked = Box::pin(sums_of(&mut *db, &everything, &snapshot, sequence));
        let sums = if question.is_of_first && self.sums.known(&key).is_none() {
            let first = async {
                let sums = asked.await?;
                Ok::<_, sqlx::Error>(compute::over(sums.groups.len(), move || sums.first(FIRST)).await?)
            };
            self.first_sums.get(key, first).await?
        } else {
            self.sums.get(key, asked).await?
        };
        let scopes = self.scopes(db, question.period, &question.viewer, sequence).await?;
        let key = (question.period, question.viewer.clone(), sequence);
        let scopes = scopes.as_ref().map(|scopes| scopes.as_slice());
        let rejected = rejected_rows(db, question.period, scopes, sequence);
        let rejected = self.rejected_rows.get(key, rejected).await?;
        // Deliveries of other months move the sequence on and leave the sums as they are.
        let (question, rejected) = (question.clone(), *rejected);
        let answer = compute::over(sums.groups.len(), move || {
            spend::answer(&question, &sums, &snapshot, sequence, rejected)
        });
        Ok(answer.await.map_err(sqlx::Error::from)?)
    }

    /// A question's period beside the one of the same length before it.
    pub async fn variance(&self, db: &mut PgConnection, question: &Question) -> Result<Variance, Error> {
        let sequence = as_of(db, question.sequence).await?;
        let snapshot = self.snapshot(db, question, sequence).await?;
        let everything = timeless(question);
        let key = (everything.clone(), snapshot.clone());
        let answer = variance::variance_of(db, &everything, &snapshot, sequence);
        let answer = self.variance.get(key, answer).await?;
        Ok(Variance { sequence, ..Variance::clone(&answer) })
    }

    /// The keys that are unallocated, from a place on.
    pub(super) async fn unallocated_keys(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        first: i64,
        limit: Option<i64>,
    ) -> sqlx::Result<Arc<Keys>> {
        let snapshot = self.snapshot(db, question, sequence).await?;
        let everything = timeless(question);
        let keys = unallocated::keys_of(db, &everything, &snapshot, sequence, first, limit);
        self.unallocated.get(((everything.clone(), snapshot.clone()), first, limit), keys).await
    }

    /// The keys that a list of charges begins with, as `ask` answers them.
    pub(super) async fn ranked_keys(
        &self,
        question: &Question,
        snapshot: &Snapshot,
        key: Option<Uuid>,
        ask: impl Future<Output = sqlx::Result<Ranked>>,
    ) -> sqlx::Result<Arc<Ranked>> {
        self.ranked.get(((timeless(question), snapshot.clone()), key), ask).await
    }

    /// What was charged and credited in the month of a question, and what of that is unallocated.
    pub(super) async fn charges_and_credits(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
    ) -> sqlx::Result<MonthChargesAndCredits> {
        let snapshot = self.snapshot(db, question, sequence).await?;
        let everything = timeless(question);
        let key = (everything.clone(), snapshot.clone());
        Ok(*self
            .charges_and_credits
            .get(key, charges_and_credits::of_month(db, &everything, &snapshot, sequence))
            .await?)
    }

    /// A period beside its invoices, as the ledger stands or stood.
    pub async fn reconciliation(
        &self,
        db: &mut PgConnection,
        period: Period,
        sequence: Option<i64>,
    ) -> Result<Reconciliation, Error> {
        let sequence = as_of(db, sequence).await?;
        let visible = self.visible(db, period.first(), period.last(), sequence).await?;
        let key = (period, Arc::clone(&visible));
        let booked = self.booked.get(key, booked_of(db, period, &visible)).await?;
        Ok(reconcile(db, period, &booked, sequence).await?)
    }

    /// A question's costs over time, for its `top` largest groups, as of the version of the answer it stands beside.
    pub async fn over_time(
        &self,
        db: &mut PgConnection,
        question: &Question,
        step: Step,
        spend: &Spend,
        top: usize,
    ) -> sqlx::Result<Series> {
        let snapshot = self.snapshot(db, question, spend.sequence).await?;
        let everything = timeless(question);
        let key = ((everything.clone(), snapshot.clone()), step, top);
        let series = over_time::over_time_of(db, &everything, step, &snapshot, spend.sequence, top);
        Ok(Series::clone(&*self.over_time.get(key, series).await?))
    }

    /// The days on which each group of a question was charged something, as of the step of an answer.
    pub(super) async fn days(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
    ) -> sqlx::Result<Arc<BTreeMap<Option<String>, Days>>> {
        let snapshot = self.snapshot(db, question, sequence).await?;
        let everything = timeless(question);
        let key = (everything.clone(), snapshot.clone());
        self.days.get(key, over_time::days_of(db, &everything, &snapshot, sequence)).await
    }

    /// The machines that a question is about, as of the step of an answer.
    pub(super) async fn machines(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
    ) -> sqlx::Result<Vec<Machine>> {
        let snapshot = self.snapshot(db, question, sequence).await?;
        let everything = timeless(question);
        let key = (everything.clone(), snapshot.clone());
        let machines = machines::machines_of(db, &everything, &snapshot, sequence);
        Ok(Vec::clone(&*self.machines.get(key, machines).await?))
    }

    /// The tags that charges of a period carry as of a sequence, the most used first, at most `limit`.
    pub async fn tag_names(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
        limit: i64,
    ) -> sqlx::Result<Vec<String>> {
        let visible = self.visible(db, period.first(), period.last(), sequence).await?;
        let question = Question { by: Grouping::Month, ..Question::of(period, viewer.clone()) };
        let allocation = self.allocation(db, &question, sequence).await?;
        let key = ((period, viewer.clone(), Arc::clone(&visible), Arc::clone(&allocation)), limit);
        let answer = tag_names_of(db, period, viewer, &visible, &allocation, limit);
        Ok(Vec::clone(&*self.tag_names.get(key, answer).await?))
    }

    /// Every account and month of a period that the viewer sees, by provider.
    pub async fn completeness(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Vec<Completeness>> {
        let scopes = self.scopes(db, period, viewer, sequence).await?;
        let among = scopes.as_ref().map(|scopes| scopes.as_slice());
        let completeness = completeness::completeness_of(db, period, among, sequence);
        Ok(Vec::clone(&*self.completeness.get((period, scopes.clone(), sequence), completeness).await?))
    }

    /// The latest month in which the viewer is charged something that counts now.
    pub async fn latest_month(
        &self,
        db: &mut PgConnection,
        viewer: &Viewer,
    ) -> Result<Option<BillingMonth>, Error> {
        let sequence = ledger::sequence(db).await?;
        for month in self.months_to_look_in(db, viewer, sequence).await? {
            let scopes = self.scopes(db, month.into(), viewer, sequence).await?;
            if scopes.is_none_or(|scopes| !scopes.is_empty()) {
                return Ok(Some(month));
            }
            // A part of shared costs is no charge that they see.
            let question = Question { by: Grouping::Team, ..Question::of(month.into(), viewer.clone()) };
            if self.spend(db, &question).await?.total.is_some() {
                return Ok(Some(month));
            }
        }
        Ok(None)
    }

    /// The months that are looked into for a viewer's latest one, from the last on. To look into a month for a lead
    /// allocates it, so these are the last few, and of those before the ones that are summed already and name their teams:
    /// whoever has no charge at all must not set off the allocation of all history.
    async fn months_to_look_in(
        &self,
        db: &mut PgConnection,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Vec<BillingMonth>> {
        let mut months = completeness::months(db).await?;
        let configuration = self.configuration(db, sequence).await?;
        if *viewer == Viewer::Everything || !configuration.has_teams() || months.len() <= LOOKED_INTO {
            return Ok(months);
        }
        let before = months.split_off(LOOKED_INTO);
        if let (Some(last), Some(first)) = (before.first(), before.last()) {
            let seen: BTreeSet<String> =
                teams(&configuration, viewer, *first, *last).into_iter().map(|(_, team)| team).collect();
            let seen: Vec<String> = seen.into_iter().collect();
            let summed = completeness::months_summed_for(db, &seen).await?;
            months.extend(before.into_iter().filter(|month| summed.contains(month)));
        }
        Ok(months)
    }

    /// The scopes in which the viewer sees a charge.
    async fn scopes(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Scopes> {
        if *viewer == Viewer::Everything {
            return Ok(None);
        }
        let visible = self.visible(db, period.first(), period.last(), sequence).await?;
        let question = Question { by: Grouping::Month, ..Question::of(period, viewer.clone()) };
        let allocation = self.allocation(db, &question, sequence).await?;
        let key = (period, viewer.clone(), Arc::clone(&visible), Arc::clone(&allocation));
        let scopes = completeness::scopes_of(db, period, viewer, &visible, &allocation);
        self.scopes.get(key, scopes).await.map(Some)
    }

    /// What decides the answer to a question as of a sequence.
    pub(super) async fn snapshot(
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
        let same_days = self.same_days.get(key, find).await?;
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
        Ok(Option::clone(&*self.reporting_currency.get(sequence, chosen).await?))
    }

    /// What a question needs of the allocation of its period and the one before.
    pub(super) async fn allocation(
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
    pub(super) async fn teams(
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
    pub(super) async fn month(
        &self,
        db: &mut PgConnection,
        configuration: &Arc<Configuration>,
        month: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<MonthAllocation> {
        let visible = self.visible(db, month, month, sequence).await?;
        let rates = self.rates(db, month, month, sequence).await?;
        let version = self.version(db, sequence).await?;
        let key = (month, Arc::clone(&visible), Arc::clone(&rates), version, self.began.days());
        if let Some(apart) = &self.apart
            && self.months.known(&key).is_none()
            && !self.months.is_being_made(&key)
            && let Ok(place) = Arc::clone(&apart.places).try_acquire_owned()
        {
            let (months, pool, key) = (Arc::clone(&self.months), apart.pool.clone(), key.clone());
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
        Ok(MonthAllocation::clone(&*self.months.get(key, allocated).await?))
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
        self.configurations.get(version, allocation::Configuration::as_of(db, sequence)).await
    }

    /// The list of prices as of a revision that there is.
    pub async fn list(&self, db: &mut PgConnection, revision: i64) -> sqlx::Result<Arc<Catalogue>> {
        self.lists.get(revision, price_catalogue::as_of(db, revision)).await
    }

    async fn version(&self, db: &mut PgConnection, sequence: i64) -> sqlx::Result<i64> {
        Ok(*self.versions.get(sequence, allocation::version(db, sequence)).await?)
    }

    async fn rates(
        &self,
        db: &mut PgConnection,
        first: BillingMonth,
        last: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<Arc<Rates>> {
        self.rates.get((first, last, sequence), exchange::rates(db, first, last, sequence)).await
    }

    async fn visible(
        &self,
        db: &mut PgConnection,
        first: BillingMonth,
        last: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<Arc<ActiveImports>> {
        let key = |again| (first, last, sequence, again);
        let Some(known) = self.visible.known(&key(None)) else {
            return self.visible.get(key(None), ActiveImports::find(db, first, last, sequence)).await;
        };
        // What was active then may have been archived since, and loaded again.
        let again = Archived::check(&mut *db, known.deliveries()).await?;
        if again == known.loaded_again() {
            return Ok(known);
        }
        self.visible.get(key(again), ActiveImports::find(db, first, last, sequence)).await
    }
}

/// What is summed for a question: without what only chooses among groups, and without the sequence, for which
/// the visible deliveries and the rates stand. Whether who pays is hidden matters to some groups alone.
fn timeless(question: &Question) -> Question {
    let hides_payers = question.hides_payers_in_groups();
    Question { sequence: None, hides_payers, ..question.of_everything() }
}
