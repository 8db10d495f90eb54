//! What the scheduler does to a thread, as the kernel counts it, so that another thread can look at it
//! while it runs.

use crate::Probe;
use crate::tree::{Tree, field_of};
use core::iter::Sum;
use rustix::thread::gettid;

/// The number of a thread of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadNumber(i32);

/// What was done to a thread since it began, or between two looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SchedulerCounts {
    /// How often it gave its cpu up to wait for something.
    pub voluntary: u64,
    /// How often its cpu was taken away.
    pub involuntary: u64,
    /// How often it was moved to another cpu; `None` from a kernel that does not count it.
    pub migrations: Option<u64>,
}

impl ThreadNumber {
    /// The calling thread's.
    #[must_use]
    pub fn current() -> Self {
        Self(gettid().as_raw_nonzero().get())
    }

    /// What was done to that thread since it began; `None` once it has ended.
    #[must_use]
    pub fn scheduler_counts(self) -> Option<SchedulerCounts> {
        read(Probe::new().tree(), self.0)
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
    /// What was done between `earlier` and this.
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
    /// Migrations are known of all together if they are of each.
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
    fn counts_are_read_where_the_kernel_writes_them() {
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
