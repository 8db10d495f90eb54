//! The constants of this machine's scheduler, as far as the kernel tells them.

use crate::detached;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::time::{ClockId, clock_getres};
use std::fs;
use std::path::{Path, PathBuf};
use warmcore_units::Nanos;

/// What the kernel tells of its scheduler. Debugfs, where most of it is, is for root, and may be locked.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct KernelScheduler {
    /// Between two timer interrupts.
    pub tick: Option<Nanos>,
    /// `base_slice_ns`.
    pub slice: Option<Nanos>,
    /// `migration_cost_ns`.
    pub migration_cost: Option<Nanos>,
    /// `RUN_TO_PARITY` of the scheduler's features.
    pub run_to_parity: Option<bool>,
    /// `WAKEUP_PREEMPTION`.
    pub wakeup_preemption: Option<bool>,
    /// `DELAY_DEQUEUE`.
    pub delay_dequeue: Option<bool>,
}

impl KernelScheduler {
    /// Reads it.
    #[must_use]
    pub fn read() -> Self {
        let tick = clock_getres(ClockId::MonotonicCoarse);
        #[expect(clippy::cast_precision_loss, reason = "a few milliseconds")]
        let tick = Nanos(tick.tv_sec as f64 * 1e9 + tick.tv_nsec as f64);
        let tick = (tick.0 > 0.0).then_some(tick);
        let (folder, _mount) = debugfs();
        Self { tick, ..Self::of_folder(&folder.join("sched")) }
    }

    fn of_folder(folder: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let time = |name: &str| text(name)?.trim().parse().ok().map(Nanos);
        let features = text("features").unwrap_or_default();
        let feature = |name: &str| {
            features.split_ascii_whitespace().find_map(|word| match word.strip_prefix("NO_") {
                Some(word) if word == name => Some(false),
                None if word == name => Some(true),
                _ => None,
            })
        };
        Self {
            tick: None,
            slice: time("base_slice_ns").or_else(|| slice_of(&text("debug")?)),
            migration_cost: time("migration_cost_ns"),
            run_to_parity: feature("RUN_TO_PARITY"),
            wakeup_preemption: feature("WAKEUP_PREEMPTION"),
            delay_dequeue: feature("DELAY_DEQUEUE"),
        }
    }
}

/// `  .sysctl_sched_base_slice                 : 1.400000`, in milliseconds: of a file that stays readable when others are not.
fn slice_of(debug: &str) -> Option<Nanos> {
    let line = debug.lines().find(|line| line.contains("sysctl_sched_base_slice"))?;
    let ms: f64 = line.split(':').nth(1)?.trim().parse().ok()?;
    Some(Nanos(ms * 1e6))
}

/// Where debugfs is: mounted, or mounted where only this process sees it.
fn debugfs() -> (PathBuf, Option<OwnedFd>) {
    let usual = PathBuf::from("/sys/kernel/debug");
    if usual.join("sched").is_dir() {
        return (usual, None);
    }
    match detached::mount("debugfs") {
        Ok(mount) => (PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())), Some(mount)),
        Err(_) => (usual, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_where_the_kernel_tells_them() {
        let folder = std::env::temp_dir().join(format!("warmcore-sched-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a file");
        write("debug", "sysctl_sched\n  .sysctl_sched_base_slice      : 1.400000\n");
        write("features", "PLACE_LAG RUN_TO_PARITY NO_DELAY_DEQUEUE\n");
        let found = KernelScheduler::of_folder(&folder);
        assert_eq!(found.slice, Some(Nanos(1.4e6)));
        assert_eq!((found.run_to_parity, found.delay_dequeue), (Some(true), Some(false)));
        assert_eq!((found.wakeup_preemption, found.migration_cost), (None, None));
        write("base_slice_ns", "2800000\n");
        assert_eq!(KernelScheduler::of_folder(&folder).slice, Some(Nanos(2.8e6)));
        fs::remove_dir_all(&folder).expect("it goes");
    }

    #[test]
    fn a_tick_is_between_a_tenth_and_ten_milliseconds() {
        let tick = KernelScheduler::read().tick.expect("a coarse clock");
        assert!((1e5..=1e7).contains(&tick.0), "{tick}");
    }
}
