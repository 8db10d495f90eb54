//! All points on this machine: threads that take the next longest point until none is left.

use super::order::order;
use super::plan::{Plan, PointFailed};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
    stop: &AtomicBool,
) -> Result<(), RunError> {
    let points = order(plan, |index| set.knows(index), stop).ok_or(RunError::Interrupted)?;
    let all: f64 = points.iter().map(|(_, seconds)| seconds).sum();
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let shared: Mutex<(f64, Option<RunError>)> = Mutex::new((0.0, None));
    let locked = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let one = |index: u64| -> Result<(), RunError> {
        let row = plan.row(index, stop).map_err(|failed| match failed {
            PointFailed::Interrupted => RunError::Interrupted,
            failed => RunError::Point(failed),
        })?;
        Ok(set.add(index, row)?)
    };
    let work = || {
        while !has_failed.load(Ordering::Relaxed) {
            let Some(&(index, seconds)) = points.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            match one(index) {
                Ok(()) => {
                    let mut shared = locked();
                    shared.0 += seconds;
                    progress(shared.0 / all);
                }
                Err(error) => {
                    has_failed.store(true, Ordering::Relaxed);
                    locked().1.get_or_insert(error);
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
    shared.into_inner().unwrap_or_else(PoisonError::into_inner).1.map_or(Ok(()), Err)
}
