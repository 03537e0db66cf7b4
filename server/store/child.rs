//! Processes that end with us.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{self, Signal};

/// Has the kernel send `signal` to the command when the thread that spawned it ends, even by `kill -9`. So spawn it
/// from a thread that lives as long as the work: the main one, or one of the runtime's.
///
/// Done here, not by util-linux's `setpriv`, because the standard library runs this after it changed the user (a
/// change of user would clear the wish), and because it holds without a program that a small image may lack.
#[expect(unsafe_code, reason = "what runs between fork and exec can only be said through pre_exec")]
pub(super) fn end_with_parent(command: &mut Command, signal: Signal) {
    let parent = process::getpid();
    let wish = move || {
        process::set_parent_process_death_signal(Some(signal))?;
        // The parent may have died before the wish was made; then nobody would ever send the signal.
        if process::getppid() == Some(parent) { Ok(()) } else { Err(ErrorKind::Interrupted.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. These are two system calls, made
    // without libc's state; nothing is allocated (an `ErrorKind` is stored in the error itself), nothing locked.
    unsafe { command.pre_exec(wish) };
}
