//! How fast pages are answered while a bill is loaded: their readers would take every core, and it would never end.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::fair_queue::Queues;

/// Answers a second and core: a fifth of what a core can, and more than people ask for.
const OF_A_CORE: u32 = 300;

/// What timers may be late by without slowing the pace.
const LATE: Duration = Duration::from_millis(20);

/// Spaces answers evenly. Whoever asks less often than that never waits, and of one person only one request waits beside
/// those of others.
pub(super) struct Pace {
    between: Duration,
    next: Mutex<Option<Instant>>,
    people: Queues,
}

impl Default for Pace {
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get).try_into().unwrap_or(1);
        Self::of(Duration::from_secs(1) / (OF_A_CORE * cores))
    }
}

impl Pace {
    pub(super) fn of(between: Duration) -> Self {
        Self { between, next: Mutex::default(), people: Queues::of_each(1) }
    }

    /// Waits until those before it were answered. Whoever goes away leaves the queue, and takes nobody's time.
    pub(super) async fn keep(&self, person: i64) {
        let _slot = self.people.of(person).enter(usize::MAX).await;
        let mut next = self.next.lock().await;
        let now = Instant::now();
        // Timers are late by a millisecond or so, which is made up for.
        let place = next.map_or(now, |next| next.max(now - LATE));
        sleep_until(place).await;
        *next = Some(place + self.between);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn pace(millis: u64) -> Arc<Pace> {
        Arc::new(Pace::of(Duration::from_millis(millis)))
    }

    fn waits(pace: &Arc<Pace>, person: i64) -> tokio::task::JoinHandle<()> {
        let pace = Arc::clone(pace);
        tokio::spawn(async move { pace.keep(person).await })
    }

    #[tokio::test]
    async fn those_who_ask_at_once_are_answered_one_after_the_other() {
        let pace = pace(2);
        let began = Instant::now();
        for waiting in (0..100).map(|n| waits(&pace, n % 3)).collect::<Vec<_>>() {
            waiting.await.unwrap();
        }
        assert!(began.elapsed() + LATE >= Duration::from_millis(2 * 99), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn nobody_waits_for_those_who_went_away() {
        let pace = pace(20);
        let began = Instant::now();
        let gone: Vec<_> = (0..1000).map(|n| waits(&pace, n)).collect();
        tokio::time::sleep(Duration::from_millis(50)).await;
        gone.iter().for_each(tokio::task::JoinHandle::abort);
        pace.keep(-1).await;
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn nobody_waits_for_all_that_another_one_asks() {
        let pace = pace(20);
        let began = Instant::now();
        let asked: Vec<_> = (0..1000).map(|_| waits(&pace, 1)).collect();
        tokio::time::sleep(Duration::from_millis(50)).await;
        pace.keep(2).await;
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        asked.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
