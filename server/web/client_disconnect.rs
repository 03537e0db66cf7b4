//! Requests whose client goes away before they are answered: what they hold learns of it while it is dropped.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    static IS_ABANDONED: Cell<bool> = const { Cell::new(false) };
}

/// Whether what is dropped now was of a request that nobody waits for any more.
pub(super) fn is_abandoned() -> bool {
    IS_ABANDONED.get()
}

/// The answer to a request, and what it holds until it is done.
pub(super) struct Answering<F>(Option<Pin<Box<F>>>);

impl<F> Answering<F> {
    pub fn new(answer: F) -> Self {
        Self(Some(Box::pin(answer)))
    }
}

impl<F: Future> Future for Answering<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(answer) = &mut self.0 else { return Poll::Pending };
        let done = answer.as_mut().poll(context);
        if done.is_ready() {
            self.0 = None;
        }
        done
    }
}

impl<F> Drop for Answering<F> {
    fn drop(&mut self) {
        if let Some(answer) = self.0.take() {
            let before = IS_ABANDONED.replace(true);
            drop(answer);
            IS_ABANDONED.set(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures_util::FutureExt as _;

    use super::*;

    struct Held(Arc<AtomicBool>);

    impl Drop for Held {
        fn drop(&mut self) {
            self.0.store(is_abandoned(), Ordering::Relaxed);
        }
    }

    #[test]
    fn what_a_request_holds_knows_whether_it_was_answered() {
        for is_answered in [true, false] {
            let described = Arc::new(AtomicBool::new(is_answered));
            let held = Held(Arc::clone(&described));
            let answer = Answering::new(async move {
                let _held = held;
                if !is_answered {
                    std::future::pending::<()>().await;
                }
            });
            assert_eq!(answer.now_or_never().is_some(), is_answered);
            assert_eq!(described.load(Ordering::Relaxed), !is_answered);
            assert!(!is_abandoned());
        }
    }
}
