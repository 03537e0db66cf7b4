//! Work that nobody may wait for any more: it asks now and then, and unwinds where that is so.
//!
//! Pure functions that take long call [`check`] in their loops. It costs a look at a thread's own variable where nobody can
//! stop them, as in tests and at the command line.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says that some work is to end. Clones are of the same work.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// What work unwinds with that was stopped.
#[derive(Debug)]
pub struct Stopped;

thread_local! {
    static CURRENT: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

impl Stop {
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Does work on this thread, in which [`check`] looks here.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = Before(CURRENT.replace(Some(self.clone())));
        work()
    }
}

/// Puts back what was watched before, however the work ends.
struct Before(Option<Stop>);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Goes on where somebody waits.
///
/// # Panics
/// Unwinds with [`Stopped`], silently, where the work that this thread does was stopped. Only who began it catches that.
pub fn check() {
    let is_stopped = CURRENT.with_borrow(|it| it.as_ref().is_some_and(|it| it.0.load(Ordering::Relaxed)));
    if is_stopped {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn work_that_was_stopped_unwinds_and_other_work_goes_on() {
        check();
        let (stop, other) = (Stop::default(), Stop::default());
        let mut rounds = 0;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            stop.watch(|| {
                for round in 0.. {
                    check();
                    rounds = round;
                    if round == 3 {
                        stop.stop();
                    }
                }
            });
        }));
        assert!(ended.unwrap_err().is::<Stopped>());
        assert_eq!(rounds, 3);
        // Nothing is watched any more, and what was stopped was this work alone.
        check();
        assert_eq!(
            other.watch(|| {
                check();
                7
            }),
            7
        );
    }
}
