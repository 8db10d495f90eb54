//! Identifies processes by number and start time, because numbers are reused.

use super::locate_error::LocateError;
use super::system::{System, is_absent};
use warmcore_units::Fault;

/// Checks that process `pid` exists and was started at `started`.
pub(crate) fn require(system: &dyn System, pid: u32, started: u64, name: &str) -> Result<(), LocateError> {
    let file = format!("proc/{pid}/stat");
    let text = match system.read(&file) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => {
            let expected = format!("the number of a running process: {name} has ended");
            return Err(Fault::new("pid", pid, expected).into());
        }
        Err(source) => return Err(LocateError::Unreadable { file, source }),
    };
    match identity(&text) {
        Some((now, _)) if now == started => Ok(()),
        Some((now, other)) => {
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

/// Parses the start time (in kernel ticks since boot) and the name from `4242 (a name) S 1 …`. A name may
/// contain any character, including parentheses.
fn identity(stat: &str) -> Option<(u64, &str)> {
    const STARTED: usize = 19;
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
    Some((rest.split_whitespace().nth(STARTED)?.parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_found_after_any_name() {
        let fields = "S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8311 99";
        for name in ["server", "a (b) c", ") S 1 (x"] {
            assert_eq!(identity(&format!("42 ({name}) {fields}\n")), Some((8311, name)));
        }
        assert_eq!(identity("42 server S 1"), None);
    }
}
