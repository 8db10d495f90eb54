//! Names of our tracing instances: `warmcore-PID-START`, with the number of a process and the time when it started, in ticks
//! since boot, as a number is given to another process some time after its process has ended.

use crate::pid_stat;
use crate::tree::Tree;
use std::fs;
use std::path::{Path, PathBuf};

const PREFIX: &str = "warmcore-";

/// Names that are tried, as other PID namespaces may have processes of the same number and start.
const NAMES: u32 = 100;

/// Names for an instance of this process.
pub(super) fn of_this_process() -> impl Iterator<Item = String> {
    let process = std::process::id();
    let started = started(process).unwrap_or_default();
    let first = format!("{PREFIX}{process}-{started}");
    (1..=NAMES).map(move |number| if number == 1 { first.clone() } else { format!("{first}-{number}") })
}

/// The instances in the folder `instances` whose processes have ended. Those of other PID namespaces look so too, but one
/// that is read from cannot be removed.
pub(super) fn abandoned(instances: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(instances).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_str().is_some_and(is_abandoned)).map(|entry| entry.path())
}

fn is_abandoned(name: &str) -> bool {
    let Some(owner) = name.strip_prefix(PREFIX) else { return false };
    let mut numbers = owner.split('-').map(str::parse::<u64>);
    let Some(Ok(process)) = numbers.next() else { return false };
    let Ok(process) = u32::try_from(process) else { return false };
    match (started(process), numbers.next()) {
        (None, _) => true,
        (Some(started), Some(Ok(told))) => started != told,
        // Without a start: its process may have had the number before.
        (Some(_), _) => process == std::process::id(),
    }
}

/// When `process` started; `None` if there is none.
fn started(process: u32) -> Option<u64> {
    let tree = Tree::directory("/");
    pid_stat::stat(&tree, &format!("proc/{process}")).ok().flatten().map(|stat| stat.started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_belongs_to_the_process_that_started_then() {
        let own = std::process::id();
        let start = started(own).expect("this process runs");
        for (name, expected) in [
            (format!("warmcore-{own}-{start}"), false),
            (format!("warmcore-{own}-{start}-2"), false),
            // Another process had the number before.
            (format!("warmcore-{own}-{}", start - 1), true),
            (format!("warmcore-{own}"), true),
            ("warmcore-4194305-7".to_owned(), true),
            ("warmcore-4194305".to_owned(), true),
            ("warmcore-1".to_owned(), false),
            ("warmcore-mine".to_owned(), false),
            ("other-4194305-7".to_owned(), false),
        ] {
            assert_eq!(is_abandoned(&name), expected, "{name}");
        }
        let names: Vec<String> = of_this_process().take(2).collect();
        assert_eq!(names, [format!("warmcore-{own}-{start}"), format!("warmcore-{own}-{start}-2")]);
    }
}
