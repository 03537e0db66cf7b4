//! Answers, remembered. What is asked and which deliveries count decide an answer, and loaded deliveries
//! never change, so an answer stays true for as long as someone remembers it; publishing or undoing in the
//! months that are asked makes it another question.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::PgConnection;
use tokio::sync::OnceCell;

use super::Question;
use super::as_of::{Error, as_of};
use super::over_time::{self, Series, Step};
use super::reconciliation::{Booked, Reconciliation, booked_of, reconcile};
use super::spend::{self, Spend};
use super::standing::{self, Standing, rejected_rows};
use super::sums::{Sum, Sums, sums_of};
use super::tags::tag_names_of;
use super::variance::{self, Variance};
use super::visible::Visible;
use crate::accounts::Viewer;
use crate::exchange::Rates;
use crate::ledger;
use crate::money::Decimal;
use crate::period::{BillingMonth, Period};

/// Answers of one kind that are kept.
const ENTRIES: usize = 500;
/// Their size together, about.
const BYTES: usize = 32 << 20;

/// A question, and what decides its answer.
type Key = (Question, Arc<Visible>, Arc<Rates>);

/// What pages ask again and again, asked once.
#[derive(Default)]
pub struct Answers {
    sums: Shelf<Key, Sums>,
    /// By sequence, since a delivery of any month may mend rows of this one.
    rejected_rows: Shelf<(Period, Viewer, i64), i64>,
    variance: Shelf<Key, Variance>,
    booked: Shelf<(Period, Arc<Visible>), Booked>,
    over_time: Shelf<(Key, Step, usize), Series>,
    tag_names: Shelf<(Period, Viewer, Arc<Visible>, i64), Vec<String>>,
    scopes: Shelf<(Period, Viewer, Arc<Visible>), Vec<i64>>,
    /// By sequence: a delivery of another month may mend rows of these.
    standing: Shelf<(Period, Viewer, i64), Vec<Standing>>,
    /// What counts at a sequence does not change either.
    visible: Shelf<(BillingMonth, BillingMonth, i64), Visible>,
    rates: Shelf<(BillingMonth, BillingMonth, i64), Rates>,
}

impl Answers {
    /// As [`spend::spend`].
    pub async fn spend(&self, db: &mut PgConnection, question: &Question) -> Result<Spend, Error> {
        let sequence = as_of(db, question.sequence).await?;
        let visible = self.compared(db, question.period, sequence).await?;
        let rates = self.rates(db, question, sequence).await?;
        let everything = timeless(question);
        let key = (everything.clone(), Arc::clone(&visible), Arc::clone(&rates));
        let sums = sums_of(db, &everything, &visible, &rates, sequence);
        let sums = self.sums.get(key, sums).await?;
        let scopes = self.scopes(db, question.period, &question.viewer, sequence).await?;
        let key = (question.period, question.viewer.clone(), sequence);
        let scopes = scopes.as_ref().map(|scopes| scopes.as_slice());
        let rejected = rejected_rows(db, question.period, scopes, sequence);
        let rejected = self.rejected_rows.get(key, rejected).await?;
        // Deliveries of other months move the sequence on and leave the sums as they are.
        Ok(spend::answer(question, &sums, sequence, *rejected))
    }

    /// As [`variance::variance`].
    pub async fn variance(&self, db: &mut PgConnection, question: &Question) -> Result<Variance, Error> {
        let sequence = as_of(db, question.sequence).await?;
        let visible = self.compared(db, question.period, sequence).await?;
        let rates = self.rates(db, question, sequence).await?;
        let everything = timeless(question);
        let key = (everything.clone(), Arc::clone(&visible), Arc::clone(&rates));
        let answer = variance::variance_of(db, &everything, &visible, &rates, sequence);
        let answer = self.variance.get(key, answer).await?;
        Ok(Variance { sequence, ..Variance::clone(&answer) })
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

    /// As [`over_time::over_time`].
    pub async fn over_time(
        &self,
        db: &mut PgConnection,
        question: &Question,
        step: Step,
        spend: &Spend,
        top: usize,
    ) -> sqlx::Result<Series> {
        let visible = self.compared(db, question.period, spend.sequence).await?;
        let rates = self.rates(db, question, spend.sequence).await?;
        let everything = timeless(question);
        let key = ((everything.clone(), Arc::clone(&visible), Arc::clone(&rates)), step, top);
        let series = over_time::over_time_of(db, &everything, step, &visible, &rates, spend.sequence, top);
        Ok(Series::clone(&*self.over_time.get(key, series).await?))
    }

    /// As [`super::tag_names`].
    pub async fn tag_names(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
        limit: i64,
    ) -> sqlx::Result<Vec<String>> {
        let visible = self.visible(db, period.first(), period.last(), sequence).await?;
        let key = (period, viewer.clone(), Arc::clone(&visible), limit);
        let answer = tag_names_of(db, period, viewer, &visible, limit);
        Ok(Vec::clone(&*self.tag_names.get(key, answer).await?))
    }

    /// Every account and month of a period that the viewer sees, by provider.
    pub async fn standing(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Vec<Standing>> {
        let scopes = self.scopes(db, period, viewer, sequence).await?;
        let scopes = scopes.as_ref().map(|scopes| scopes.as_slice());
        let standing = standing::standing_of(db, period, scopes, sequence);
        Ok(Vec::clone(&*self.standing.get((period, viewer.clone(), sequence), standing).await?))
    }

    /// The latest month in which the viewer sees a charge that counts now.
    pub async fn latest_month(
        &self,
        db: &mut PgConnection,
        viewer: &Viewer,
    ) -> sqlx::Result<Option<BillingMonth>> {
        let sequence = ledger::sequence(db).await?;
        for month in standing::months(db).await? {
            let scopes = self.scopes(db, month.into(), viewer, sequence).await?;
            if scopes.is_none_or(|scopes| !scopes.is_empty()) {
                return Ok(Some(month));
            }
        }
        Ok(None)
    }

    /// The scopes in which the viewer sees a charge; `None`: all of them.
    async fn scopes(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Option<Arc<Vec<i64>>>> {
        if *viewer == Viewer::Everything {
            return Ok(None);
        }
        let visible = self.visible(db, period.first(), period.last(), sequence).await?;
        let key = (period, viewer.clone(), Arc::clone(&visible));
        let scopes = standing::scopes_of(db, period, viewer, &visible);
        self.scopes.get(key, scopes).await.map(Some)
    }

    /// For a period and the one before it.
    async fn compared(
        &self,
        db: &mut PgConnection,
        period: Period,
        sequence: i64,
    ) -> sqlx::Result<Arc<Visible>> {
        self.visible(db, period.previous().first(), period.last(), sequence).await
    }

    async fn rates(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
    ) -> sqlx::Result<Arc<Rates>> {
        if question.convert_into.is_none() {
            return Ok(Arc::default());
        }
        let key = (question.period.previous().first(), question.period.last(), sequence);
        self.rates.get(key, spend::rates_for(db, question, sequence)).await
    }

    async fn visible(
        &self,
        db: &mut PgConnection,
        first: BillingMonth,
        last: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<Arc<Visible>> {
        self.visible.get((first, last, sequence), Visible::find(db, first, last, sequence)).await
    }
}

/// What is summed for a question: without what only chooses among groups, and without the sequence, for which
/// the visible deliveries and the rates stand.
fn timeless(question: &Question) -> Question {
    Question { sequence: None, ..question.of_everything() }
}

/// Bounded memory of answers of one kind; the one that was used longest ago goes first.
struct Shelf<K, V>(Mutex<Slots<K, V>>);

struct Slots<K, V> {
    by_key: HashMap<K, Slot<V>>,
    uses: u64,
}

struct Slot<V> {
    answer: Arc<OnceCell<Arc<V>>>,
    last_use: u64,
    bytes: usize,
}

impl<K: Eq + Hash + Clone, V: Weigh> Shelf<K, V> {
    /// The remembered answer, else what `ask` answers. Who asks the same meanwhile waits for that; an error
    /// is not remembered.
    async fn get(&self, key: K, ask: impl Future<Output = sqlx::Result<V>>) -> sqlx::Result<Arc<V>> {
        let slot = self.slot(&key);
        let mut is_new = false;
        let answer = slot
            .get_or_try_init(|| {
                is_new = true;
                async { ask.await.map(Arc::new) }
            })
            .await?
            .clone();
        if is_new {
            self.keep(&key, answer.bytes());
        }
        Ok(answer)
    }

    fn slot(&self, key: &K) -> Arc<OnceCell<Arc<V>>> {
        let mut slots = self.slots();
        slots.uses += 1;
        let last_use = slots.uses;
        let slot = slots.by_key.entry(key.clone()).or_insert_with(|| Slot {
            answer: Arc::default(),
            last_use,
            bytes: 0,
        });
        slot.last_use = last_use;
        Arc::clone(&slot.answer)
    }

    fn keep(&self, key: &K, bytes: usize) {
        let mut slots = self.slots();
        if let Some(slot) = slots.by_key.get_mut(key) {
            slot.bytes = bytes;
        }
        let mut held: usize = slots.by_key.values().map(|slot| slot.bytes).sum();
        while held > BYTES || slots.by_key.len() > ENTRIES {
            let oldest = slots.by_key.iter().min_by_key(|(_, slot)| slot.last_use);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            held -= slots.by_key.remove(&oldest).map_or(0, |slot| slot.bytes);
        }
    }

    fn slots(&self) -> MutexGuard<'_, Slots<K, V>> {
        // Whoever panicked while holding it left at worst an answer that nobody finds.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Slots { by_key: HashMap::new(), uses: 0 }))
    }
}

/// About how much memory an answer takes.
trait Weigh {
    fn bytes(&self) -> usize;
}

impl Weigh for Sums {
    fn bytes(&self) -> usize {
        fn of(sums: &[Sum]) -> usize {
            let text = |sum: &Sum| sum.key.as_ref().map_or(0, String::len);
            size_of_val(sums) + sums.iter().map(|sum| text(sum) + of(&sum.inside)).sum::<usize>()
        }
        size_of_val(self) + of(&self.groups)
    }
}

impl Weigh for Variance {
    fn bytes(&self) -> usize {
        size_of_val(self) + self.movements.len() * 640
    }
}

impl Weigh for Booked {
    fn bytes(&self) -> usize {
        size_of_val(self) + self.len() * 160
    }
}

impl Weigh for i64 {
    fn bytes(&self) -> usize {
        size_of_val(self)
    }
}

impl Weigh for Rates {
    fn bytes(&self) -> usize {
        size_of_val(self) + self.len() * 160
    }
}

impl Weigh for Series {
    fn bytes(&self) -> usize {
        let costs = self.groups.len() * self.buckets.len() * size_of::<Decimal>();
        size_of_val(self) + costs + self.groups.iter().map(|(label, _)| label.len()).sum::<usize>()
    }
}

impl Weigh for Visible {
    fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(self.deliveries())
    }
}

impl Weigh for Vec<i64> {
    fn bytes(&self) -> usize {
        size_of_val(self.as_slice())
    }
}

impl Weigh for Vec<Standing> {
    fn bytes(&self) -> usize {
        size_of_val(self.as_slice()) + self.len() * 80
    }
}

impl Weigh for Vec<String> {
    fn bytes(&self) -> usize {
        self.iter().map(|name| name.len() + size_of::<String>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    #[tokio::test]
    async fn an_answer_is_asked_for_once_even_by_four_at_a_time() {
        let shelf = Shelf::<&str, usize>::default();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let ask = || async {
            tokio::task::yield_now().await;
            Ok(asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 7)
        };
        let answers = tokio::join!(
            shelf.get("a", ask()),
            shelf.get("a", ask()),
            shelf.get("a", ask()),
            shelf.get("a", ask())
        );
        assert_eq!(*answers.0.unwrap(), 7);
        assert_eq!(*answers.3.unwrap(), 7);
        assert_eq!(*shelf.get("b", ask()).await.unwrap(), 8);
    }

    #[tokio::test]
    async fn an_error_is_not_remembered() {
        let shelf = Shelf::<&str, usize>::default();
        assert!(shelf.get("a", async { Err(sqlx::Error::PoolTimedOut) }).await.is_err());
        assert_eq!(*shelf.get("a", async { Ok(1) }).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn what_was_used_longest_ago_goes_first() {
        let shelf = Shelf::<u32, usize>::default();
        for key in [1, 2] {
            shelf.get(key, async { Ok(BYTES / 2) }).await.unwrap();
        }
        shelf.get(1, async { Err(sqlx::Error::PoolTimedOut) }).await.unwrap();
        shelf.get(3, async { Ok(BYTES / 2) }).await.unwrap();
        assert!(shelf.get(2, async { Err(sqlx::Error::PoolTimedOut) }).await.is_err());
        assert!(shelf.get(1, async { Err(sqlx::Error::PoolTimedOut) }).await.is_ok());
    }
}
