//! Identifies processes by number and start time, because numbers are reused.

use super::locate_error::LocateError;
use super::system::{System, is_absent};
use crate::inventory::{UPTIME, UPTIME_EXPECTED, uptime_seconds};
use crate::tree::Malformed;
use warmcore_units::Fault;

/// Checks that process `pid` exists and was started at `started`.
pub(crate) fn require(system: &dyn System, pid: u32, started: u64, name: &str) -> Result<(), LocateError> {
    let file = format!("proc/{pid}/stat");
    let text = match system.read(&file) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => {
            let expected = format!("the number of a running process: {} has ended", name.escape_debug());
            return Err(Fault::new("pid", pid, expected).into());
        }
        Err(source) => return Err(LocateError::Unreadable { file, source }),
    };
    match Identity::parse(&text) {
        Some(Identity { started: now, .. }) if now == started => Ok(()),
        Some(Identity { started: now, name: other, .. }) => {
            let expected = format!(
                "{now}, the start of process {pid}: that is now a different process, `{}`",
                other.escape_debug()
            );
            Err(Fault::new("started", started, expected).into())
        }
        None => {
            let expected = format!("the number of a process, but `{file}` is malformed");
            Err(Fault::new("pid", pid, expected).into())
        }
    }
}

/// Lists the threads of a process by number, its main thread first.
pub(crate) fn threads(system: &dyn System, pid: u32) -> Result<Vec<u32>, LocateError> {
    let directory = format!("proc/{pid}/task");
    match system.entries(&directory) {
        Ok(entries) => {
            let mut threads: Vec<u32> = entries.iter().filter_map(|entry| entry.parse().ok()).collect();
            threads.sort_unstable_by_key(|&thread| (thread != pid, thread));
            Ok(threads)
        }
        Err(error) if is_absent(&error) => {
            Err(Fault::new("pid", pid, "the number of a running process").into())
        }
        Err(source) => Err(LocateError::Unreadable { file: directory, source }),
    }
}

/// What the kernel says of a process or thread in `/proc/PID/stat` and `/proc/PID/task/TID/stat`.
pub(super) struct Identity {
    /// Its name.
    pub(super) name: String,
    /// The process that started it, or that has taken the place of that one.
    pub(super) parent: u32,
    /// Its session.
    pub(super) session: u32,
    /// Whether it belongs to the kernel.
    pub(super) is_kernel: bool,
    /// When it started, in kernel ticks since boot.
    pub(super) started: u64,
}

impl Identity {
    /// Parses `4242 (a name) S 1 …`. A name may contain any character, including parentheses.
    pub(super) fn parse(stat: &str) -> Option<Self> {
        const KERNEL_THREAD: u64 = 0x0020_0000; // PF_KTHREAD of the kernel's include/linux/sched.h
        let (name, columns) = stat.split_once('(')?.1.rsplit_once(") ")?;
        let columns: Vec<&str> = columns.split_whitespace().collect();
        let number = |column: usize| columns.get(column)?.parse::<u32>().ok();
        Some(Self {
            name: name.to_owned(),
            parent: number(1)?,
            session: number(3)?,
            is_kernel: columns.get(6)?.parse::<u64>().ok()? & KERNEL_THREAD != 0,
            started: columns.get(19)?.parse().ok()?,
        })
    }
}

/// The time since boot in kernel ticks, as start times are given; `None` if the kernel does not say.
pub(super) fn uptime(system: &dyn System) -> Result<Option<u64>, Malformed> {
    let text = system.read(UPTIME).unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(None);
    }
    let seconds = uptime_seconds(&text);
    let seconds =
        seconds.ok_or_else(|| Malformed::new(system.root().join(UPTIME), &text, UPTIME_EXPECTED))?;
    Ok(Some((seconds * rustix::param::clock_ticks_per_second() as f64).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_found_after_any_name() {
        let fields = "S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8311 99";
        for name in ["server", "a (b) c", ") S 1 (x"] {
            let found = Identity::parse(&format!("42 ({name}) {fields}\n")).unwrap();
            assert_eq!((found.started, found.name.as_str(), found.parent), (8311, name, 1));
            assert!(!found.is_kernel);
        }
        assert!(Identity::parse("42 server S 1").is_none());
    }
}
