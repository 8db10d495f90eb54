//! What the text says of the standard scheduler, as our runs have it, and how far a figure may be off. The claims about these
//! figures and the choice of the open parameters use the same.

use super::predictions::{Policy, Predictions};
use super::tables::{App, EDGES_MS, Workload};
use warmcore_sim::runqueue::{ApplicationTally, Durations, Tally};
use warmcore_units::Estimate;

/// Tolerance of the percentages of Tables II and III, in points.
pub(super) const SHARE: f64 = 5.0;
/// Tolerance of the median slices of Table IV, in milliseconds.
pub(super) const SLICE_MS: f64 = 3.0;
/// Tolerance of the misses as intervening application in Table IV, as a fraction.
pub(super) const INTERVENING: f64 = 0.2;
/// Tolerance of times and misses in Table V, as a fraction.
pub(super) const RELATIVE: f64 = 0.03;
/// Tolerance of idle time in Table V, in points.
pub(super) const IDLE: f64 = 2.0;
/// The percentage of slices of several dispatch intervals that still counts as rare.
pub(super) const RARE: f64 = 10.0;
/// The percentage of the time that misses take (§5.1).
pub(super) const MISS_TIME: [(Workload, f64); 3] =
    [(Workload::MatrixMatrix, 20.0), (Workload::MatrixCholesky, 20.0), (Workload::Oracle, 60.0)];

/// The workload in which an application is compared with Tables II to IV: one of its own kind.
const fn typical(app: App) -> (Workload, usize) {
    match app {
        App::Matrix => (Workload::MatrixMatrix, 0),
        App::Cholesky => (Workload::MatrixCholesky, 1),
        App::Mp3d => (Workload::MatrixMp3d, 1),
        App::Pmake => (Workload::PmakePmake, 0),
        App::Oracle => (Workload::Oracle, 0),
    }
}

/// A figure of an application in the standard scheduler.
pub(super) fn of_application(
    predictions: &Predictions,
    app: App,
    of: impl Fn(&ApplicationTally) -> f64,
) -> Option<Estimate<f64>> {
    let (workload, place) = typical(app);
    predictions.estimate(workload, Policy::Standard, |run| of(&run.applications[place]))
}

/// Percent of dispatch intervals of at least 1 ms in each bin of Table II.
pub(super) fn share_of_bin(durations: &Durations, bin: usize) -> f64 {
    let all = durations.between(1.0, f64::INFINITY) as f64;
    // An interval of a whole quantum belongs to the last bin.
    let to = if bin == 6 { f64::INFINITY } else { EDGES_MS[bin + 1] };
    100.0 * durations.between(EDGES_MS[bin], to) as f64 / all
}

/// Percent of the ends of Table III: quantum, semaphore, synchronisation, others.
pub(super) fn share_of_end(application: &ApplicationTally, cause: usize) -> f64 {
    let ended = application.ended;
    let counts = [ended.quantum, ended.blocked, ended.yielded, ended.rescheduled];
    100.0 * counts[cause] as f64 / counts.iter().sum::<u64>() as f64
}

/// Thousands of misses in an average effective slice that begins with flushed caches (Table IV): the steady ones of our slices, and
/// the reload that the same table gives.
pub(super) fn misses_as_intervening(app: App, application: &ApplicationTally) -> f64 {
    let slices = application.slices.between(1.0, f64::INFINITY) as f64;
    (application.misses - application.reload_misses) / slices / 1e3 + app.characteristics().reload
}

/// Percent of effective slices of at least 1 ms that last 40 ms or more, and so hold several dispatch intervals.
pub(super) fn long_slices(run: &Tally) -> f64 {
    let count = |from: f64| -> f64 {
        run.applications.iter().map(|one| one.slices.between(from, f64::INFINITY) as f64).sum()
    };
    100.0 * count(40.0) / count(1.0)
}

/// Percent of the processors' busy time that misses take under the standard scheduler.
pub(super) fn miss_time(predictions: &Predictions, workload: Workload) -> f64 {
    let share = predictions.estimate(workload, Policy::Standard, |run| {
        let [busy, computing] = run
            .applications
            .iter()
            .fold([0.0, 0.0], |[busy, computing], one| [busy + one.cpu_s, computing + one.compute_s]);
        100.0 * (1.0 - computing / busy)
    });
    share.map_or(f64::INFINITY, |share| share.mean)
}
