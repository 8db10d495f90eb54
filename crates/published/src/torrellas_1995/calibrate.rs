//! Calibration on the *Standard scheduling* columns of Table V, and on nothing else of it.
//!
//! | from | follows |
//! |---|---|
//! | Matrix + Matrix: time, misses, idle | work of Matrix; how many misses displace a process's state; how long its first process computes before the others start |
//! | Matrix + Cholesky, Matrix + Mp3d: time, misses, idle | work and steady misses of Cholesky, of Mp3d; how long their first process computes alone |
//! | Pmake + Pmake, Oracle: time, misses, idle | work, steady misses and time blocked of Pmake, of Oracle |
//! | Pmake + Matrix, Pmake + Cholesky: time | work of Matrix and Cholesky there; misses and idle are not used |
//!
//! The work of Matrix beside Pmake cannot be that beside another Matrix: the text does not say how large the applications of
//! each workload are.

use super::models::{Fitted, application};
use super::open::Open;
use super::tables::{App, Workload};
use rayon::prelude::*;
use std::collections::BTreeMap;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::{RunQueueMachine, UnixScheduler};
use warmcore_sim::runqueue::{Outcome, simulate};
use warmcore_units::Fault;

/// Steps of each fit.
const STEPS: usize = 20;
/// Where the first fit begins: the lines of the second-level cache.
const LINES: f64 = 16_384.0;

/// The applications of each workload, calibrated.
#[derive(Clone, PartialEq, Debug)]
pub struct Calibration {
    /// The open parameters that it holds for.
    pub open: Open,
    /// The machine, with the misses that displace a process's state.
    pub machine: RunQueueMachine,
    /// What was fitted, by workload, in the order of its applications.
    pub fitted: BTreeMap<Workload, Vec<Fitted>>,
    /// Seed of the runs.
    pub seed: u64,
}

/// What a fit may change.
#[derive(Clone, Copy)]
struct Free {
    /// The application.
    app: App,
    displacing: bool,
    steady: bool,
    idle: FreeIdle,
}

/// What a fit changes to reach the idle time.
#[derive(Clone, Copy)]
enum FreeIdle {
    Nothing,
    /// How long processes block.
    Blocked,
    /// How long an application's first process computes alone.
    Serial,
}

impl Calibration {
    /// Calibrates with `runs` runs of each step.
    ///
    /// # Errors
    /// If the open parameters make a scenario impossible.
    pub fn new(open: Open, seed: u64, runs: u32) -> Result<Self, Fault> {
        let machine = RunQueueMachine {
            interrupt_us: open.interrupt_us,
            displacing_misses: LINES,
            ..RunQueueMachine::default()
        };
        let miss_ms = machine.miss_ns / 1e6;
        let mut calibration = Self { open, machine, fitted: BTreeMap::new(), seed };
        let begin = |app| Fitted::from_table_iv(app, miss_ms);
        let free = |app| Free { app, displacing: false, steady: true, idle: FreeIdle::Serial };

        let fitted = calibration.fit(
            Workload::MatrixMatrix,
            vec![begin(App::Matrix); 2],
            Free { displacing: true, steady: false, ..free(App::Matrix) },
            runs,
        )?;
        let matrix = fitted[0];
        calibration.fitted.insert(Workload::MatrixMatrix, fitted);
        let io = |app| Free { idle: FreeIdle::Blocked, ..free(app) };
        let second = [
            (Workload::MatrixCholesky, vec![matrix, begin(App::Cholesky)], free(App::Cholesky)),
            (Workload::MatrixMp3d, vec![matrix, begin(App::Mp3d)], free(App::Mp3d)),
            (Workload::PmakePmake, vec![begin(App::Pmake); 2], io(App::Pmake)),
            (Workload::Oracle, vec![begin(App::Oracle)], io(App::Oracle)),
        ];
        calibration.fit_all(second, runs)?;
        let [cholesky, pmake, oracle] =
            [(Workload::MatrixCholesky, 1), (Workload::PmakePmake, 0), (Workload::Oracle, 0)]
                .map(|(workload, place)| calibration.fitted[&workload][place]);
        let alone = |app| Free { steady: false, idle: FreeIdle::Nothing, ..free(app) };
        let third = [
            (Workload::PmakeMatrix, vec![pmake, matrix], alone(App::Matrix)),
            (Workload::PmakeCholesky, vec![pmake, cholesky], alone(App::Cholesky)),
        ];
        calibration.fit_all(third, runs)?;
        // Figure 5 has no standard column: its applications are as large as in Table V beside Pmake.
        let long = calibration.fitted[&Workload::PmakeMatrix][1];
        calibration.fitted.insert(Workload::PmakeMatrixMatrix, vec![pmake, long, long]);
        calibration.fitted.insert(Workload::OracleMatrixMatrix, vec![oracle, long, long]);
        Ok(calibration)
    }

    /// The scenario of a workload under `scheduler`.
    #[must_use]
    pub fn scenario(&self, workload: Workload, scheduler: UnixScheduler, runs: u32) -> RunQueueScenario {
        let fitted = self.fitted.get(&workload).map_or(&[][..], |fitted| fitted);
        self.with(workload, fitted, &self.machine, scheduler, runs)
    }

    fn with(
        &self,
        workload: Workload,
        fitted: &[Fitted],
        machine: &RunQueueMachine,
        scheduler: UnixScheduler,
        runs: u32,
    ) -> RunQueueScenario {
        let apps = workload.applications().iter().zip(fitted);
        RunQueueScenario {
            schema: RunQueueScenario::SCHEMA,
            name: workload.name(),
            seed: self.seed,
            runs,
            seconds: None,
            machine: machine.clone(),
            scheduler: scheduler.into(),
            recorded: None,
            applications: apps.map(|(&app, &fitted)| application(app, fitted, &self.open, machine)).collect(),
        }
    }

    fn fit_all<const N: usize>(
        &mut self,
        fits: [(Workload, Vec<Fitted>, Free); N],
        runs: u32,
    ) -> Result<(), Fault> {
        let this = &*self;
        let done: Result<Vec<_>, Fault> = fits
            .into_par_iter()
            .map(|(workload, fitted, free)| {
                // The machine is known by now.
                Ok((workload, this.clone().fit(workload, fitted, free, runs)?))
            })
            .collect();
        self.fitted.extend(done?);
        Ok(())
    }

    /// Changes what is free until the standard scheduler gives the standard columns of Table V.
    fn fit(
        &mut self,
        workload: Workload,
        mut fitted: Vec<Fitted>,
        free: Free,
        runs: u32,
    ) -> Result<Vec<Fitted>, Fault> {
        let Some([time, misses, idle]) = workload.row().map(|row| row.standard) else { return Ok(fitted) };
        let places: Vec<usize> =
            (0..fitted.len()).filter(|&at| workload.applications()[at] == free.app).collect();
        for step in 0..STEPS {
            let scenario = self.with(workload, &fitted, &self.machine, self.open.scheduler(), runs);
            let outcome = simulate(&scenario)?;
            let found_time = mean(&outcome, warmcore_sim::runqueue::Tally::mean_completion_s);
            let found_misses = mean(&outcome, warmcore_sim::runqueue::Tally::misses) / 1e6;
            let found_idle = mean(&outcome, |run| run.idle);
            let own = |of: fn(&warmcore_sim::runqueue::ApplicationTally) -> f64| {
                mean(&outcome, |run| places.iter().map(|&at| of(&run.applications[at])).sum())
            };
            // The part of the time that the application free to change takes.
            let part = if places.len() == fitted.len() { 1.0 } else { 0.5 };
            // Large steps first, small ones at the end, since runs scatter.
            let pace = if step < STEPS / 2 { 1.0 } else { 0.4 };
            for &at in &places {
                let one = &mut fitted[at];
                one.work_ms *= (time / found_time).powf(pace / part).clamp(0.3, 3.0);
                if free.steady {
                    let scale = time / found_time;
                    let lacking =
                        (misses - found_misses * scale) * 1e6 / (own(|one| one.compute_s) * 1e3 * scale);
                    one.steady = (one.steady + pace * lacking).max(0.0);
                }
                let odds = |idle: f64| idle / (1.0 - idle);
                let ratio = odds(idle / 100.0) / odds(found_idle.clamp(0.001, 0.95));
                let ratio = ratio.powf(0.7 * pace).clamp(0.3, 3.0);
                match free.idle {
                    FreeIdle::Blocked => one.blocked_ms *= ratio,
                    FreeIdle::Serial => one.serial_ms *= ratio,
                    FreeIdle::Nothing => {}
                }
            }
            if free.displacing {
                let reload = own(|one| one.reload_misses) / 1e6;
                let wanted = misses * found_time / time - (found_misses - reload);
                let ratio = (reload / wanted.max(0.01)).clamp(0.4, 2.5);
                self.machine.displacing_misses *= ratio.powf(1.2 * pace);
            }
        }
        Ok(fitted)
    }
}

fn mean(outcome: &Outcome, of: impl Fn(&warmcore_sim::runqueue::Tally) -> f64) -> f64 {
    outcome.runs.iter().map(of).sum::<f64>() / outcome.runs.len() as f64
}
