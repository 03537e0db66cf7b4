//! Computing that takes the processor longer than answering may: beside the threads that answer, as much at once as there
//! are cores, one thing at a time for each person, and only as long as somebody waits for it.

use std::io;
use std::num::NonZero;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::cancellation::Stop;
use crate::fair_queue::{Queue, Queues, Waiting};

/// How many wait for a core at most: more would only wait longer than anybody does.
const LONGEST_QUEUE: usize = 64;
/// And how many requests of one person for the one before: more than a page makes.
const LONGEST_OF_ONE: usize = 8;
/// Longer nothing is computed for a page. The largest scenario of the templates takes a third of a second.
const LONGEST: Duration = Duration::from_secs(30);

/// Rows that are sorted and written as a page in a few milliseconds.
const FEW: usize = 2000;

static CORES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(2, NonZero::get)));
static WAITING: AtomicUsize = AtomicUsize::new(0);
static PEOPLE: LazyLock<Queues> = LazyLock::new(|| Queues::of_each(1));

tokio::task_local! {
    /// Of the person whose request is answered.
    static OWN: Arc<Queue>;
}

/// Why something was not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComputed {
    #[error("too many wait for a core already")]
    Busy,
    #[error("it would have taken longer than {} s", LONGEST.as_secs())]
    TooSlow,
    /// A bug, which the log has.
    #[error("it broke off")]
    BrokeOff,
}

impl From<NotComputed> for sqlx::Error {
    /// For what asks the database and computes with it: [`NotComputed::of`] finds it again.
    fn from(cause: NotComputed) -> Self {
        Self::Io(io::Error::other(cause))
    }
}

impl NotComputed {
    /// Why something was not computed that the database was asked for.
    pub fn of(error: &sqlx::Error) -> Option<Self> {
        let sqlx::Error::Io(error) = error else { return None };
        error.get_ref()?.downcast_ref().copied()
    }
}

/// Does work beside the threads that answer. Who stops waiting (a client that goes away drops the request) stops it at its
/// next [`stop::check`](crate::stop::check), and its core is free when it has ended.
///
/// # Errors
/// Nothing is computed where too many wait already, and nothing for longer than [`LONGEST`].
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, NotComputed> {
    // Who asks for much waits for themselves, and takes one place in the queue of all.
    let slot = match OWN.try_with(Arc::clone) {
        Ok(own) => Some(own.enter(LONGEST_OF_ONE).await.ok_or(NotComputed::Busy)?),
        Err(_) => None,
    };
    let waiting = Waiting::enter(&WAITING, LONGEST_QUEUE).ok_or(NotComputed::Busy)?;
    // Never closed, so there is always one to wait for.
    let core = CORES.acquire().await.ok();
    drop(waiting);
    beside((core, slot), work).await
}

/// Does work on so many rows: here where they are few, else as [`compute`] does.
///
/// # Errors
/// Those of [`compute`].
pub async fn over<T: Send + 'static>(
    rows: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotComputed> {
    if rows <= FEW { Ok(work()) } else { compute(work).await }
}

/// Does work beside the threads that answer without waiting for a core: for whoever has locked what everybody else waits
/// for. There is one such lock for each document that people change, so there are few of these at a time.
///
/// # Errors
/// Those of [`compute`].
pub async fn at_once<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, NotComputed> {
    beside((), work).await
}

/// Does work on a thread of its own, until nobody waits for it; what is `held` is given back when it has ended.
async fn beside<T: Send + 'static>(
    held: impl Send + 'static,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotComputed> {
    let ends = Ends(Stop::default());
    let stop = ends.0.clone();
    let done: JoinHandle<T> = tokio::task::spawn_blocking(move || {
        let _held = held;
        stop.watch(work)
    });
    match timeout(LONGEST, done).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) => Err(NotComputed::BrokeOff),
        Err(_) => Err(NotComputed::TooSlow),
    }
}

/// Answers a request of this person: what it takes to be computed waits for what is computed for them already.
pub async fn for_person<T>(person: i64, answer: impl Future<Output = T>) -> T {
    OWN.scope(PEOPLE.of(person), answer).await
}

/// Stops the work when nobody waits for it any more.
struct Ends(Stop);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::cancellation;

    /// Works until it is stopped, and says whether it still does.
    fn endless(works: &Arc<AtomicBool>) -> impl FnOnce() + Send + use<> {
        struct Done(Arc<AtomicBool>);
        impl Drop for Done {
            fn drop(&mut self) {
                self.0.store(false, Ordering::SeqCst);
            }
        }
        works.store(true, Ordering::SeqCst);
        let done = Done(Arc::clone(works));
        move || {
            let _done = done;
            loop {
                cancellation::check();
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[tokio::test]
    async fn work_ends_when_nobody_waits_and_leaves_its_core_to_others() {
        let works = Arc::new(AtomicBool::new(false));
        for _ in 0..3 * CORES.available_permits() {
            let waited = timeout(Duration::from_millis(20), compute(endless(&works))).await;
            assert!(waited.is_err(), "it is not done by itself");
        }
        assert_eq!(compute(|| 7).await, Ok(7));
        while works.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn who_comes_when_too_many_wait_is_sent_away() {
        let works = Arc::new(AtomicBool::new(false));
        let mut all = Vec::new();
        for _ in 0..CORES.available_permits() + LONGEST_QUEUE {
            let works = Arc::clone(&works);
            all.push(tokio::spawn(async move { compute(endless(&works)).await }));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(compute(|| 7).await, Err(NotComputed::Busy));
        all.iter().for_each(tokio::task::JoinHandle::abort);
        for one in all {
            let _ = one.await;
        }
        assert_eq!(compute(|| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn who_asks_for_much_waits_for_themselves() {
        let works = Arc::new(AtomicBool::new(false));
        let mut all = Vec::new();
        for _ in 0..=LONGEST_OF_ONE {
            let works = Arc::clone(&works);
            let asked = for_person(-1, async move { compute(endless(&works)).await });
            all.push(tokio::spawn(asked));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(for_person(-1, compute(|| 7)).await, Err(NotComputed::Busy), "their own queue is full");
        assert_eq!(for_person(-2, compute(|| 7)).await, Ok(7), "another person has a core");
        all.iter().for_each(tokio::task::JoinHandle::abort);
        for one in all {
            let _ = one.await;
        }
        assert_eq!(for_person(-1, compute(|| 7)).await, Ok(7));
    }

    #[tokio::test]
    async fn a_panic_is_told_to_who_asked() {
        assert_eq!(compute(|| panic!("as it does alone")).await, Err::<(), _>(NotComputed::BrokeOff));
    }
}
