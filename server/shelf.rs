//! Bounded memory of answers, by what decides them: nothing expires, and what was used longest ago goes first.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

/// Answers of one kind that are kept, unless more are asked for.
const ENTRIES: usize = 500;
/// Their size together, about.
const BYTES: usize = 32 << 20;

/// About how much memory an answer takes.
pub trait Weigh {
    fn bytes(&self) -> usize;
}

/// Bounded memory of answers of one kind; the one that was used longest ago goes first.
pub struct Shelf<K, V> {
    slots: Mutex<Slots<K, V>>,
    most: usize,
}

struct Slots<K, V> {
    by_key: HashMap<K, Slot<V>>,
    uses: u64,
    /// Of all answers together.
    bytes: usize,
}

struct Slot<V> {
    answer: Arc<OnceCell<Arc<V>>>,
    last_use: u64,
    bytes: usize,
}

impl<K, V> Shelf<K, V> {
    /// With room for so many answers.
    pub fn of(most: usize) -> Self {
        Self { slots: Mutex::new(Slots { by_key: HashMap::new(), uses: 0, bytes: 0 }), most }
    }
}

impl<K: Eq + Hash + Clone, V: Weigh> Shelf<K, V> {
    /// The remembered answer, else what `ask` answers. Who asks the same meanwhile waits for that; an error
    /// is not remembered.
    pub async fn get(&self, key: K, ask: impl Future<Output = sqlx::Result<V>>) -> sqlx::Result<Arc<V>> {
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
        let slots = &mut *self.slots();
        if let Some(slot) = slots.by_key.get_mut(key) {
            // It may have gone meanwhile, and been asked for anew.
            slots.bytes -= std::mem::replace(&mut slot.bytes, bytes);
            slots.bytes += bytes;
        }
        while slots.bytes > BYTES || slots.by_key.len() > self.most {
            let oldest = slots.by_key.iter().min_by_key(|(_, slot)| slot.last_use);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            slots.bytes -= slots.by_key.remove(&oldest).map_or(0, |slot| slot.bytes);
        }
    }

    fn slots(&self) -> MutexGuard<'_, Slots<K, V>> {
        // Whoever panicked while holding it left at worst an answer that nobody finds.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self::of(ENTRIES)
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
