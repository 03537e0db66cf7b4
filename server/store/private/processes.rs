//! PostgreSQL processes that work in a directory although nobody looks after them any more.
//!
//! The pid in `postmaster.pid` proves nothing: the process may be gone, a zombie, or the number another program's by
//! now. But every live process of a PostgreSQL has its data directory as working directory, so that is what counts.

use super::TICK;
use super::error::{Error, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long an orphan may take for a fast shutdown before it is ended at once.
const POLITE: Duration = Duration::from_mins(1);
/// How long it may take after that.
const FIRM: Duration = Duration::from_secs(30);
/// How often an orphan is signalled again: it may not have listened yet the first time.
const REMINDER: Duration = Duration::from_secs(1);

/// Ends every PostgreSQL process that works in `data` and waits until none is left.
///
/// Only for the holder of the supervisor's lock: whoever is found is an orphan then.
pub fn evict(data: &Path) -> Result<()> {
    let began = Instant::now();
    let mut next_word = began;
    loop {
        let processes = find(data);
        let Some(first) = processes.first() else { return Ok(()) };
        if began.elapsed() > POLITE + FIRM {
            return Err(Error::Stubborn { pid: first.as_raw_nonzero().get(), data: data.to_owned() });
        }
        if Instant::now() >= next_word {
            signal(data, &processes, began.elapsed() < POLITE);
            next_word += REMINDER;
        }
        sleep(TICK);
    }
}

/// A postmaster ends its children itself. Children without one serve nobody: they end as after a crash, which is
/// what their postmaster would have had them do.
fn signal(data: &Path, processes: &[Pid], politely: bool) {
    let postmaster = postmaster_pid(data).filter(|pid| processes.contains(pid));
    let (described, signal) = match &postmaster {
        Some(postmaster) if politely => (std::slice::from_ref(postmaster), Signal::INT),
        Some(postmaster) => (std::slice::from_ref(postmaster), Signal::QUIT),
        None => (processes, Signal::QUIT),
    };
    for pid in described {
        // It may have ended just now, which is what is wanted.
        let _ = kill_process(*pid, signal);
    }
}

/// The live PostgreSQL processes that work in `data`. A zombie has no working directory, so it is none of them.
fn find(data: &Path) -> Vec<Pid> {
    let Some(data) = identity(data) else { return Vec::new() };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| {
            fs::read_to_string(process.path().join("comm")).is_ok_and(|name| name == "postgres\n")
        })
        .filter(|process| identity(&process.path().join("cwd")) == Some(data))
        .filter_map(|process| parse_pid(process.file_name().to_str()?))
        .collect()
}

/// What a directory is, by whatever path; `None` when it is not there.
fn identity(directory: &Path) -> Option<(u64, u64)> {
    fs::metadata(directory).ok().map(|directory| (directory.dev(), directory.ino()))
}

/// The pid that `postmaster.pid` names. Single-user PostgreSQL, as initdb runs it, writes a negative one: not a
/// postmaster.
fn postmaster_pid(data: &Path) -> Option<Pid> {
    let file = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    parse_pid(file.lines().next()?)
}

fn parse_pid(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|pid| *pid > 0).and_then(Pid::from_raw)
}
