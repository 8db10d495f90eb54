//! From references to footprints: what the analytic cache model is to be told of a mix whose references are described.
//!
//! A process of each application runs alone, on a machine with these caches, for two quanta of computing to warm up, and for
//! another that is looked at (of a fair scheduler, as long as the standard UNIX quantum). That one is run again from where it
//! began, with other caches, as Torrellas 1995, §3.1.1, compares dispatch intervals "with and without flushing the caches":
//!
//! | before the interval | the misses beyond those of the warm interval are |
//! |---|---|
//! | nothing | steady: these are its own |
//! | its cpu's caches are emptied | a whole reload, and how it comes about in time |
//! | half as much fresh data as the cache has lines goes through them | what that displaces |
//! | it runs on another cpu for as long | of what it wrote there, now stale here |
//!
//! Each figure is a mean over the processes of the application in the scenario's runs, each with its memory where it is there;
//! of the first 32, if there are more.

use super::cache::alone::{Alone, Before};
use rayon::prelude::*;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::{Application, Bursts, Footprint, Lock, RunQueueMachine};
use warmcore_units::Fault;

/// The most processes that a figure is the mean of.
const MOST: usize = 32;
/// Quanta to warm up.
const WARM_UP: u32 = 2;
/// Points in an interval at which misses are counted.
const MARKS: usize = 200;

/// What a process of an application does to caches when it runs alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Derived {
    /// In computing without any cache.
    pub footprint: Footprint,
    /// Misses of fresh data that displace all but 1/e of what it reuses; infinite if it reuses nothing.
    pub displacing_misses: f64,
    /// Waiting for its own caches behind the nearest, as a part of its computing: the analytic model calls both computing.
    pub near: f64,
    /// What a miss costs, in nanoseconds; NaN if there are none.
    pub miss_ns: f64,
}

/// A mix for the analytic model, and where it comes from.
#[derive(Clone, PartialEq, Debug)]
pub struct Derivation {
    /// The mix with footprints in place of references.
    pub scenario: RunQueueScenario,
    /// Each application, in the scenario's order.
    pub applications: Vec<Derived>,
}

/// The mix of `scenario`, which sends references through caches, for the analytic model.
///
/// # Errors
/// If the scenario is impossible, or has no caches.
pub fn derive(scenario: &RunQueueScenario) -> Result<Derivation, Fault> {
    scenario.check()?;
    let absent = || Fault::new("machine.caches", "absent", "caches, and references of each application");
    let applications: Option<Vec<Derived>> = (0..scenario.applications.len())
        .into_par_iter()
        .map(|application| of_application(scenario, application))
        .collect();
    let applications = applications.ok_or_else(absent)?;
    let machine = RunQueueMachine {
        miss_ns: mean(&applications, |one| one.miss_ns),
        displacing_misses: mean(&applications, |one| one.displacing_misses),
        caches: None,
        ..scenario.machine.clone()
    };
    let pairs = scenario.applications.iter().zip(&applications);
    let scenario = RunQueueScenario {
        machine,
        applications: pairs.map(|(application, derived)| analytic(application, derived)).collect(),
        ..scenario.clone()
    };
    Ok(Derivation { scenario, applications })
}

/// The mean of a machine's quantity over the applications that know it, by how much they reuse.
fn mean(applications: &[Derived], of: impl Fn(&Derived) -> f64) -> f64 {
    let default = RunQueueMachine::default().displacing_misses;
    let known = applications.iter().filter(|one| of(one).is_finite());
    let weight = |one: &Derived| one.footprint.reload_misses.max(1.0);
    let (sum, weights) =
        known.fold((0.0, 0.0), |(sum, weights), one| (sum + weight(one) * of(one), weights + weight(one)));
    if weights > 0.0 { sum / weights } else { default }
}

/// `application` for the analytic model: times of computing hold its waiting for near caches.
fn analytic(application: &Application, derived: &Derived) -> Application {
    let longer = |ms: f64| ms * (1.0 + derived.near);
    let Footprint { reload_ms, steady_misses_per_ms, .. } = derived.footprint;
    let bursts = &application.bursts;
    Application {
        work_ms: application.work_ms.map(longer),
        serial_ms: longer(application.serial_ms),
        footprint: Footprint {
            reload_ms: longer(reload_ms),
            steady_misses_per_ms: steady_misses_per_ms / (1.0 + derived.near),
            ..derived.footprint
        },
        references: None,
        bursts: Bursts {
            edges_ms: bursts.edges_ms.iter().copied().map(longer).collect(),
            shares: bursts.shares.clone(),
            tail_ms: longer(bursts.tail_ms),
        },
        lock: Lock { retry_ms: longer(application.lock.retry_ms), ..application.lock },
        ..application.clone()
    }
}

/// Sums over processes.
#[derive(Default)]
struct Sums {
    processes: f64,
    computed_ms: f64,
    /// Misses until each mark, of warm and of emptied caches.
    warm: Vec<f64>,
    cold: Vec<f64>,
    displaced: f64,
    /// After a while elsewhere: as it ran there, as if it had not run, and with its cpu's caches emptied besides.
    elsewhere: [f64; 3],
    near_stall: f64,
    miss_stall: f64,
    misses: f64,
}

fn of_application(scenario: &RunQueueScenario, application: usize) -> Option<Derived> {
    let interval = scenario.scheduler.unix().quantum_ms * 1e6;
    let first: u32 = scenario.applications[..application].iter().map(|one| one.processes).sum();
    let processes = first..first + scenario.applications[application].processes;
    let all = (0..scenario.runs).flat_map(|run| processes.clone().map(move |process| (run, process)));
    let mut sums = Sums { warm: vec![0.0; MARKS], cold: vec![0.0; MARKS], ..Sums::default() };
    let mut fresh = 0;
    for (run, process) in all.take(MOST) {
        let mut process = Alone::new(scenario, application, process, run)?;
        fresh = process.lines() / 2;
        (0..WARM_UP).for_each(|_| process.go_on(interval));
        sums.add(&process, interval, fresh);
    }
    Some(sums.derived(interval, fresh))
}

impl Sums {
    /// Adds the interval that is before `process`.
    fn add(&mut self, process: &Alone, interval: f64, fresh: u64) {
        self.processes += 1.0;
        for (sum, before) in [(&mut self.warm, Before::Nothing), (&mut self.cold, Before::Emptied)] {
            let mut process = process.clone();
            process.prepare(before, interval);
            for total in sum.iter_mut() {
                process.go_on(interval / MARKS as f64);
                *total += process.did().misses as f64;
            }
            let did = process.did();
            self.miss_stall += did.miss_stall;
            self.misses += did.misses as f64;
            if before == Before::Nothing {
                self.near_stall += did.near_stall;
                self.computed_ms += did.computed / 1e6;
            }
        }
        let misses = |befores: &[Before]| {
            let mut process = process.clone();
            befores.iter().for_each(|&before| process.prepare(before, interval));
            process.go_on(interval);
            process.did().misses as f64
        };
        self.displaced += misses(&[Before::Fresh(fresh)]);
        let elsewhere =
            [&[Before::Elsewhere][..], &[Before::Nowhere], &[Before::Nowhere, Before::Emptied]].map(misses);
        self.elsewhere.iter_mut().zip(elsewhere).for_each(|(sum, one)| *sum += one);
    }

    /// The means.
    fn derived(&self, interval: f64, fresh: u64) -> Derived {
        let last = MARKS - 1;
        let reload = self.cold[last] - self.warm[last];
        let part = |misses: f64| if reload > 0.0 { (misses / reload).clamp(0.0, 1.0) } else { 0.0 };
        let loaded = |mark: usize| part(self.cold[mark] - self.warm[mark]);
        let mark = (0..last).find(|&mark| loaded(mark) >= 1.0 - (-1.0_f64).exp()).unwrap_or(last);
        let survives = 1.0 - part(self.displaced - self.warm[last]);
        let [there, nowhere, emptied] = self.elsewhere;
        let stale = (there - nowhere) / (emptied - nowhere);
        Derived {
            footprint: Footprint {
                reload_misses: reload.max(0.0) / self.processes,
                reload_ms: (mark + 1) as f64 * interval / MARKS as f64 / 1e6,
                steady_misses_per_ms: self.warm[last] / self.computed_ms,
                written: if stale.is_finite() { stale.clamp(0.0, 1.0) } else { 0.0 },
                invalidated_per_ms: 0.0,
            },
            displacing_misses: if reload > 0.0 { -(fresh as f64) / survives.ln() } else { f64::INFINITY },
            near: self.near_stall / (self.computed_ms * 1e6),
            miss_ns: self.miss_stall / self.misses,
        }
    }
}
