//! The kernel's counts of context switches and migrations of a thread, and its processor time. Another thread can
//! read them while the thread runs.

use crate::Probe;
use crate::tree::{Tree, field_of};
use core::iter::Sum;
use rustix::thread::gettid;
use warmcore_units::Nanos;

/// The number of a thread of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadNumber(i32);

/// Context switches and migrations of a thread since it started, or between two readings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SchedulerCounts {
    /// How often it gave up its cpu to wait for something.
    pub voluntary: u64,
    /// How often its cpu was taken away.
    pub involuntary: u64,
    /// How often it was moved to another cpu; `None` if the kernel does not count it.
    pub migrations: Option<u64>,
}

impl ThreadNumber {
    /// The number of the calling thread.
    #[must_use]
    pub fn current() -> Self {
        Self(gettid().as_raw_nonzero().get())
    }

    /// Reads the counts of the thread since it started; `None` once it has ended.
    #[must_use]
    pub fn scheduler_counts(self) -> Option<SchedulerCounts> {
        read(Probe::new().tree(), self.0)
    }

    /// Reads the processor time of the thread since it started; `None` once it has ended, or if the kernel does
    /// not tell (`CONFIG_SCHED_INFO`).
    #[must_use]
    pub fn cpu_time(self) -> Option<Nanos> {
        self.schedstat()?.first().copied()
    }

    /// The same, with the time in which it could run and its cpu ran something else.
    #[must_use]
    pub fn wanted_time(self) -> Option<Nanos> {
        match self.schedstat()?[..] {
            [ran, waited, ..] => Some(ran + waited),
            _ => None,
        }
    }

    /// The kernel's times of the thread: on a cpu, and waiting for one.
    fn schedstat(self) -> Option<Vec<Nanos>> {
        let text = Probe::new().tree().text(format!("proc/self/task/{}/schedstat", self.0))?;
        text.split_whitespace().take(2).map(|number| number.parse().ok().map(Nanos)).collect()
    }
}

fn read(tree: &Tree, number: i32) -> Option<SchedulerCounts> {
    let directory = format!("proc/self/task/{number}");
    let status = tree.text(format!("{directory}/status"))?;
    let switches = |key| field_of(&status, key)?.parse().ok();
    let moved = tree.field(format!("{directory}/sched"), "se.nr_migrations");
    Some(SchedulerCounts {
        voluntary: switches("voluntary_ctxt_switches")?,
        involuntary: switches("nonvoluntary_ctxt_switches")?,
        migrations: moved.and_then(|moved| moved.parse().ok()),
    })
}

impl SchedulerCounts {
    /// Returns the counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let moved = self.migrations.zip(earlier.migrations);
        Self {
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
            migrations: moved.map(|(now, before)| now.saturating_sub(before)),
        }
    }
}

impl Sum for SchedulerCounts {
    /// Adds the counts. The sum of migrations is known only if each of them is.
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self { migrations: Some(0), ..Self::default() }, |sum, one| Self {
            voluntary: sum.voluntary + one.voluntary,
            involuntary: sum.involuntary + one.involuntary,
            migrations: sum.migrations.zip(one.migrations).map(|(sum, one)| sum + one),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{affinity, fake, pin_to};
    use warmcore_units::CpuId;

    #[test]
    fn counts_are_read_from_status_and_sched() {
        let mut tree = fake::Tree::default();
        tree.put("proc/self/task/7/status", "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t3");
        let bare = read(&Tree::Fake(tree.clone()), 7).unwrap();
        assert_eq!(bare, SchedulerCounts { voluntary: 5, involuntary: 3, migrations: None });
        tree.put("proc/self/task/7/sched", "x (7, #threads: 1)\n-----\nse.nr_migrations    :    12");
        let whole = read(&Tree::Fake(tree.clone()), 7).unwrap();
        assert_eq!(whole.migrations, Some(12));
        assert_eq!(whole.since(&bare), SchedulerCounts { migrations: None, ..SchedulerCounts::default() });
        assert_eq!(read(&Tree::Fake(tree), 8), None);
    }

    #[test]
    fn another_thread_reads_the_time_that_this_one_used() {
        let thread = ThreadNumber::current();
        let begun = crate::cpu_time::of_this_thread();
        while crate::cpu_time::of_this_thread() - begun < Nanos(20e6) {
            core::hint::spin_loop();
        }
        let Some(read) = std::thread::spawn(move || thread.cpu_time()).join().unwrap() else {
            println!("skipped: this kernel does not tell");
            return;
        };
        // The kernel brings it up to date at its ticks.
        assert!(read >= Nanos(5e6) && read < crate::cpu_time::of_this_thread() + Nanos(1e6), "{read:?}");
    }

    #[test]
    fn a_thread_that_is_moved_has_migrated() {
        let thread = ThreadNumber::current();
        let before = thread.scheduler_counts().expect("this thread runs");
        let cpus: Vec<CpuId> = affinity::mask().unwrap().iter().collect();
        for &cpu in &cpus {
            drop(pin_to(cpu).unwrap());
        }
        let done = thread.scheduler_counts().unwrap().since(&before);
        match done.migrations {
            Some(moved) => assert!(moved + 1 >= cpus.len() as u64, "{done:?} over {cpus:?}"),
            None => println!("skipped: this kernel counts no migrations"),
        }
    }
}
