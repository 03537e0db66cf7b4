//! A queue for each person, so that who asks for much waits for themselves and not everybody for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The queues of those who wait for one thing.
#[derive(Clone)]
pub struct Queues {
    at_once: usize,
    by_person: Arc<Mutex<HashMap<i64, Weak<Queue>>>>,
}

/// Lets a few requests of a person through at a time, in their order.
pub struct Queue {
    person: i64,
    all: Queues,
    slot: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Until it is dropped, one request less of its person is let through.
pub struct Slot {
    /// Given back before its queue, of which there is only one.
    _permit: Option<OwnedSemaphorePermit>,
    _queue: Arc<Queue>,
}

impl Queues {
    /// So many requests of a person are let through at once.
    pub fn of_each(at_once: usize) -> Self {
        Self { at_once, by_person: Arc::default() }
    }

    /// The queue of a person, for as long as anybody has it.
    pub fn of(&self, person: i64) -> Arc<Queue> {
        let mut queues = self.lock();
        if let Some(queue) = queues.get(&person).and_then(Weak::upgrade) {
            return queue;
        }
        let (slot, waiting) = (Arc::new(Semaphore::new(self.at_once)), AtomicUsize::new(0));
        let queue = Arc::new(Queue { person, all: self.clone(), slot, waiting });
        queues.insert(person, Arc::downgrade(&queue));
        queue
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Weak<Queue>>> {
        self.by_person.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Waits until it is let through; `None` where so many wait for that already.
    pub async fn enter(self: Arc<Self>, longest: usize) -> Option<Slot> {
        let waiting = Waiting::enter(&self.waiting, longest)?;
        // Never closed, so there is always one to wait for.
        let permit = Arc::clone(&self.slot).acquire_owned().await.ok();
        drop(waiting);
        Some(Slot { _permit: permit, _queue: self })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let mut queues = self.all.lock();
        // Unless the person has come back by now.
        if queues.get(&self.person).is_some_and(|it| it.strong_count() == 0) {
            queues.remove(&self.person);
        }
    }
}

/// A place among those who wait, until it is dropped.
pub struct Waiting<'q>(&'q AtomicUsize);

impl<'q> Waiting<'q> {
    /// `None` where so many wait already.
    pub fn enter(queue: &'q AtomicUsize, longest: usize) -> Option<Self> {
        if queue.fetch_add(1, Ordering::Relaxed) >= longest {
            queue.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self(queue))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn one_of_a_person_is_let_through_and_so_many_wait() {
        let queues = Queues::of_each(1);
        let first = queues.of(1).enter(1).await.unwrap();
        assert!(queues.of(2).enter(0).await.is_none(), "nobody may wait");
        let second = tokio::spawn(queues.of(1).enter(1));
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(!second.is_finished() && queues.of(1).enter(1).await.is_none());
        let other = queues.of(2).enter(1).await.unwrap();
        drop(first);
        drop((second.await.unwrap().unwrap(), other));
        assert_eq!(queues.len(), 0, "nothing is left behind");
    }
}
