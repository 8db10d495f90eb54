//! Processes that a user's program has left behind: what it has started, whose parents have ended.
//!
//! The kernel makes them children of the nearest ancestor that adopts orphans, however they have left their group and session.

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};
use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// How long the end of all is waited for.
const LONGEST: Duration = Duration::from_secs(1);

/// Lets this process adopt the orphans among its descendants, until it ends.
///
/// # Errors
/// If the kernel refuses.
pub fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Kills and reaps all children of this process, those adopted included, until there are none. For a process that is about to
/// end: it must need none of them any more.
pub fn end_all() {
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            // One that has just ended is a zombie until it is reaped here.
            let _ = kill_process(child, Signal::KILL);
        }
        while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        thread::sleep(Duration::from_millis(1));
    }
}

/// The children of all threads.
fn children() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let of = |list: String| {
        let numbers = list.split_whitespace().filter_map(|number| number.parse().ok());
        numbers.filter_map(Pid::from_raw).collect::<Vec<_>>()
    };
    lists.flat_map(of).collect()
}
