//! Work that keeps a processor busy and lets pages go first.

use std::io;
use std::thread;

use tokio::sync::oneshot;

/// Added to the niceness of the thread, as `nice` does for a command that should disturb nobody.
const NICENESS: i32 = 10;

/// Does `work` on a thread of its own, and so on none of the runtime's pool: those go on to answer pages, and only
/// root can take niceness back. On Linux niceness is a thread's, and the threads that it starts inherit it.
pub(super) async fn at_low_priority<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (done, worked) = oneshot::channel();
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(move || {
        // Where that is not to be had, pages are slower meanwhile.
        let _ = rustix::process::nice(NICENESS);
        // Nobody waits where the import itself was given up.
        let _ = done.send(work());
    })?;
    worked.await.map_err(|_| io::Error::other(format!("{name} stopped; the server's log says why")))
}

#[cfg(test)]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[tokio::test]
    async fn it_and_what_it_starts_give_way_and_nobody_else() {
        let before = getpriority_process(None).unwrap();
        let niceness = move || getpriority_process(None).unwrap() - before;
        let child = move || thread::spawn(niceness).join().unwrap();
        let expected = (before + NICENESS).min(19) - before;
        assert_eq!(
            at_low_priority("reading", move || (niceness(), child())).await.unwrap(),
            (expected, expected)
        );
        assert_eq!(tokio::task::spawn_blocking(niceness).await.unwrap(), 0);
        assert_eq!(niceness(), 0);
    }

    #[tokio::test]
    async fn one_that_panics_is_an_error() {
        let error = at_low_priority("reading", || panic!("on purpose")).await.unwrap_err();
        assert_eq!(error.to_string(), "reading stopped; the server's log says why");
    }
}
