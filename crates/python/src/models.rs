//! Simulating packets with a policy or costs that are written in Python.
//!
//! The interpreter's lock is held throughout, since each packet needs it; Ctrl-C arrives in the Python code that is called.

use crate::failure::Failure;
use crate::policy::{PythonCosts, PythonPolicy, Raised};
use pyo3::prelude::*;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_policy::dispatch::{StackQueues, StreamQueue, Waiting};
use warmcore_policy::{Policy, Queues};
use warmcore_scenario::chosen::Task;
use warmcore_scenario::document::Checked;
use warmcore_scenario::{OpenTraffic, PacketScenario, Parallelism, Process, QueueRule, Scheduling};
use warmcore_sim::packet::{
    Ended, Outcome, Packet, PointError, PointResult, Shape, Simulation, SimulationError,
};
use warmcore_units::{Fault, Nanos, PerSecond, StreamId};
use warmcore_workload::{Arrival, Key, TimeFactors, Trace};

/// A policy of one's own.
pub(crate) enum Own {
    /// Its packets wait in one queue.
    Common(Py<PyAny>),
    /// They wait in a queue for each processor.
    PerProcessor(Py<PyAny>),
}

/// The number of the replication whose arrivals the capacity is measured with, as of other points.
const CAPACITY_REPLICATION: u64 = u64::MAX;

/// The packets of `times` (ns) and `streams`, both as bytes.
pub(crate) fn trace(times: &[u8], streams: &[u8]) -> Result<Trace, Failure> {
    let (times, []) = times.as_chunks::<8>() else { return Err(uneven("times", times.len(), 8)) };
    let (streams, []) = streams.as_chunks::<4>() else { return Err(uneven("streams", streams.len(), 4)) };
    if times.len() != streams.len() {
        let expected = format!("{}, as many as times", times.len());
        return Err(Fault::new("arrivals.streams", format!("{} numbers", streams.len()), expected).into());
    }
    let arrival = |(at, stream): (&[u8; 8], &[u8; 4])| {
        Arrival::single(Nanos(f64::from_ne_bytes(*at)), StreamId(u32::from_ne_bytes(*stream)))
    };
    Ok(Trace::from_arrivals(times.iter().zip(streams).map(arrival).collect())?)
}

fn uneven(name: &str, bytes: usize, each: usize) -> Failure {
    Fault::new(format!("arrivals.{name}"), format!("{bytes} bytes"), format!("{each} bytes for each packet"))
        .into()
}

/// Simulates the point of `scenario` with this `policy` instead of the one it names, and this `cost` of a packet instead of
/// the profile's.
pub(crate) fn simulate(
    scenario: &PacketScenario,
    traffic: OpenTraffic,
    profile: &Profile,
    policy: Option<Own>,
    cost: Option<Py<PyAny>>,
) -> Result<PointResult, Failure> {
    let raised = Raised::default();
    let traffic = traffic.stopped_by(raised.stop());
    let rate = traffic.rate(scenario.rate_per_s)?;
    scenario.check()?;
    scenario.check_length()?;
    refuse_closed_and_repeated(scenario)?;
    let streams = traffic.streams();
    let stacks = scenario.check_stacks(streams)?.min(streams);
    let shape = Shape { processors: scenario.processors, streams, stacks };
    let model = ExecutionModel::new(profile, scenario.scheduling.approach.costs(), scenario.processors);
    let model = model.map_err(PointError::Profile)?;
    let own = OwnRun {
        scenario,
        shape,
        rate,
        traffic: &traffic,
        raised: &raised,
        costs: PythonCosts::new(model.clone(), cost, raised.clone()),
    };
    let result = match policy {
        None => scenario.scheduling.choose(scenario.processors, &model, own),
        Some(Own::Common(policy)) => own.with(PythonPolicy::<true>::new(policy, raised.clone())),
        Some(Own::PerProcessor(policy)) => own.with(PythonPolicy::<false>::new(policy, raised.clone())),
    };
    // What Python raised comes before what followed from it.
    raised.check()?;
    result
}

/// Refuses what models in Python do not go with.
fn refuse_closed_and_repeated(scenario: &PacketScenario) -> Result<(), Fault> {
    if scenario.run.replications != 1 {
        let expected = "1 with a policy or costs of one's own";
        return Err(Fault::new("run.replications", scenario.run.replications, expected));
    }
    if let Some(packets) = scenario.run.warmup_packets {
        let expected = "none with a policy or costs of one's own: the start is found";
        return Err(Fault::new("run.warmup_packets", packets, expected));
    }
    if matches!(scenario.traffic.process, Process::Closed(_)) {
        let expected = "packets that arrive, with a policy or costs of one's own";
        return Err(Fault::new("traffic.process", "closed", expected));
    }
    Ok(())
}

struct OwnRun<'a> {
    scenario: &'a PacketScenario,
    shape: Shape,
    rate: PerSecond,
    traffic: &'a OpenTraffic,
    raised: &'a Raised,
    costs: PythonCosts,
}

impl Task for OwnRun<'_> {
    type Job = Packet;
    type Output = Result<PointResult, Failure>;

    fn on<P: Policy, W: Waiting<Job = Packet>>(self, policy: P) -> Self::Output {
        self.with(policy)
    }
}

impl OwnRun<'_> {
    /// Simulates `policy` with the queues that the scenario asks for.
    fn with<P: Policy>(self, policy: P) -> Result<PointResult, Failure> {
        let Self { scenario, shape, rate, traffic, raised, costs } = self;
        let extensions = scenario.extensions();
        let run = &scenario.run;
        let simulation = Simulation::new(shape, policy, costs)
            .service(extensions.service_factors())
            .scheduling(scenario.scheduling)
            .effects(scenario.effects)
            .speeds(scenario.speeds.clone())
            // A run of so many packets ends there, however precise it is.
            .precision(run.packets.map_or(run.precision, |_| f64::MIN_POSITIVE))
            .max_packets(run.most_packets());
        let simulation = match scenario.traffic.process {
            Process::Poisson => simulation.mean_gap(rate.interval()),
            _ => simulation,
        };
        let judged = Judged {
            seed: scenario.seed,
            rate,
            is_fixed: run.packets.is_some(),
            has_stacks: scenario.scheduling.approach == Parallelism::Ips,
            traffic,
            raised,
        };
        let Scheduling { approach, queue, .. } = scenario.scheduling;
        match (approach, queue) {
            _ if extensions.queues.limit.is_some() || !extensions.queues.classes.is_empty() => {
                judged.result(simulation.queue_rules(extensions.queues))
            }
            (Parallelism::Ips, _) => judged.result(simulation.queues::<StackQueues<Packet>>()),
            (_, QueueRule::SameStreamFirst) => judged.result(simulation.queues::<StreamQueue<Packet>>()),
            (_, QueueRule::Fifo) => judged.result(simulation),
        }
    }
}

/// What a simulation of one's own is judged by.
struct Judged<'a> {
    seed: u64,
    rate: PerSecond,
    /// Whether the run's length is given.
    is_fixed: bool,
    has_stacks: bool,
    traffic: &'a OpenTraffic,
    raised: &'a Raised,
}

impl Judged<'_> {
    fn result<P: Policy, W: Waiting<Job = Packet>>(
        self,
        simulation: Simulation<P, PythonCosts, W, TimeFactors>,
    ) -> Result<PointResult, Failure> {
        let Self { seed, rate, is_fixed, has_stacks, traffic, raised } = self;
        let key = |replication| Key { seed, point: rate.0.to_bits(), replication };
        let simulation = simulation.with_key(key(CAPACITY_REPLICATION));
        let capacity =
            simulation.capacity(&mut *traffic.endless(rate, simulation.key())?).map_err(failure)?;
        raised.check()?;
        let capture = traffic.trace().map(Trace::capture);
        if capture.is_none() && capacity.is_exceeded_by(rate) {
            return Ok(PointResult { rate, capacity, outcome: None, capture });
        }
        // The busiest of several queues may be too busy long before all processors are: what it keeps up with is not known.
        let capacity = if P::QUEUES == Queues::Common && !has_stacks { capacity } else { capacity.unknown() };
        let simulation = simulation.with_key(key(0));
        let mut outcome = simulation.run(&mut *traffic.source(rate, simulation.key())?).map_err(failure)?;
        if is_fixed && outcome.ended == Ended::Exhausted {
            outcome.ended = Ended::FixedLength;
        }
        outcome.ended = capacity.judge(rate, outcome.ended);
        match outcome.ended {
            _ if capture.is_some() => set_half_widths(&mut outcome, None),
            // Near capacity the spread within a run does not show how far its means are off.
            Ended::NearCapacity | Ended::Unknown => {
                let Outcome { service, utilisation, .. } = outcome;
                set_half_widths(&mut outcome, Some(f64::INFINITY));
                outcome = Outcome { service, utilisation, ..outcome };
            }
            _ => {}
        }
        Ok(PointResult { rate, capacity, outcome: Some(outcome), capture })
    }
}

/// Gives all means this half-width: none to those of recorded arrivals, which are one run and say nothing of others.
fn set_half_widths(outcome: &mut Outcome, half_width: Option<f64>) {
    let quantiles = &mut outcome.quantiles;
    let times = [&mut outcome.delay, &mut outcome.service];
    for time in times.into_iter().chain([&mut quantiles.p50, &mut quantiles.p99, &mut quantiles.p999]) {
        time.half_width = half_width.map(Nanos);
    }
    outcome.utilisation.half_width = half_width;
}

fn failure(error: SimulationError) -> Failure {
    match error {
        SimulationError::Setting(fault) | SimulationError::Model(fault) => fault.into(),
    }
}
