//! Simulates many points in parallel.

use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a sweep ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SweepError<E> {
    /// A point failed.
    #[error("{0}")]
    Point(E),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Runs `simulate` on each of `points` in parallel and returns the results in the order of the points.
///
/// Each result is passed to `finished` as soon as it exists, so that it can be saved. A point whose result is
/// `known` from an earlier run is not simulated again. Once `stop` is set no further point is begun, and a point that
/// gives up then has not failed.
///
/// # Errors
/// The first point's error, or that `stop` was set.
pub fn sweep<P: Sync, R: Send, E: Send>(
    points: &[P],
    known: impl Fn(&P) -> Option<R> + Sync,
    simulate: impl Fn(&P) -> Result<R, E> + Sync,
    finished: impl Fn(&P, &R) -> Result<(), E> + Sync,
    stop: &AtomicBool,
) -> Result<Vec<R>, SweepError<E>> {
    let results = points.par_iter().map(|point| {
        if let Some(known) = known(point) {
            return Ok(known);
        }
        if stop.load(Ordering::Relaxed) {
            return Err(SweepError::Interrupted);
        }
        let result = simulate(point).map_err(|error| match stop.load(Ordering::Relaxed) {
            true => SweepError::Interrupted,
            false => SweepError::Point(error),
        })?;
        finished(point, &result).map_err(SweepError::Point)?;
        Ok(result)
    });
    results.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn squares(
        known: impl Fn(&u32) -> Option<u32> + Sync,
        simulated: &Mutex<Vec<u32>>,
        stop: &AtomicBool,
    ) -> Result<Vec<u32>, SweepError<()>> {
        let finished = |point: &u32, _: &u32| {
            simulated.lock().unwrap().push(*point);
            Ok(())
        };
        sweep(&[1, 2, 3, 4], known, |point| Ok(point * point), finished, stop)
    }

    #[test]
    fn known_points_are_not_simulated_again_and_the_order_is_kept() {
        let simulated = Mutex::new(Vec::new());
        let known = |&point: &u32| (point < 3).then_some(point * point);
        assert_eq!(squares(known, &simulated, &AtomicBool::new(false)), Ok(vec![1, 4, 9, 16]));
        let mut simulated = simulated.into_inner().unwrap();
        simulated.sort_unstable();
        assert_eq!(simulated, [3, 4]);
    }

    #[test]
    fn a_stop_is_obeyed() {
        let simulated = Mutex::new(Vec::new());
        let result = squares(|_| None, &simulated, &AtomicBool::new(true));
        assert_eq!(result, Err(SweepError::Interrupted));
        assert!(simulated.into_inner().unwrap().is_empty());
    }

    #[test]
    fn a_point_that_gives_up_once_it_shall_stop_has_not_failed() {
        let stop = AtomicBool::new(false);
        let gives_up = |stops: bool| {
            stop.store(false, Ordering::Relaxed);
            let simulate = |_: &u32| {
                stop.store(stops, Ordering::Relaxed);
                Err::<u32, &str>("gave up")
            };
            sweep(&[1], |_| None, simulate, |_, _| Ok(()), &stop)
        };
        assert_eq!(gives_up(true), Err(SweepError::Interrupted));
        assert_eq!(gives_up(false), Err(SweepError::Point("gave up")));
    }
}
