//! Plans under schedules that shuttle draws, by `scripts/check-schedules`. `WARMCORE_SCHEDULES` says how many
//! of each kind, `WARMCORE_SCHEDULE_SECONDS` for how long at most, and `WARMCORE_SCHEDULE` which one again:
//! the file that a failure leaves.

use super::plan::{Plan, Size};
use super::run;
use crate::sync::let_naps_end;
use core::str::FromStr;
use core::time::Duration;
use shuttle::rand::RngCore;
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::fs::DirEntry;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

/// Schedules of each kind that are drawn, if nothing is said.
const SCHEDULES: usize = 20_000;
/// Schedules after which the clock is looked at.
const SOME: usize = 2_000;
/// What has not ended after so many steps does not end.
const STEPS: usize = 500_000;
/// Of each thread, in bytes: a dispatcher that is built, and a panic within a future, need more than shuttle gives.
const STACK: usize = 256 * 1024;
/// The most that is drawn of everything: few of each, so that all of them meet.
const SIZE: Size = Size {
    workers: 1..=3,
    producers: 1..=2,
    events: 1..=7,
    keys: 1..=3,
    capacity: 2..=4,
    strands: 1..=4,
    panics: 0.4,
    interludes: true,
};

/// At each step, any thread may be next.
#[test]
fn schedules_drawn_step_by_step() {
    explore(RandomScheduler::new);
}

/// Threads have priorities, which change a few times (Burckhardt, Kothari, Musuvathi & Nagarakatte, ASPLOS
/// 2010): what goes wrong if few things come in a rare order is found sooner.
#[test]
fn schedules_with_few_changes() {
    explore(|schedules| PctScheduler::new(4, schedules));
}

fn explore<S: Scheduler + 'static>(scheduler: impl Fn(usize) -> S) {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(STEPS);
    config.stack_size = STACK;
    config.silence_warnings = true;
    config.ungraceful_shutdown_config.immediately_return_on_panic = true;
    if let Ok(file) = std::env::var("WARMCORE_SCHEDULE") {
        let scheduler = ReplayScheduler::new_from_file(&file).expect("a file that can be read");
        Runner::new(scheduler, config).run(|| execute(|plan| println!("{plan:#?}")));
        return;
    }
    // The times of files are coarse.
    let failed = Failed { folder: folder(), since: SystemTime::now() - Duration::from_secs(1) };
    config.failure_persistence = FailurePersistence::File(Some(failed.folder.clone()));
    let schedules = given("WARMCORE_SCHEDULES").unwrap_or(SCHEDULES);
    let longest = given("WARMCORE_SCHEDULE_SECONDS").map_or(Duration::MAX, Duration::from_secs);
    let (begun, mut drawn) = (Instant::now(), 0);
    while drawn < schedules && begun.elapsed() < longest {
        let some = (schedules - drawn).min(SOME);
        drawn += Runner::new(scheduler(some), config.clone()).run(|| execute(|_| {}));
    }
    println!("{drawn} schedules");
    assert!(drawn > 0, "expected some time, and some schedules");
}

/// Where schedules are left that fail: beside this program.
fn folder() -> PathBuf {
    let program = std::env::current_exe().expect("it runs");
    program.parent().expect("it is in a folder").to_owned()
}

/// Prints how the schedules are repeated that have failed since.
struct Failed {
    folder: PathBuf,
    since: SystemTime,
}

impl Failed {
    fn is_new(&self, file: &DirEntry) -> bool {
        let is_schedule = file.file_name().to_string_lossy().starts_with("schedule");
        let changed = file.metadata().and_then(|about| about.modified());
        is_schedule && changed.is_ok_and(|changed| changed >= self.since)
    }
}

impl Drop for Failed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
            for file in files.filter(|file| self.is_new(file)) {
                eprintln!("again: WARMCORE_SCHEDULE={} scripts/check-schedules", file.path().display());
            }
        }
    }
}

fn given<T: FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name}=`{value}`; expected a number")))
}

fn execute(look: impl Fn(&Plan)) {
    let plan = Plan::draw(shuttle::rand::thread_rng().next_u64(), &SIZE);
    look(&plan);
    // Nobody's progress depends on the end of a nap, as no handler waits for another.
    let_naps_end(false);
    run(plan);
}
