//! Computing that takes the processor longer than answering may: beside the threads that answer, as much at once as there
//! are cores, and only as long as somebody waits for it.

use std::io;
use std::num::NonZero;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::stop::Stop;

/// Who waits for a core at most: more would only wait longer than anybody does.
const LONGEST_QUEUE: usize = 64;
/// Longer nothing is computed for a page. The largest scenario of the templates takes a third of a second.
const LONGEST: Duration = Duration::from_secs(30);

static CORES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(2, NonZero::get)));
static WAITING: AtomicUsize = AtomicUsize::new(0);

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
    let waiting = Waiting::enter().ok_or(NotComputed::Busy)?;
    // Never closed, so there is always one to wait for.
    let core = CORES.acquire().await.ok();
    drop(waiting);
    let ends = Ends(Stop::default());
    let stop = ends.0.clone();
    let done = tokio::task::spawn_blocking(move || {
        let _core = core;
        stop.watch(work)
    });
    match timeout(LONGEST, done).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) => Err(NotComputed::BrokeOff),
        Err(_) => Err(NotComputed::TooSlow),
    }
}

/// A place in the queue, until it is dropped.
struct Waiting;

impl Waiting {
    fn enter() -> Option<Self> {
        if WAITING.fetch_add(1, Ordering::Relaxed) >= LONGEST_QUEUE {
            WAITING.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
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
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::stop;

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
                stop::check();
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
    async fn a_panic_is_told_to_who_asked() {
        assert_eq!(compute(|| panic!("as it does alone")).await, Err::<(), _>(NotComputed::BrokeOff));
    }
}
