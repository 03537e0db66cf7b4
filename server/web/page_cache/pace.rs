//! How fast pages are answered while a bill is loaded: their readers would take every core, and it would never end.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Answers a second and core: a fifth of what a core can, and more than people ask for.
const OF_A_CORE: u32 = 300;

/// Spaces answers evenly. Whoever asks less often than that never waits.
pub(super) struct Pace {
    between: Duration,
    next: Mutex<Option<Instant>>,
}

impl Default for Pace {
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get).try_into().unwrap_or(1);
        Self { between: Duration::from_secs(1) / (OF_A_CORE * cores), next: Mutex::default() }
    }
}

impl Pace {
    /// Waits for its place in the row.
    pub(super) async fn keep(&self) {
        sleep_until(self.place(Instant::now())).await;
    }

    fn place(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let place = next.map_or(now, |next| next.max(now));
        *next = Some(place + self.between);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_ask_at_once_are_answered_one_after_the_other() {
        let millis = Duration::from_millis;
        let pace = Pace { between: millis(2), next: Mutex::default() };
        let now = Instant::now();
        for n in 0..200 {
            assert_eq!(pace.place(now) - now, millis(2 * n));
        }
        assert_eq!(pace.place(now + millis(100)) - now, millis(400));
        // Nobody waits for those who are gone.
        let later = now + millis(1000);
        assert_eq!(pace.place(later), later);
    }
}
