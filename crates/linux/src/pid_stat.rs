//! Parses `/proc/PID/stat` and `/proc/PID/task/TID/stat`, which describe a process or thread in one line.

use crate::probe::Malformed;
use crate::proc_stat::tick;
use crate::tree::Tree;
use warmcore_units::{CpuId, Nanos};

/// The contents of a stat file.
pub(crate) struct Stat {
    /// The number of the process or thread.
    pub(crate) number: u32,
    /// Its name.
    pub(crate) name: String,
    /// Whether it was running or waiting for a cpu.
    pub(crate) runnable: bool,
    /// Whether it is a kernel thread.
    pub(crate) kernel: bool,
    /// Its process group.
    pub(crate) group: u32,
    /// Its processor time.
    pub(crate) cpu_time: Nanos,
    /// The processor time of children it has waited for, and of their children.
    pub(crate) children_time: Nanos,
    /// When it started, in kernel ticks since boot.
    pub(crate) started: u64,
    /// The cpu it ran on last.
    pub(crate) last_cpu: CpuId,
}

/// Columns of `/proc/PID/stat` after the name, which is the second (`proc_pid_stat(5)`, where they
/// are counted from 1: the state is the third).
mod column {
    pub(super) const STATE: usize = 0;
    pub(super) const GROUP: usize = 2;
    pub(super) const FLAGS: usize = 6;
    pub(super) const USER_TIME: usize = 11;
    pub(super) const SYSTEM_TIME: usize = 12;
    pub(super) const CHILDREN_USER_TIME: usize = 13;
    pub(super) const CHILDREN_SYSTEM_TIME: usize = 14;
    pub(super) const STARTED: usize = 19;
    pub(super) const LAST_CPU: usize = 36;
    /// Columns that hold addresses.
    pub(super) const ADDRESSES: core::ops::Range<usize> = 23..28;
}

/// Reads the process or thread in `directory`; `None` if it has ended.
pub(crate) fn stat(tree: &Tree, directory: &str) -> Result<Option<Stat>, Malformed> {
    let file = format!("{directory}/stat");
    let Some(text) = tree.filtered(&file, without_addresses).filter(|text| !is_dead(text)) else {
        return Ok(None);
    };
    let stat = parse(&text);
    stat.map(Some).ok_or_else(|| tree.malformed(&file, &text, "the columns of proc_pid_stat(5)"))
}

/// Returns the processes in the process group `group`.
pub(crate) fn of_group(tree: &Tree, group: u32) -> Vec<u32> {
    let belongs = |&pid: &u32| {
        let stat = stat(tree, &format!("proc/{pid}")).ok().flatten();
        stat.is_some_and(|stat| stat.group == group)
    };
    tree.numbered("proc", "").into_iter().filter(belongs).collect()
}

/// Whether the process or thread ended while the file was read: the kernel then leaves out columns.
fn is_dead(text: &str) -> bool {
    let state = text.rsplit_once(')').and_then(|(_, columns)| columns.split_whitespace().next());
    matches!(state, Some("X" | "x"))
}

/// Keeps the columns up to the last cpu, with addresses replaced by zeros.
fn without_addresses(text: &str) -> String {
    let Some((name, columns)) = text.rsplit_once(')') else { return text.to_owned() };
    let blank = |(place, column)| if column::ADDRESSES.contains(&place) { "0" } else { column };
    let columns = columns.split_whitespace().take(column::LAST_CPU + 1).enumerate().map(blank);
    format!("{name}) {}", columns.collect::<Vec<_>>().join(" "))
}

fn parse(text: &str) -> Option<Stat> {
    const KERNEL_THREAD: u64 = 0x0020_0000; // PF_KTHREAD of the kernel's include/linux/sched.h
    let (front, columns) = text.rsplit_once(')')?;
    let (number, name) = front.split_once(" (")?;
    let columns: Vec<&str> = columns.split_whitespace().collect();
    let value = |column: usize| columns.get(column)?.parse::<u64>().ok();
    let time = |user: usize, system: usize| Some(tick() * value(user)?.checked_add(value(system)?)? as f64);
    Some(Stat {
        number: number.parse().ok()?,
        name: name.to_owned(),
        runnable: *columns.get(column::STATE)? == "R",
        kernel: value(column::FLAGS)? & KERNEL_THREAD != 0,
        group: u32::try_from(value(column::GROUP)?).ok()?,
        cpu_time: time(column::USER_TIME, column::SYSTEM_TIME)?,
        children_time: time(column::CHILDREN_USER_TIME, column::CHILDREN_SYSTEM_TIME)?,
        started: value(column::STARTED)?,
        last_cpu: CpuId(u32::try_from(value(column::LAST_CPU)?).ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "77 (a) (b c)) R 1 77 77 0 -1 4194304 5 0 0 0 30 20 7 3 20 0 1 0 400 1000 10 \
                        18446744073709551615 94000 94001 94002 94003 94004 0 0 0 0 0 0 0 17 5 0 0 0 0";

    #[test]
    fn a_process_that_ends_while_it_is_read_counts_as_ended() {
        let dying = "25067 (ip) X 0 -1 -1 0 -1 4227340 124 0 0 0 0 0 0 0 20 0 0 0";
        assert!(is_dead(dying) && parse(dying).is_none());
        assert!(!is_dead(LINE) && !is_dead("7 (X) S 1"));
    }

    #[test]
    fn a_name_may_contain_any_character_and_addresses_are_removed() {
        let kept = without_addresses(LINE);
        assert!(!kept.contains("9400"), "{kept}");
        assert_eq!(without_addresses(&kept), kept, "the filter is idempotent");
        let stat = parse(&kept).expect("a valid line");
        assert_eq!((stat.number, stat.name.as_str()), (77, "a) (b c)"));
        assert_eq!((stat.runnable, stat.kernel, stat.started), (true, false, 400));
        assert_eq!((stat.last_cpu, stat.group), (CpuId(5), 77));
        assert_eq!((stat.cpu_time, stat.children_time), (tick() * 50.0, tick() * 10.0));
    }
}
