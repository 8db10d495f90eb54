//! Ends a program together with the thread that started it, even if this process is killed and can undo nothing.
//!
//! The kernel sends the signal when the *thread* ends that started the program (`PR_SET_PDEATHSIG` of prctl(2)), so that
//! thread has to live for as long as the program may. It goes to the program alone: what the program has started itself
//! ends with the process group, which somebody has to kill. A program that changes its user is not sent it.
//!
//! `unsafe` here is the call between fork and exec.

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets what `command` starts be killed when the thread that starts it ends.
pub(crate) fn kill_with_this_thread(command: &mut Command) {
    let parent = getpid();
    // SAFETY: the closure runs in the child after the fork. It makes two system calls and touches neither the heap nor
    // a lock.
    unsafe { command.pre_exec(move || be_killed_with(parent)) };
}

fn be_killed_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // One that had ended before sends nothing.
    if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}
