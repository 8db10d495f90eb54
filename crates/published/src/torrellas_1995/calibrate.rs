//! Calibration on the *Standard scheduling* columns of Table V, and on nothing else of it.
//!
//! | from | follows |
//! |---|---|
//! | Matrix + Matrix: time, misses, idle | work of Matrix; how many misses displace a process's state; how long its processes block, or its first one computes alone |
//! | Matrix + Cholesky, Matrix + Mp3d: time, misses, idle | work and steady misses of Cholesky, of Mp3d; the same of their idle time |
//! | Pmake + Pmake, Oracle: time, misses, idle | work, steady misses and time blocked of Pmake, of Oracle |
//! | Pmake + Matrix, Pmake + Cholesky: time | work of Matrix and Cholesky there; misses and idle are not used |
//!
//! The work of Matrix beside Pmake cannot be that beside another Matrix: the text does not say how large the applications of
//! each workload are. The mean completion time alone does not say either: the make may end first or last. Both are fitted, and
//! the one whose time, misses and idle time are nearest to the standard columns is taken.

use super::models::{Fitted, application};
use super::open::Open;
use super::parts::{Part, PredictionError, Steps};
use super::standard;
use super::tables::{App, Workload};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::{RunQueueMachine, UnixScheduler};
use warmcore_sim::runqueue::{ApplicationTally, Outcome, Tally};

/// Where the first fit begins: the lines of the second-level cache.
const LINES: f64 = 16_384.0;
/// How much larger a scientific application beside a make may be than beside another one, where its second fit begins.
const LARGER: f64 = 3.0;

/// How precisely a calibration is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FitPrecision {
    /// Runs of each step, the same processes in each.
    pub runs: u32,
    /// Steps of a fit that begins anew.
    pub steps: usize,
    /// Steps of one that begins at another calibration.
    pub further: usize,
}

/// What a workload was fitted to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fit {
    /// How many misses displace all but 1/e of a process's state.
    pub displacing: f64,
    /// Its applications.
    pub applications: Vec<Fitted>,
    /// How far time, misses and idle time are from the standard columns: the sum of squares, in units of the tolerances.
    pub distance: f64,
}

impl Fit {
    /// The mean of several fits of the same applications; `None` of none.
    fn mean(fits: &[Self]) -> Option<Self> {
        let mean = |of: &dyn Fn(&Self) -> f64| fits.iter().map(of).sum::<f64>() / fits.len() as f64;
        let applications = (0..fits.first()?.applications.len()).map(|at| Fitted {
            steady: mean(&|fit| fit.applications[at].steady),
            work_ms: mean(&|fit| fit.applications[at].work_ms),
            blocked_ms: mean(&|fit| fit.applications[at].blocked_ms),
            serial_ms: mean(&|fit| fit.applications[at].serial_ms),
        });
        Some(Self {
            displacing: mean(&|fit| fit.displacing),
            applications: applications.collect(),
            distance: mean(&|fit| fit.distance),
        })
    }
}

/// The applications of each workload, calibrated.
#[derive(Clone, PartialEq, Debug)]
pub struct Calibration {
    /// The open parameters that it holds for.
    pub open: Open,
    /// The machine, with the misses that displace a process's state.
    pub machine: RunQueueMachine,
    /// What was fitted, by workload, in the order of its applications.
    pub fitted: BTreeMap<Workload, Vec<Fitted>>,
    /// Seed of the runs that it was fitted to.
    pub seed: u64,
}

/// What a fit may change.
#[derive(Clone, Copy)]
struct Free {
    /// The application.
    app: App,
    displacing: bool,
    steady: bool,
    idle: bool,
}

/// Fits workloads one by one.
struct Fitting<'a> {
    calibration: Calibration,
    /// Where to begin.
    from: Option<&'a Calibration>,
    precision: FitPrecision,
    steps: &'a Steps<'a>,
}

impl Calibration {
    /// Calibrates under `open`, beginning where `from` ended if it is given.
    pub(super) fn new(
        open: Open,
        seed: u64,
        from: Option<&Self>,
        precision: FitPrecision,
        steps: &Steps<'_>,
    ) -> Result<Self, PredictionError> {
        let machine = RunQueueMachine {
            bus_ns: open.bus_ns,
            interrupt_us: open.interrupt_us,
            interrupt_misses: open.interrupt_misses,
            displacing_misses: from.map_or(LINES, |from| from.machine.displacing_misses),
            ..RunQueueMachine::default()
        };
        let calibration = Self { open, machine, fitted: BTreeMap::new(), seed };
        let mut fitting = Fitting { calibration, from, precision, steps };
        fitting.fit_all()?;
        Ok(fitting.calibration)
    }

    /// The scenario of a workload under `scheduler`, for runs that it was not fitted to.
    #[must_use]
    pub fn scenario(&self, workload: Workload, scheduler: UnixScheduler, runs: u32) -> RunQueueScenario {
        let fitted = self.fitted.get(&workload).map_or(&[][..], |fitted| fitted);
        let scenario = self.with(workload, fitted, self.machine.clone(), scheduler, runs);
        RunQueueScenario { seed: self.seed.wrapping_add(1), ..scenario }
    }

    fn with(
        &self,
        workload: Workload,
        fitted: &[Fitted],
        machine: RunQueueMachine,
        scheduler: UnixScheduler,
        runs: u32,
    ) -> RunQueueScenario {
        let apps = workload.applications().iter().zip(fitted);
        let applications =
            apps.map(|(&app, &fitted)| application(app, fitted, &self.open, &machine)).collect();
        RunQueueScenario {
            schema: RunQueueScenario::SCHEMA,
            name: workload.name(),
            seed: self.seed,
            runs,
            seconds: None,
            machine,
            scheduler: scheduler.into(),
            recorded: None,
            applications,
        }
    }

    /// Whether a workload under the standard scheduler is the same in `other`.
    fn is_same(&self, other: &Self, workload: Workload) -> bool {
        let of = |one: &Self| one.scenario(workload, one.open.scheduler(), 1);
        of(self) == of(other)
    }
}

impl Fitting<'_> {
    fn fit_all(&mut self) -> Result<(), PredictionError> {
        let miss_ms = self.calibration.machine.miss_ns / 1e6;
        let begin = |app| Fitted::from_table_iv(app, miss_ms);
        let free = |app| Free { app, displacing: false, steady: true, idle: true };

        let first = Free { displacing: true, steady: false, ..free(App::Matrix) };
        let fit = self.fit(Workload::MatrixMatrix, vec![begin(App::Matrix); 2], first)?;
        let matrix = fit.applications[0];
        self.calibration.machine.displacing_misses = fit.displacing;
        self.calibration.fitted.insert(Workload::MatrixMatrix, fit.applications);
        self.fit_several([
            (Workload::MatrixCholesky, vec![matrix, begin(App::Cholesky)], free(App::Cholesky)),
            (Workload::MatrixMp3d, vec![matrix, begin(App::Mp3d)], free(App::Mp3d)),
            (Workload::PmakePmake, vec![begin(App::Pmake); 2], free(App::Pmake)),
            (Workload::Oracle, vec![begin(App::Oracle)], free(App::Oracle)),
        ])?;
        let [cholesky, pmake, oracle] =
            [(Workload::MatrixCholesky, 1), (Workload::PmakePmake, 0), (Workload::Oracle, 0)]
                .map(|(workload, place)| self.calibration.fitted[&workload][place]);
        let work = |app| Free { steady: false, idle: false, ..free(app) };
        let larger = |one: Fitted| Fitted { work_ms: LARGER * one.work_ms, ..one };
        self.fit_several([
            (Workload::PmakeMatrix, vec![pmake, matrix], work(App::Matrix)),
            (Workload::PmakeMatrix, vec![pmake, larger(matrix)], work(App::Matrix)),
            (Workload::PmakeCholesky, vec![pmake, cholesky], work(App::Cholesky)),
            (Workload::PmakeCholesky, vec![pmake, larger(cholesky)], work(App::Cholesky)),
        ])?;
        // Figure 5 has no standard column: its applications are as large as in Table V beside Pmake.
        let fitted = &mut self.calibration.fitted;
        let long = fitted[&Workload::PmakeMatrix][1];
        fitted.insert(Workload::PmakeMatrixMatrix, vec![pmake, long, long]);
        fitted.insert(Workload::OracleMatrixMatrix, vec![oracle, long, long]);
        Ok(())
    }

    fn fit_several<const N: usize>(
        &mut self,
        fits: [(Workload, Vec<Fitted>, Free); N],
    ) -> Result<(), PredictionError> {
        let this = &*self;
        let done: Result<Vec<_>, PredictionError> = fits
            .into_par_iter()
            .map(|(workload, begin, free)| Ok((workload, this.fit(workload, begin, free)?)))
            .collect();
        let mut nearest: BTreeMap<Workload, Fit> = BTreeMap::new();
        for (workload, fit) in done? {
            let kept = nearest.entry(workload).or_insert_with(|| fit.clone());
            if fit.distance < kept.distance {
                *kept = fit;
            }
        }
        let fitted = nearest.into_iter().map(|(workload, fit)| (workload, fit.applications));
        self.calibration.fitted.extend(fitted);
        Ok(())
    }

    /// Changes what is free until the standard scheduler gives the standard columns of Table V.
    fn fit(&self, workload: Workload, mut begin: Vec<Fitted>, free: Free) -> Result<Fit, PredictionError> {
        let FitPrecision { runs, steps, further } = self.precision;
        let mut count = steps;
        if let Some(from) = self.from {
            count = further;
            let apps = workload.applications().iter();
            for ((one, earlier), _) in
                begin.iter_mut().zip(&from.fitted[&workload]).zip(apps).filter(|(_, app)| **app == free.app)
            {
                *one = *earlier;
            }
            let mut begun = self.calibration.clone();
            begun.fitted.insert(workload, begin.clone());
            if begun.is_same(from, workload) {
                let displacing = from.machine.displacing_misses;
                return Ok(Fit { displacing, applications: begin, distance: 0.0 });
            }
        }
        let displacing = self.calibration.machine.displacing_misses;
        let begin = Fit { displacing, applications: begin, distance: 0.0 };
        let (open, seed) = (&self.calibration.open, self.calibration.seed);
        let key = format!("fit {workload:?} seed {seed} runs {runs} steps {count}\n{open:?}\n{begin:?}");
        let get = |part| if let Part::Fit(fit) = part { Some(fit) } else { None };
        self.steps.part(&key, get, Part::Fit, || self.stepwise(workload, begin, free, count))
    }

    fn stepwise(
        &self,
        workload: Workload,
        mut fit: Fit,
        free: Free,
        count: usize,
    ) -> Result<Fit, PredictionError> {
        let Some(published) = workload.row().map(|row| row.standard) else { return Ok(fit) };
        let mut last = Vec::new();
        for step in 0..count {
            // Large steps first, then small ones, of whose results the mean is taken: runs scatter.
            let settles = step >= count / 2;
            let pace = if settles { 0.5 } else { 1.0 };
            let machine =
                RunQueueMachine { displacing_misses: fit.displacing, ..self.calibration.machine.clone() };
            let scheduler = self.calibration.open.scheduler();
            let scenario =
                self.calibration.with(workload, &fit.applications, machine, scheduler, self.precision.runs);
            let found = self.steps.simulate(&scenario)?;
            fit.distance = distance(&found, published);
            self.improve(workload, &mut fit, free, pace, published, &found);
            if settles {
                last.push(fit.clone());
            }
        }
        Ok(Fit::mean(&last).unwrap_or(fit))
    }

    /// One step of a fit: changes what is free by how far `found` is from the published time, misses and idle time.
    fn improve(
        &self,
        workload: Workload,
        fit: &mut Fit,
        free: Free,
        pace: f64,
        [time, misses, idle]: [f64; 3],
        found: &Outcome,
    ) {
        let (is_serial, miss_ms) =
            (self.calibration.open.serial > 0.5, self.calibration.machine.miss_ns / 1e6);
        let apps = workload.applications();
        let places: Vec<usize> = (0..apps.len()).filter(|&at| apps[at] == free.app).collect();
        let slower = mean(found, Tally::mean_completion_s) / time;
        let found_misses = mean(found, Tally::misses) / 1e6;
        let own = |of: fn(&ApplicationTally) -> f64| {
            mean(found, |run| places.iter().map(|&at| of(&run.applications[at])).sum())
        };
        // The part of the time that the application free to change takes.
        let part = if places.len() == apps.len() { 1.0 } else { 0.5 };
        let found_idle = mean(found, |run| run.idle).clamp(0.001, 0.95);
        let odds = |idle: f64| idle / (1.0 - idle);
        let idler = odds(idle / 100.0) / odds(found_idle);
        // What changes the idle time changes the whole time with it.
        let work = match free.idle {
            true => slower * (1.0 - found_idle) / (1.0 - idle / 100.0),
            false => slower,
        };
        for &at in &places {
            let one = &mut fit.applications[at];
            // How long a millisecond of computing takes, which more steady misses lengthen.
            let before = 1.0 + one.steady * miss_ms;
            if free.steady {
                let lacking = (misses * slower - found_misses) * 1e6 / (own(|one| one.compute_s) * 1e3);
                one.steady = (one.steady + pace * lacking).max(0.0);
            }
            let lengthened = (1.0 + one.steady * miss_ms) / before;
            one.work_ms *= (work.powf(-pace / part) / lengthened).clamp(0.1, 10.0);
            match (free.idle, is_serial && one.serial_ms > 0.0) {
                (true, true) => one.serial_ms *= idler.powf(0.8 * pace).clamp(0.2, 5.0),
                // Processors idle only if several processes block at once: the odds grow with the third power or so.
                (true, false) => one.blocked_ms *= idler.powf(0.4 * pace).clamp(0.3, 3.0),
                (false, _) => {}
            }
        }
        if free.displacing {
            let reload = own(|one| one.reload_misses) / 1e6;
            let wanted = misses * slower - (found_misses - reload);
            fit.displacing *= (reload / wanted.max(0.01)).clamp(0.4, 2.5).powf(1.2 * pace);
        }
    }
}

/// How far `found` is from the published time, misses and idle time.
fn distance(found: &Outcome, [time, misses, idle]: [f64; 3]) -> f64 {
    let distances = [
        (mean(found, Tally::mean_completion_s) / time - 1.0) / standard::RELATIVE,
        (mean(found, Tally::misses) / 1e6 / misses - 1.0) / standard::RELATIVE,
        (100.0 * mean(found, |run| run.idle) - idle) / standard::IDLE,
    ];
    distances.iter().map(|distance| distance * distance).sum()
}

fn mean(outcome: &Outcome, of: impl Fn(&Tally) -> f64) -> f64 {
    outcome.runs.iter().map(of).sum::<f64>() / outcome.runs.len() as f64
}
