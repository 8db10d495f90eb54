//! A whole calibration: from a machine and a plan to a profile.

mod curve;
pub(crate) mod interleaved;
mod notes;
pub(crate) mod plan;
mod profile;
pub(crate) mod progress;
mod quantity;
pub(crate) mod rounds;
mod run_length;
pub(crate) mod summary;

use crate::caches::cold::{self, ColdState, Latency};
use crate::caches::eviction::Evictor;
use crate::caches::hierarchy::Hierarchy;
use crate::clock::Timer;
use crate::error::{CalibrateError, RunError};
use crate::invocation::{InvocationCosts, invocation_costs};
use crate::run::RunContext;
use chrono::Utc;
use core::sync::atomic::AtomicBool;
use curve::CurveSetup;
use plan::CalibrationPlan;
use progress::{Observer, ProgressReporter};
use quantity::MeasuredValue;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rounds::{Rounds, RunCounts};
use std::time::{Duration, Instant};
use warmcore_costs::profile::{Kind, Provenance};
use warmcore_costs::{Intervening, Profile};
use warmcore_linux::pin_to;
use warmcore_topology::Machine;
use warmcore_units::{Bytes, CpuId, Nanos};

/// The results of a calibration.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The profile.
    pub profile: Profile,
    /// References per microsecond that the built-in intervening work of t(x) makes; `None` if the
    /// user's own program intervened. Constants fitted to t(x) belong to this rate.
    pub references_per_us: Option<f64>,
    /// The time source.
    pub timer: Timer,
    /// Latencies of the levels, and of memory.
    pub latencies: Vec<Latency>,
    /// How each cold state was reached, nearest level first; the last is fully cold.
    pub cold: Vec<ColdState>,
    /// The processors measured on: consumers first, then the producer if it is another.
    pub cpus: Vec<CpuId>,
    /// Counts of runs and packets, and of those that did not count.
    pub tally: RunCounts,
    /// How long it took.
    pub elapsed: Duration,
}

/// Most processors a run uses: two consumers and a producer.
const MAX_PROCESSORS: usize = 3;

/// Additional fraction of the budget for values that contradict each other.
const CONTRADICTION_SHARE: f64 = 0.25;

/// Measures `machine` as `plan` says.
///
/// # Errors
/// See [`CalibrateError`]; with `stop` set, [`CalibrateError::Interrupted`] within moments.
pub fn calibrate(
    machine: &Machine,
    plan: &CalibrationPlan,
    observer: &mut Observer<'_>,
    stop: &AtomicBool,
) -> Result<Calibration, CalibrateError> {
    let began = Instant::now();
    let mut forward = |progress| observer(progress);
    let mut report = ProgressReporter::new(&mut forward);
    plan.check_packets()?;
    let cpus = choose(machine, plan)?;
    let home = *cpus.first().ok_or(CalibrateError::NoProcessor)?;
    let hierarchy = Hierarchy::new(machine, home)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);

    report.begin("levels", 0.05);
    let Levels { timer, latencies, cold } = measure_levels(home, &hierarchy, &mut rng, stop)?;
    let evictors = evictors(&hierarchy, &cold, cpus.len())?;
    let context = RunContext { cpus: &cpus, evictors: &evictors, stop, timer: &timer };

    report.begin("receive times", 0.75);
    let quantities = MeasuredValue::all(&hierarchy, cpus.len());
    let costs: Vec<Nanos> = cold.iter().map(|state| state.cost).collect();
    let mut rounds = Rounds::new(&context, &timer, plan, quantities, &costs);
    rounds.complete(began + plan.budget, &mut rng, &mut report)?;
    rounds.resolve_contradictions(Instant::now() + plan.budget.mul_f64(CONTRADICTION_SHARE), &mut rng)?;

    report.begin("t(x)", 1.0);
    let setup = CurveSetup { context: &context, timer: &timer, plan, proximity: &rounds.proximity };
    let curve = curve::measure(&setup, &mut rng, &mut report)?;
    report.at(1.0);

    let values = rounds.values();
    let shared = hierarchy.shared_level(machine, &cpus).and_then(|level| latencies.get(level));
    let mut notes = notes::all(plan, &cpus, &timer, &cold, shared, &rounds, &curve);
    let invocation = invocation(&cpus, &timer, &mut notes, stop)?;
    let profile = Profile {
        schema: Profile::SCHEMA,
        name: machine.name.clone(),
        provenance: provenance(plan, notes, &rounds, invocation),
        levels: profile::levels(&hierarchy, &cold),
        intervening: Intervening::MVS,
        free_memory: profile::free_memory(&values),
        times: profile::times(&hierarchy, &values).ok_or(RunError::NothingTimed)?,
        intervened: Some(curve.intervened),
    };
    profile.check().map_err(CalibrateError::Contradiction)?;
    let tally = rounds.tally();
    Ok(Calibration {
        profile,
        references_per_us: curve.references_per_us,
        timer,
        latencies,
        cold,
        tally,
        elapsed: began.elapsed(),
        cpus: cpus.clone(),
    })
}

/// What interrupts and wake-ups cost, if there are two processors. A machine too busy to tell has a note instead.
fn invocation(
    cpus: &[CpuId],
    timer: &Timer,
    notes: &mut Vec<String>,
    stop: &AtomicBool,
) -> Result<Option<InvocationCosts>, CalibrateError> {
    let [first, second, ..] = *cpus else { return Ok(None) };
    match invocation_costs([first, second], timer, stop) {
        Ok(costs) => Ok(Some(costs)),
        Err(RunError::Interrupted) => Err(CalibrateError::Interrupted),
        Err(error) => {
            notes.push(format!("What an interrupt and a wake-up cost could not be measured: {error}."));
            Ok(None)
        }
    }
}

/// The time source, and what the cache levels of one processor cost.
struct Levels {
    timer: Timer,
    latencies: Vec<Latency>,
    cold: Vec<ColdState>,
}

/// Measures the levels of `hierarchy` on processor `home`.
fn measure_levels(
    home: CpuId,
    hierarchy: &Hierarchy,
    rng: &mut Xoshiro256PlusPlus,
    stop: &AtomicBool,
) -> Result<Levels, CalibrateError> {
    let _pinned = pin_to(home)?;
    let timer = Timer::calibrate();
    let latencies = cold::latencies(hierarchy, &timer, rng, stop)?;
    let cold = cold::states(hierarchy, &latencies, &timer, rng, stop)?;
    Ok(Levels { timer, latencies, cold })
}

fn provenance(
    plan: &CalibrationPlan,
    notes: Vec<String>,
    rounds: &Rounds<'_>,
    invocation: Option<InvocationCosts>,
) -> Provenance {
    Provenance {
        kind: Kind::Measured,
        source: concat!("warmcore ", env!("CARGO_PKG_VERSION")).to_owned(),
        date: Utc::now().format("%Y-%m-%d").to_string(),
        handover: rounds.proximity.reference.map(Nanos),
        handover_range: rounds.proximity.range(rounds.readings()).map(|ends| ends.map(Nanos)),
        interrupt: invocation.and_then(|costs| costs.interrupt),
        wake_up: invocation.map(|costs| costs.wake_up),
        runs: Some(rounds.tally().into()),
        packets: Some(plan.packets()),
        notes,
    }
}

/// The processors to measure on, no two of one core.
fn choose(machine: &Machine, plan: &CalibrationPlan) -> Result<Vec<CpuId>, CalibrateError> {
    let usable = machine.usable_cores();
    let mut cpus = match &plan.cpus {
        None => usable.clone(),
        Some(cpus) => {
            // A processor named twice still gets one thread.
            let first = |(position, cpu): (usize, &CpuId)| (!cpus[..position].contains(cpu)).then_some(*cpu);
            cpus.iter().enumerate().filter_map(first).collect()
        }
    };
    cpus.truncate(MAX_PROCESSORS);
    if let Some(&cpu) = cpus.iter().find(|cpu| !usable.contains(cpu)) {
        return Err(CalibrateError::UnusableProcessor { cpu, usable });
    }
    if cpus.is_empty() { Err(CalibrateError::NoProcessor) } else { Ok(cpus) }
}

/// Creates the evictor of each consumer. Only the first consumer is ever made fully cold.
fn evictors(hierarchy: &Hierarchy, cold: &[ColdState], cpus: usize) -> Result<Vec<Evictor>, CalibrateError> {
    let walks: Vec<Bytes> = cold.iter().map(|state| state.walked).collect();
    let partial = &walks[..walks.len().saturating_sub(1)];
    let mut evictors = vec![Evictor::new(hierarchy, &walks)?];
    if cpus > 1 {
        evictors.push(Evictor::new(hierarchy, partial)?);
    }
    Ok(evictors)
}
