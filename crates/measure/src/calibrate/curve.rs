//! Measures t(x): the time of a packet after `x` of intervening work, which Salehi, Kurose & Towsley
//! could only model (1994, §4.1).
//!
//! The experiment is A1 under Independent Protocol Stacks, thread stack cached, on one processor. The
//! intervening work is the built-in [`Workload`], for exactly `x`; or the user's own program, which
//! shares the measuring thread's processor and runs while that thread sleeps. In that case `x` is the
//! time that really passed since the packet before, and values that sleeping cannot reach are left out.

use crate::calibrate::plan::CalibrationPlan;
use crate::calibrate::progress::ProgressReporter;
use crate::calibrate::summary::{Run, RunMean, Series};
use crate::clock::Timer;
use crate::error::{CalibrateError, RunError};
use crate::run::RunContext;
use crate::run::intervening::Workload;
use crate::run::pattern;
use crate::run::proximity::{PAUSE, Proximity};
use crate::run::script::{BeforePacket, PoolUse, Script, ScriptRun};
use core::sync::atomic::Ordering;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::thread;
use std::time::{Duration, Instant};
use warmcore_costs::profile::{CurvePoint, MeasuredCurve};
use warmcore_costs::{Approach, Experiment};
use warmcore_linux::Program;
use warmcore_linux::pin_to;
use warmcore_units::Nanos;

/// Two points a decade, from 1 µs to 1 s.
const POINTS: u32 = 13;
const SHORTEST: Nanos = Nanos(1e3);
const PER_DECADE: f64 = 2.0;
/// Approximate length of a run, if its `x` is not longer.
const RUN_LENGTH: Nanos = Nanos(30e6);
/// Most packets of a run.
const MAX_PACKETS: f64 = 200.0;
/// A point is left out if its `x` is more than this fraction of the budget.
const MAX_SHARE: f64 = 0.125;
/// From this `x` on, a point that reached its target gets no more runs, which leaves time to the
/// others.
const EXPENSIVE: Nanos = Nanos(10e6);
/// In work of this length or more, and in a user's program always, other activity of the processor is
/// part of what intervenes. Losing the processor for a while is then no disturbance; only leaving it
/// is.
const SHARED: Nanos = Nanos(1e6);
/// Largest accepted ratio of the time that passed to the time asked for.
const MAX_OVERSLEEP: f64 = 2.0;

/// The measured t(x).
pub(crate) struct Curve {
    pub(crate) intervened: MeasuredCurve,
    /// References per microsecond of the built-in work.
    pub(crate) references_per_us: Option<f64>,
    /// The `x` left out: longer than the budget allows or, with a user's program, shorter than a sleep can be.
    pub(crate) left_out: Vec<Nanos>,
}

/// The context, timer and plan of the measurement.
#[derive(Clone, Copy)]
pub(crate) struct CurveSetup<'a> {
    pub(crate) context: &'a RunContext<'a>,
    pub(crate) timer: &'a Timer,
    pub(crate) plan: &'a CalibrationPlan,
    /// The distance of the processors at which runs count.
    pub(crate) proximity: &'a Proximity,
}

/// What runs between packets.
enum Work {
    Builtin(Box<Workload>),
    Program(Program),
}

impl Work {
    fn new(plan: &CalibrationPlan, context: &RunContext<'_>) -> Result<Self, CalibrateError> {
        match &plan.intervening {
            None => Ok(Self::Builtin(Box::new(Workload::new(plan.seed)?))),
            Some(arguments) => {
                // The program inherits this thread's affinity.
                let _pinned = pin_to(context.cpus[0])?;
                Ok(Self::Program(Program::start(arguments)?))
            }
        }
    }

    fn description(&self) -> String {
        match self {
            Self::Builtin(workload) => workload.description(),
            Self::Program(program) => program.description(),
        }
    }
}

/// The runs of one `x` so far.
struct Point {
    x: Nanos,
    series: Series,
    /// The time that really passed, by run.
    passed: Series,
    cost: Duration,
}

impl Point {
    fn new(x: Nanos) -> Self {
        Self {
            x,
            series: Series::default(),
            passed: Series::default(),
            cost: Duration::from_secs_f64(x.secs()),
        }
    }

    fn packets(&self) -> u32 {
        (RUN_LENGTH / self.x).clamp(1.0, MAX_PACKETS) as u32
    }

    fn is_known(&self, plan: &CalibrationPlan, proximity: &Proximity) -> bool {
        self.series.is_known(plan.least_runs, plan.target, proximity)
    }

    fn add(&mut self, outcome: &ScriptRun, timer: &Timer, disturbed: bool) {
        let time = |ticks: u64| (timer.nanos(ticks as f64) - timer.overhead.mean).0;
        let times = outcome.samples.iter().map(|sample| time(sample.ticks)).collect();
        if let Some(run) = RunMean::new(times) {
            let readings = outcome.readings(timer);
            self.series.push(Run { value: run.mean, disturbed, readings });
            let mut passed: Vec<u64> = outcome.samples.iter().map(|sample| sample.intervened).collect();
            passed.sort_unstable();
            let value = timer.nanos(passed[passed.len() / 2] as f64).0;
            self.passed.push(Run { value, disturbed, readings });
        }
    }

    /// The measured point, at the time that really passed.
    fn measured(&self, plan: &CalibrationPlan, proximity: &Proximity) -> Option<CurvePoint> {
        let passed = self.passed.measured(plan.target, proximity)?;
        Some(CurvePoint { x: passed.mean, time: self.series.measured(plan.target, proximity)? })
    }
}

/// Measures t(x) for as long as the plan allows.
///
/// # Errors
/// If a run fails, the user stops, or the user's program cannot be used.
pub(crate) fn measure(
    setup: &CurveSetup<'_>,
    rng: &mut Xoshiro256PlusPlus,
    report: &mut ProgressReporter<'_>,
) -> Result<Curve, CalibrateError> {
    let CurveSetup { context, timer, plan, proximity } = *setup;
    let mut work = Work::new(plan, context)?;
    let longest = Nanos::from_secs(plan.t_of_x_budget.as_secs_f64() * MAX_SHARE);
    let (xs, mut left_out): (Vec<Nanos>, Vec<Nanos>) =
        durations().partition(|&x| x <= longest || x == SHORTEST);
    let mut points: Vec<Point> = xs.into_iter().map(Point::new).collect();
    complete(&mut points, &mut work, setup, rng, report)?;
    let mut measured = Vec::new();
    for point in &points {
        match point.measured(plan, proximity) {
            Some(found) if found.x.0 <= point.x.0 * MAX_OVERSLEEP || plan.intervening.is_none() => {
                measured.push(found);
            }
            _ => left_out.push(point.x),
        }
    }
    left_out.sort_by(Nanos::total_cmp);
    Ok(Curve {
        intervened: MeasuredCurve {
            workload: work.description(),
            approach: Approach::IndependentStacks,
            fitted: false,
            points: measured,
        },
        references_per_us: match &work {
            Work::Builtin(workload) => workload.references_per_us(timer),
            Work::Program(_) => None,
        },
        left_out,
    })
}

fn durations() -> impl Iterator<Item = Nanos> {
    (0..POINTS).map(|point| SHORTEST * 10_f64.powf(f64::from(point) / PER_DECADE))
}

/// Runs rounds over all points in shuffled order, as for the receive times.
fn complete(
    points: &mut [Point],
    work: &mut Work,
    setup: &CurveSetup<'_>,
    rng: &mut Xoshiro256PlusPlus,
    report: &mut ProgressReporter<'_>,
) -> Result<(), CalibrateError> {
    let CurveSetup { plan, proximity, .. } = *setup;
    let began = Instant::now();
    let deadline = began + plan.t_of_x_budget;
    loop {
        let needs_more_runs = |point: &Point| point.x.0 < EXPENSIVE.0 || !point.is_known(plan, proximity);
        let mut order: Vec<usize> =
            (0..points.len()).filter(|&point| needs_more_runs(&points[point])).collect();
        order.shuffle(rng);
        let mut ran = false;
        for index in order {
            let point = &mut points[index];
            let late = Instant::now() + point.cost > deadline;
            if late && point.series.runs().len() >= 2 {
                continue;
            }
            let near = if late { Proximity::ANY } else { *proximity };
            run(point, work, setup, near, rng)?;
            ran = true;
            report.at(began.elapsed().as_secs_f64() / plan.t_of_x_budget.as_secs_f64().max(1e-3));
        }
        if !ran || points.iter().all(|point| point.is_known(plan, proximity)) {
            return Ok(());
        }
    }
}

fn run(
    point: &mut Point,
    work: &mut Work,
    setup: &CurveSetup<'_>,
    near: Proximity,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<(), CalibrateError> {
    let CurveSetup { context, timer, plan, .. } = *setup;
    if context.stop.load(Ordering::Relaxed) {
        return Err(CalibrateError::Interrupted);
    }
    let began = Instant::now();
    let before = match work {
        Work::Builtin(_) => BeforePacket::Work(timer.ticks(point.x)),
        Work::Program(_) => BeforePacket::Sleep(point.x),
    };
    let script = Script {
        approach: Approach::IndependentStacks,
        pattern: pattern::steps(Experiment::A1),
        stack_migrates: false,
        before,
        pool: PoolUse::Own,
        timed: point.packets(),
        packets: plan.packets(),
    };
    let (outcome, shared) = match work {
        Work::Builtin(workload) => (context.run(&script, rng, Some(workload), near), point.x.0 >= SHARED.0),
        Work::Program(program) => {
            let outcome = context.run(&script, rng, None, near);
            program.check()?;
            (outcome, true)
        }
    };
    let outcome = match outcome {
        Err(RunError::Displaced { .. }) => {
            thread::sleep(PAUSE);
            return Ok(());
        }
        outcome => outcome?,
    };
    let disturbance = outcome.disturbance;
    let disturbed = if shared { disturbance.migrations > 0 } else { !disturbance.is_none() };
    point.add(&outcome, timer, disturbed);
    point.cost = began.elapsed();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_reach_from_a_microsecond_to_a_second() {
        let xs: Vec<Nanos> = durations().collect();
        assert!(xs.len() >= 10 && xs.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(xs[0], Nanos::from_micros(1.0));
        assert!((xs[xs.len() - 1].secs() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_run_is_short_or_has_one_packet() {
        for x in durations() {
            let point = Point::new(x);
            let packets = point.packets();
            assert!(packets >= 1);
            assert!(packets == 1 || point.x * f64::from(packets) <= RUN_LENGTH, "{x}: {packets}");
        }
    }
}
