//! The applications as processes of the simulator, from Tables II to IV.

use super::open::{Open, whole};
use super::tables::{App, Characteristics, EDGES_MS};
use serde::{Deserialize, Serialize};
use warmcore_scenario::runqueue::{
    Application, Blocking, Bursts, Ends, Footprint, Jobs, Lock, RunQueueMachine, WakeSource,
};
use warmcore_sim::runqueue::cache::MissModel;

/// What the standard columns of Table V say of an application, beside Tables II to IV.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fitted {
    /// Steady misses per millisecond of computing.
    pub steady: f64,
    /// Computing of a process, in milliseconds; of a file for Pmake.
    pub work_ms: f64,
    /// Mean time that a process blocks, in milliseconds.
    pub blocked_ms: f64,
    /// How long the first process of a scientific application computes alone, in milliseconds.
    pub serial_ms: f64,
}

/// Percent of Table III that end by the quantum, beyond which bursts are taken to be exponential.
const QUANTUM_MS: f64 = 30.0;
/// How long scientific applications block, which they rarely do; the text says nothing of it.
const RARE_BLOCK_MS: f64 = 10.0;

impl Fitted {
    /// Where calibration begins: the steady misses that Table IV gives. A process that starts with a flushed cache misses
    /// `intervening` times in a slice of `slice_ms`, and all but `reload` of these are steady.
    #[must_use]
    pub fn from_table_iv(app: App, miss_ms: f64) -> Self {
        let Characteristics { reload, slice_ms, intervening, .. } = app.characteristics();
        // Mp3d's 18,000 and Oracle's 2,500 misses leave hardly any time to compute.
        let computing = (slice_ms - intervening * 1e3 * miss_ms).max(0.1 * slice_ms);
        let blocked_ms = match app {
            App::Pmake => 20.0,
            App::Oracle => 5.0,
            _ => RARE_BLOCK_MS,
        };
        let serial_ms = if matches!(app, App::Pmake | App::Oracle) { 0.0 } else { 200.0 };
        Self { steady: (intervening - reload) * 1e3 / computing, work_ms: 1000.0, blocked_ms, serial_ms }
    }
}

/// `app` as the simulator runs it.
#[must_use]
pub fn application(app: App, fitted: Fitted, open: &Open, machine: &RunQueueMachine) -> Application {
    let Characteristics { ends, processes, .. } = app.characteristics();
    let footprint = Footprint {
        reload_misses: reload_misses(app, fitted.steady, open, machine),
        reload_ms: open.reload_ms,
        steady_misses_per_ms: fitted.steady,
        written: open.written,
        invalidated_per_ms: if app == App::Cholesky { open.invalidated } else { 0.0 },
    };
    let jobs =
        (app == App::Pmake).then(|| Jobs { count: 24, stages: whole(open.stages), spread: open.spread });
    let wake = if app == App::Oracle { WakeSource::Process } else { WakeSource::Interrupt };
    Application {
        name: app.name().to_owned(),
        processes,
        background: false,
        work_ms: Some(fitted.work_ms),
        serial_ms: if open.serial > 0.5 { fitted.serial_ms } else { 0.0 },
        jobs,
        footprint,
        references: None,
        bursts: bursts(app, footprint, open, machine),
        ends: Ends { block: ends[1], yielding: ends[2], reschedule: ends[3] },
        blocking: Blocking { mean_ms: fitted.blocked_ms, spread: open.io_spread, wake },
        lock: Lock { held: open.lock_held, retry_ms: open.retry_ms },
        base: 0,
        attached: Vec::new(),
        recorded: None,
        threads: Vec::new(),
    }
}

/// The misses of a whole reload: as printed, or so many more that the printed value is the mean over the dispatch intervals of
/// Table II (§3.1.1).
fn reload_misses(app: App, steady: f64, open: &Open, machine: &RunQueueMachine) -> f64 {
    let Characteristics { intervals, reload, .. } = app.characteristics();
    let measured = reload * 1e3;
    if open.reload_is_mean < 0.5 {
        return measured;
    }
    let mut whole = measured;
    let listed: f64 = intervals.iter().sum();
    for _ in 0..8 {
        let footprint = Footprint {
            reload_misses: whole,
            reload_ms: open.reload_ms,
            steady_misses_per_ms: steady,
            ..Footprint::default()
        };
        let model = MissModel::new(footprint, machine.miss_ns);
        let bins = intervals.iter().zip(EDGES_MS.windows(2));
        let part = bins.map(|(percent, edges)| {
            let computing = model.computed((edges[0] + edges[1]) / 2.0 * 1e6, 1.0);
            percent / listed * (1.0 - model.absent_after(computing, 1.0))
        });
        whole = measured / part.sum::<f64>().max(0.2);
    }
    whole
}

/// The bursts of an application: Table II without the intervals that the quantum ends.
///
/// A dispatch interval begins with a burst, unless the one before ended by the quantum, and then goes on with what is left.
/// Bursts beyond a quantum are taken to be exponential, so that a part `q` of them, the share of Table III, outlasts every
/// further quantum too. What is known of all intervals, less those that go on, is the distribution of those that begin.
/// Durations become computing times by the cache model.
fn bursts(app: App, footprint: Footprint, open: &Open, machine: &RunQueueMachine) -> Bursts {
    let Characteristics { intervals, ends, .. } = app.characteristics();
    let outlasting = ends[0] / 100.0;
    let rate = -outlasting.ln() / QUANTUM_MS;
    let short = match app {
        App::Pmake => open.short_pmake,
        App::Oracle => open.short_oracle,
        _ => 0.0,
    };
    let listed: f64 = intervals.iter().sum();
    let mut all: Vec<f64> = intervals.iter().map(|percent| (1.0 - short) * percent / listed).collect();
    // The last bin holds the intervals that the quantum ended.
    if let Some(last) = all.last_mut() {
        *last = (*last - outlasting).max(0.0);
    }
    let shares = std::iter::once(short).chain(all);
    let edges = std::iter::once(0.0).chain(EDGES_MS);
    let edges: Vec<f64> = edges.collect();
    let fresh: Vec<f64> = shares
        .zip(edges.windows(2))
        .map(|(share, edge)| {
            let continued = (-rate * edge[0]).exp() - (-rate * edge[1]).exp();
            ((share - outlasting * continued) / (1.0 - outlasting)).max(0.0)
        })
        .collect();
    let ending: f64 = fresh.iter().sum();
    let shares: Vec<f64> = fresh.iter().map(|share| share / ending * (1.0 - outlasting)).collect();
    let model = MissModel::new(footprint, machine.miss_ns);
    let computing = |ms: f64| model.computed(ms * 1e6, open.absent) / 1e6;
    Bursts {
        edges_ms: edges.into_iter().map(computing).collect(),
        shares,
        tail_ms: computing(QUANTUM_MS + 1.0 / rate) - computing(QUANTUM_MS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_keeps_what_the_tables_say() {
        let (open, machine) = (Open::neutral(), RunQueueMachine::default());
        for app in App::ALL {
            let fitted = Fitted::from_table_iv(app, machine.miss_ns / 1e6);
            let made = application(app, fitted, &open, &machine);
            let beyond = made.bursts.beyond();
            let quantum = app.characteristics().ends[0] / 100.0;
            assert!((beyond - quantum).abs() < 1e-9, "{app:?}: {beyond}");
            assert!(made.bursts.edges_ms.windows(2).all(|pair| pair[0] < pair[1]), "{made:?}");
        }
    }
}
