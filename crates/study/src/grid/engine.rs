//! All points on this machine: threads that take the next longest point until none is left.

use super::order::order;
use super::plan::{Plan, PointFailed};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use warmcore_record::DataSet;
use warmcore_record::dataset::DataSetError;

/// A sweep ended before its end. What was found is kept.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A point cannot be simulated.
    #[error(transparent)]
    Point(PointFailed),
    /// A row cannot be kept.
    #[error(transparent)]
    Keep(#[from] DataSetError),
    /// Threads cannot be made.
    #[error("cannot make threads: {0}")]
    Threads(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What a sweep took in this process.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Ran {
    /// How many points were simulated.
    pub points: u64,
    /// The seconds that all threads together spent in them.
    pub busy_s: f64,
}

/// Simulates every point of `plan` that `set` does not know, `jobs` at a time, and adds the rows to it; as many as there
/// are processors by default. `progress` is called with the part of the estimated work that is done, 0 to 1. No point is begun once `stop` is set.
///
/// # Errors
/// The first failure, after which no point is begun.
pub fn run(
    plan: &Plan,
    set: &DataSet,
    jobs: Option<u32>,
    progress: impl Fn(f64) + Sync,
    stop: &Arc<AtomicBool>,
) -> Result<Ran, RunError> {
    let points = order(plan, |index| set.knows(index), stop).ok_or(RunError::Interrupted)?;
    let all: f64 = points.iter().map(|(_, seconds)| seconds).sum();
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let shared = Mutex::new(Shared::default());
    let locked = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let one = |index: u64| -> Result<(), RunError> {
        let row = plan.row(index, stop).map_err(|failed| match failed {
            PointFailed::Interrupted => RunError::Interrupted,
            failed => RunError::Point(failed),
        })?;
        Ok(set.add(index, row)?)
    };
    let timed = |index: u64| {
        let began = Instant::now();
        one(index).map(|()| began.elapsed().as_secs_f64())
    };
    let work = || {
        while !has_failed.load(Ordering::Relaxed) {
            let Some(&(index, seconds)) = points.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            match timed(index) {
                Ok(took) => {
                    let mut shared = locked();
                    shared.ran.points += 1;
                    shared.ran.busy_s += took;
                    shared.done += seconds;
                    progress(shared.done / all);
                }
                Err(error) => {
                    has_failed.store(true, Ordering::Relaxed);
                    locked().failed.get_or_insert(error);
                }
            }
        }
    };
    let all_threads = || {
        rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work())));
    };
    match jobs {
        None => all_threads(),
        Some(jobs) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs as usize).build();
            pool.map_err(|error| RunError::Threads(error.to_string()))?.install(all_threads);
        }
    }
    let Shared { ran, failed, .. } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(ran), Err)
}

/// What threads have found together.
#[derive(Default)]
struct Shared {
    ran: Ran,
    /// The estimated seconds of the points that are done.
    done: f64,
    failed: Option<RunError>,
}
