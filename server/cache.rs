//! Bounded memory of answers, by what decides them: nothing expires, and what was used longest ago goes first.
//!
//! What a process remembers has one [`Budget`], whatever kinds of answers there are: a page that is asked for all day
//! keeps its answers, and a kind that nobody asks for takes no room.
//!
//! Whoever asks for an answer that another one is computing waits for it. A page would hold a connection meanwhile, and as
//! many as the pool has would leave none to the others; so it gives its connection back and begins again once the answer is
//! there ([`without_waiting`]). What takes long is computed by a task of its own ([`apart`]), which goes on after the page has
//! been answered.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout_at};

/// Bytes of everything that a process remembers, about.
const BYTES: usize = 128 << 20;
/// What an answer takes beside itself: its key with texts, and where it stands in three maps.
const OVERHEAD: usize = 512;

/// About how much memory an answer takes: itself, and what it holds elsewhere, such as texts and lists.
pub trait SizeInCache: Sized {
    fn size_in_cache(&self) -> usize {
        size_of_val(self)
    }
}

impl SizeInCache for i64 {}

impl SizeInCache for String {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.len()
    }
}

impl<T: SizeInCache> SizeInCache for Vec<T> {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.iter().map(T::size_in_cache).sum::<usize>()
    }
}

impl<T: SizeInCache> SizeInCache for Option<T> {
    fn size_in_cache(&self) -> usize {
        self.as_ref().map_or(size_of_val(self), T::size_in_cache)
    }
}

impl<T: SizeInCache> SizeInCache for Arc<T> {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + T::size_in_cache(self)
    }
}

/// Room for answers of any kind; those that were used longest ago go first.
pub struct Budget {
    bytes: usize,
    uses: Mutex<Uses>,
}

#[derive(Default)]
struct Uses {
    last: u64,
    /// Of all answers together.
    bytes: usize,
    by_number: BTreeMap<u64, Use>,
}

/// The last use of an answer.
struct Use {
    bytes: usize,
    of: Weak<dyn Forget>,
}

trait Forget: Send + Sync {
    /// Forgets what was used last by this number.
    fn forget(&self, last_use: u64);
}

impl Budget {
    pub fn of(bytes: usize) -> Arc<Self> {
        Arc::new(Self { bytes, uses: Mutex::default() })
    }

    /// The one of this process.
    pub fn of_process() -> Arc<Self> {
        static OF_PROCESS: LazyLock<Arc<Budget>> = LazyLock::new(|| Budget::of(BYTES));
        Arc::clone(&OF_PROCESS)
    }

    /// Bytes that are remembered, about.
    #[cfg(test)]
    fn used(&self) -> usize {
        lock(&self.uses).bytes
    }

    /// Notes that an answer of so many bytes is used. Answers the number of this use.
    fn note(&self, before: Option<u64>, bytes: usize, of: Weak<dyn Forget>) -> u64 {
        let uses = &mut *lock(&self.uses);
        uses.end(before);
        uses.last += 1;
        uses.bytes += bytes;
        uses.by_number.insert(uses.last, Use { bytes, of });
        uses.last
    }

    /// Forgets until everything fits.
    fn make_room(&self) {
        let mut gone = Vec::new();
        {
            let uses = &mut *lock(&self.uses);
            while uses.bytes > self.bytes
                && let Some((number, oldest)) = uses.by_number.pop_first()
            {
                uses.bytes -= oldest.bytes;
                gone.push((number, oldest.of));
            }
        }
        // No cache is locked while the uses are: it locks them while it is.
        for (number, of) in gone {
            if let Some(of) = of.upgrade() {
                of.forget(number);
            }
        }
    }
}

impl Uses {
    fn end(&mut self, number: Option<u64>) {
        if let Some(ended) = number.and_then(|number| self.by_number.remove(&number)) {
            self.bytes -= ended.bytes;
        }
    }
}

/// Answers of one kind.
pub struct Cache<K: Send + Sync + 'static, V: Send + Sync + 'static> {
    budget: Arc<Budget>,
    slots: Arc<Mutex<Slots<K, V>>>,
}

struct Slots<K, V> {
    by_key: HashMap<Arc<K>, Slot<V>>,
    by_use: HashMap<u64, Arc<K>>,
}

struct Slot<V> {
    answer: Arc<Awaited<V>>,
    last_use: u64,
    bytes: usize,
}

/// An answer, once it is there; whoever has the permit computes it.
struct Awaited<V> {
    answer: OnceLock<Arc<V>>,
    permit: Arc<Permit>,
}

impl<K: Eq + Hash + Send + Sync + 'static, V: Send + Sync + 'static> Cache<K, V> {
    /// Within a budget that others may share.
    pub fn within(budget: Arc<Budget>) -> Self {
        Self { budget, slots: Arc::new(Mutex::new(Slots { by_key: HashMap::new(), by_use: HashMap::new() })) }
    }
}

impl<K: Eq + Hash + Send + Sync + 'static, V: SizeInCache + Send + Sync + 'static> Cache<K, V> {
    /// The remembered answer, else what `ask` answers. Who asks the same meanwhile waits for that; an error
    /// is not remembered.
    pub async fn get<E>(&self, key: K, ask: impl Future<Output = Result<V, E>>) -> Result<Arc<V>, E> {
        let (key, slot) = self.slot(key);
        if let Some(answer) = slot.answer.get() {
            return Ok(Arc::clone(answer));
        }
        let permit = loop {
            if let Some(permit) = Permit::take(&slot.permit) {
                break permit;
            }
            begin_again_after(&slot.permit).await;
            slot.permit.is_free().await;
        };
        if let Some(answer) = slot.answer.get() {
            return Ok(Arc::clone(answer));
        }
        let answer = Arc::new(ask.await?);
        let answer = Arc::clone(slot.answer.get_or_init(|| answer));
        drop(permit);
        self.keep(&key, answer.size_in_cache());
        Ok(answer)
    }

    /// The remembered answer.
    pub fn known(&self, key: &K) -> Option<Arc<V>> {
        lock(&self.slots).by_key.get(key)?.answer.answer.get().cloned()
    }

    /// Whether somebody is computing the answer.
    pub fn is_being_made(&self, key: &K) -> bool {
        let slots = lock(&self.slots);
        slots.by_key.get(key).is_some_and(|slot| slot.answer.permit.is_taken.load(Ordering::Acquire))
    }

    fn slot(&self, key: K) -> (Arc<K>, Arc<Awaited<V>>) {
        let (key, answer, is_new) = {
            let slots = &mut *lock(&self.slots);
            let known = slots.by_key.get_key_value(&key).map(|(key, _)| Arc::clone(key));
            let is_new = known.is_none();
            let key = known.unwrap_or_else(|| Arc::new(key));
            let slot = slots.by_key.entry(Arc::clone(&key)).or_insert_with(|| Slot {
                answer: Arc::new(Awaited { answer: OnceLock::new(), permit: Arc::default() }),
                last_use: 0,
                bytes: size_of::<K>() + OVERHEAD,
            });
            let answer = Arc::clone(&slot.answer);
            self.note(slots, &key);
            (key, answer, is_new)
        };
        if is_new {
            self.budget.make_room();
        }
        (key, answer)
    }

    /// Counts the bytes of an answer that has come, and makes room for it.
    fn keep(&self, key: &Arc<K>, bytes: usize) {
        {
            let slots = &mut *lock(&self.slots);
            // It may have gone meanwhile, and been asked for anew.
            if let Some(slot) = slots.by_key.get_mut(key) {
                slot.bytes = size_of::<K>() + OVERHEAD + bytes;
                self.note(slots, key);
            }
        }
        self.budget.make_room();
    }

    fn note(&self, slots: &mut Slots<K, V>, key: &Arc<K>) {
        let Some(slot) = slots.by_key.get_mut(key) else { return };
        let all: Weak<dyn Forget> = Arc::<Mutex<Slots<K, V>>>::downgrade(&self.slots);
        slots.by_use.remove(&slot.last_use);
        slot.last_use = self.budget.note(Some(slot.last_use), slot.bytes, all);
        slots.by_use.insert(slot.last_use, Arc::clone(key));
    }
}

impl<K: Eq + Hash + Send + Sync, V: Send + Sync> Forget for Mutex<Slots<K, V>> {
    fn forget(&self, last_use: u64) {
        let slots = &mut *lock(self);
        // Used again meanwhile, it stays.
        if let Some(key) = slots.by_use.remove(&last_use) {
            slots.by_key.remove(&key);
        }
    }
}

impl<K: Eq + Hash + Send + Sync + 'static, V: Send + Sync + 'static> Default for Cache<K, V> {
    fn default() -> Self {
        Self::within(Budget::of_process())
    }
}

impl<K: Send + Sync + 'static, V: Send + Sync + 'static> Drop for Cache<K, V> {
    fn drop(&mut self) {
        let slots = lock(&self.slots);
        let mut uses = lock(&self.budget.uses);
        for slot in slots.by_key.values() {
            uses.end(Some(slot.last_use));
        }
    }
}

/// Whoever panicked while holding it left at worst an answer that nobody finds.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The permit to compute an answer, which one at a time has. Nobody is handed it: who waits and begins again would hand it on to the next, who
/// would do the same, and none of them would compute.
#[derive(Default)]
struct Permit {
    is_taken: AtomicBool,
    is_over: Notify,
}

/// The permit, until it is dropped.
struct Taken(Arc<Permit>);

impl Permit {
    fn take(permit: &Arc<Self>) -> Option<Taken> {
        (!permit.is_taken.swap(true, Ordering::AcqRel)).then(|| Taken(Arc::clone(permit)))
    }

    /// Waits until nobody has it, at least for a moment.
    async fn is_free(&self) {
        let mut over = pin!(self.is_over.notified());
        // Before the look: an end between the two is heard.
        over.as_mut().enable();
        if self.is_taken.load(Ordering::Acquire) {
            over.await;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.is_taken.store(false, Ordering::Release);
        self.0.is_over.notify_waiters();
    }
}

/// Work that can begin again.
#[derive(Clone)]
struct Again {
    /// Where it says after what. That answers whether it went well.
    tell: mpsc::UnboundedSender<BoxFuture<'static, bool>>,
    /// Nothing went wrong that it had computed apart: else it computes that itself, and answers for it.
    may_compute_apart: bool,
}

tokio::task_local! {
    static AGAIN: Again;
}

/// Ends work that can begin again, and what it holds with it; returns at once where it cannot.
async fn begin_again_after(permit: &Arc<Permit>) {
    let permit = Arc::clone(permit);
    let is_free = async move { permit.is_free().await }.map(|()| true).boxed();
    let is_heard = AGAIN.try_with(|again| again.tell.send(is_free).is_ok());
    if is_heard.unwrap_or(false) {
        std::future::pending::<()>().await;
    }
}

/// Has a task of its own do work that remembers its answer, and ends who asks until that is done. Returns at once where who
/// asks cannot begin again: then they do it themselves.
pub async fn apart<T: Send + 'static, E: Send + 'static>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) {
    let is_heard = AGAIN.try_with(|again| {
        again.may_compute_apart && {
            let task = tokio::spawn(work);
            again.tell.send(async { matches!(task.await, Ok(Ok(_))) }.boxed()).is_ok()
        }
    });
    if is_heard.unwrap_or(false) {
        std::future::pending::<()>().await;
    }
}

/// What others compute took longer than somebody wanted to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReady;

/// Does work that only reads. Where it needs an answer that another one is computing it is dropped, with the connection
/// that it holds, and begun again from its start once that one is done. What it had computed itself is remembered by then.
///
/// # Errors
/// Where it waited for others for so long altogether.
pub async fn without_waiting<T, F: Future<Output = T>>(
    patience: Duration,
    mut begin: impl FnMut() -> F,
) -> Result<T, NotReady> {
    let mut left = patience;
    let mut may_compute_apart = true;
    loop {
        let (tell, mut described) = mpsc::unbounded_channel();
        let after = {
            let work = pin!(AGAIN.scope(Again { tell, may_compute_apart }, begin()));
            tokio::select! {
                biased;
                done = work => return Ok(done),
                Some(after) = described.recv() => after,
            }
        };
        let since = Instant::now();
        may_compute_apart &= timeout_at(since + left, after).await.map_err(|_| NotReady)?;
        left = left.saturating_sub(since.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    impl SizeInCache for usize {
        fn size_in_cache(&self) -> usize {
            *self
        }
    }

    fn found(answer: usize) -> std::future::Ready<sqlx::Result<usize>> {
        std::future::ready(Ok(answer))
    }

    /// As an error, whoever asks for what is not there.
    fn nothing() -> std::future::Ready<sqlx::Result<usize>> {
        std::future::ready(Err(sqlx::Error::PoolTimedOut))
    }

    #[tokio::test]
    async fn an_answer_is_asked_for_once_even_by_four_at_a_time() {
        let cache = Cache::<&str, usize>::default();
        let asked = AtomicUsize::new(0);
        let ask = || async {
            tokio::task::yield_now().await;
            Ok::<_, sqlx::Error>(asked.fetch_add(1, Ordering::Relaxed) + 7)
        };
        let answers = tokio::join!(
            cache.get("a", ask()),
            cache.get("a", ask()),
            cache.get("a", ask()),
            cache.get("a", ask())
        );
        assert_eq!(*answers.0.unwrap(), 7);
        assert_eq!(*answers.3.unwrap(), 7);
        assert_eq!(*cache.get("b", ask()).await.unwrap(), 8);
    }

    #[tokio::test]
    async fn an_error_is_not_remembered() {
        let cache = Cache::<&str, usize>::default();
        assert!(cache.get("a", nothing()).await.is_err());
        assert_eq!(*cache.get("a", found(1)).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn caches_of_one_budget_give_up_what_was_used_longest_ago() {
        const ROOM: usize = 1 << 20;
        let budget = Budget::of(ROOM);
        let months = Cache::<u32, usize>::within(Arc::clone(&budget));
        let weeks = Cache::<&str, usize>::within(Arc::clone(&budget));
        let third = || found(ROOM / 3 - 2 * OVERHEAD);
        months.get(1, third()).await.unwrap();
        weeks.get("a", third()).await.unwrap();
        months.get(2, third()).await.unwrap();
        months.get(1, nothing()).await.unwrap();
        assert!(budget.used() <= ROOM);

        weeks.get("b", third()).await.unwrap();
        assert!(budget.used() <= ROOM, "{}", budget.used());
        assert!(weeks.get("a", nothing()).await.is_err(), "it was used longest ago");
        for key in [1, 2] {
            assert!(months.get(key, nothing()).await.is_ok(), "{key}");
        }
        drop(months);
        assert!(budget.used() < ROOM / 2, "what is gone takes no room: {}", budget.used());
    }

    #[tokio::test]
    async fn any_number_of_answers_stays_within_the_budget() {
        const ROOM: usize = 1 << 20;
        let budget = Budget::of(ROOM);
        let caches: Vec<Cache<usize, usize>> = (0..22).map(|_| Cache::within(Arc::clone(&budget))).collect();
        for key in 0..500 {
            for cache in &caches {
                cache.get(key, found(key * 10)).await.unwrap();
                cache.get(key, nothing()).await.unwrap();
                assert!(budget.used() <= ROOM);
            }
        }
        let held: usize = caches.iter().map(|cache| lock(&cache.slots).by_key.len()).sum();
        assert!((100..2000).contains(&held), "{held}");
    }

    /// Holds one of few, as a page holds a connection.
    #[tokio::test]
    async fn whoever_waits_for_an_answer_of_another_holds_nothing() {
        let (pool, cache) = (tokio::sync::Semaphore::new(2), Cache::<u8, usize>::default());
        let (asked, begun) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let gate = tokio::sync::Semaphore::new(0);
        let page = || async {
            let _connection = pool.acquire().await.unwrap();
            begun.fetch_add(1, Ordering::Relaxed);
            let ask = async {
                asked.fetch_add(1, Ordering::Relaxed);
                gate.acquire().await.unwrap().forget();
                Ok::<_, sqlx::Error>(7)
            };
            cache.get(0, ask).await.map(|answer| *answer)
        };
        let pages = futures_util::future::join_all((0..20).map(|_| without_waiting(PATIENCE, page)));
        let other = async {
            while begun.load(Ordering::Relaxed) < 20 {
                tokio::task::yield_now().await;
            }
            let connection = pool.acquire().await.unwrap();
            drop(connection);
            gate.add_permits(1);
        };
        let (answers, ()) = tokio::join!(pages, other);
        assert!(answers.into_iter().all(|answer| answer.unwrap().unwrap() == 7));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    /// Several once handed the permit from one to the next for ever.
    #[tokio::test]
    async fn whoever_waits_for_one_that_gave_up_computes_it() {
        for waiting in [1, 20] {
            let cache = Cache::<u8, usize>::default();
            let gate = tokio::sync::Semaphore::new(0);
            let gives_up = async {
                let waits = async {
                    gate.acquire().await.unwrap().forget();
                    nothing().await
                };
                assert!(cache.get(0, waits).await.is_err());
            };
            let ask = || async { cache.get(0, found(3)).await.map(|answer| *answer) };
            let others = futures_util::future::join_all((0..waiting).map(|_| without_waiting(PATIENCE, ask)));
            let opens = async { gate.add_permits(1) };
            let all = async { tokio::join!(gives_up, others, opens) };
            let ((), answers, ()) = tokio::time::timeout(Duration::from_secs(10), all).await.unwrap();
            assert!(answers.into_iter().all(|answer| answer.unwrap().unwrap() == 3), "{waiting}");
        }
    }

    /// The page is told to come back, and finds the answer then.
    #[tokio::test]
    async fn what_is_computed_apart_goes_on_when_nobody_waits_any_more() {
        let cache = Arc::new(Cache::<u8, usize>::default());
        let begun = AtomicUsize::new(0);
        let page = || async {
            begun.fetch_add(1, Ordering::Relaxed);
            if let Some(answer) = cache.known(&0) {
                return *answer;
            }
            if !cache.is_being_made(&0) {
                let cache = Arc::clone(&cache);
                apart(async move {
                    let ask = tokio::time::sleep(Duration::from_secs(1)).map(|()| Ok::<_, sqlx::Error>(7));
                    cache.get(0, ask).await
                })
                .await;
            }
            *cache.get(0, nothing()).await.unwrap()
        };
        for _ in 0..2 {
            assert_eq!(without_waiting(Duration::from_millis(10), page).await, Err(NotReady));
        }
        assert_eq!(without_waiting(PATIENCE, page).await, Ok(7));
        assert_eq!(begun.load(Ordering::Relaxed), 4, "the third began again once it was there");
    }

    /// Who asks for it does it themselves then, and learns what is wrong with it.
    #[tokio::test]
    async fn what_went_wrong_apart_is_not_tried_for_ever() {
        let (apart_from, here) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let page = || async {
            let count = Arc::clone(&apart_from);
            apart(async move {
                count.fetch_add(1, Ordering::Relaxed);
                nothing().await
            })
            .await;
            here.fetch_add(1, Ordering::Relaxed);
            nothing().await
        };
        assert!(without_waiting(PATIENCE, page).await.unwrap().is_err());
        assert_eq!((apart_from.load(Ordering::Relaxed), here.load(Ordering::Relaxed)), (1, 1));
    }
}
