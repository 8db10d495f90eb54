//! Simulating packets with a policy, costs or arrivals that are written in Python.
//!
//! The interpreter's lock is held throughout if packets need it; Ctrl-C arrives in the Python code that is called.

mod nested;
mod run;

pub(crate) use run::{Delays, HighestRate, Observed, OwnTask, Simulated};

use crate::failure::Failure;
use crate::policy::{CostFunction, PythonCosts, PythonPolicy, Raised};
use nested::Level;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use run::Ready;
use warmcore_costs::{ExecutionModel, Profile, Situation};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::{StackQueues, StreamQueue, Waiting};
use warmcore_scenario::chosen::Task;
use warmcore_scenario::document::Checked;
use warmcore_scenario::traffic::TraceFile;
use warmcore_scenario::{OpenTraffic, PacketScenario, Parallelism, Process, QueueRule, Scheduling};
use warmcore_sim::packet::{Packet, PointError, RunNeeds, Shape, Simulation};
use warmcore_units::{Fault, Nanos, PerSecond, StreamId};
use warmcore_workload::{Arrival, Trace};

/// Models of one's own, as `warmcore._models` hands them over.
#[derive(FromPyObject)]
pub(crate) struct Models {
    /// When packets arrive, as 64-bit floats (ns), and their streams, as 32-bit integers: both as bytes in this machine's order.
    arrivals: Option<(PyBackedBytes, PyBackedBytes)>,
    /// What chooses processors.
    policy: Option<Py<PyAny>>,
    /// What results call it.
    pub(crate) policy_name: Option<String>,
    /// Whether its packets wait in one queue, or in one for each processor.
    common_queue: bool,
    /// What packets cost.
    cost: Option<Py<PyAny>>,
}

impl Models {
    /// Whether packets need the interpreter.
    pub(crate) const fn are_code(&self) -> bool {
        self.policy.is_some() || self.cost.is_some()
    }

    /// Whether arrivals stand for the traffic.
    pub(crate) const fn has_arrivals(&self) -> bool {
        self.arrivals.is_some()
    }

    /// What arrives in `scenario`: its traffic, or the arrivals that stand for it.
    pub(crate) fn traffic(&self, scenario: &mut PacketScenario) -> Result<OpenTraffic, Failure> {
        let Some((times, streams)) = &self.arrivals else { return Ok(scenario.traffic.open()?) };
        refuse_length(scenario)?;
        let trace = trace(times, streams)?;
        scenario.traffic.process = Process::Trace(TraceFile { file: "arrivals".into(), time_scale: 1.0 });
        Ok(OpenTraffic::recorded(&scenario.traffic, trace)?)
    }

    /// Does `task` with the simulation of `scenario` under these models.
    ///
    /// # Errors
    /// If the scenario or a model's answer is impossible; what Python raised.
    pub(crate) fn run<T: OwnTask>(
        &self,
        py: Python<'_>,
        scenario: &PacketScenario,
        traffic: OpenTraffic,
        profile: &Profile,
        task: T,
    ) -> Result<T::Output, Failure> {
        let _level = Level::enter()?;
        let raised = Raised::default();
        let traffic = traffic.stopped_by(raised.stop());
        scenario.check()?;
        scenario.check_length()?;
        let streams = traffic.streams();
        let stacks = scenario.check_stacks(streams)?.min(streams);
        let shape = Shape { processors: scenario.processors, streams, stacks };
        let model = ExecutionModel::new(profile, scenario.scheduling.approach.costs(), scenario.processors);
        let model = model.map_err(PointError::Profile)?;
        let rate = match traffic.is_closed() {
            // As fast as processors are by the profile. It only names the random numbers.
            true => {
                PerSecond::every(model.receive_hot(Situation::default())) * f64::from(scenario.processors)
            }
            false => traffic.rate(scenario.rate_per_s)?,
        };
        let function = self.cost.as_ref().map(|cost| CostFunction::new(py, cost, &raised));
        let costs = PythonCosts::new(model.clone(), function.clone(), raised.clone());
        let own = OwnRun { scenario, shape, rate, traffic: &traffic, raised: &raised, costs, function, task };
        let result = match self.policy.as_ref().map(|policy| policy.clone_ref(py)) {
            None => scenario.scheduling.choose(scenario.processors, &model, own),
            Some(policy) if self.common_queue => own.with(PythonPolicy::<true>::new(policy, raised.clone())),
            Some(policy) => own.with(PythonPolicy::<false>::new(policy, raised.clone())),
        };
        // What Python raised comes before what followed from it.
        raised.check()?;
        result
    }
}

/// The packets of `times` (ns) and `streams`, both as bytes.
fn trace(times: &[u8], streams: &[u8]) -> Result<Trace, Failure> {
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

/// Refuses a length of runs that arrays do not follow: all their packets are simulated, once.
fn refuse_length(scenario: &PacketScenario) -> Result<(), Fault> {
    let run = &scenario.run;
    let refused = |field, found: &dyn std::fmt::Display, right: &str| {
        let expected = format!("{right} with arrivals of one's own: all of them are simulated, once");
        Err(Fault::new(field, found, expected))
    };
    if let Some(packets) = run.packets {
        return refused("run.packets", &packets, "none");
    }
    if let Some(packets) = run.warmup_packets {
        return refused("run.warmup_packets", &packets, "none");
    }
    match run.replications {
        1 => Ok(()),
        more => refused("run.replications", &more, "1"),
    }
}

struct OwnRun<'a, T> {
    scenario: &'a PacketScenario,
    shape: Shape,
    rate: PerSecond,
    traffic: &'a OpenTraffic,
    raised: &'a Raised,
    costs: PythonCosts,
    function: Option<CostFunction>,
    task: T,
}

impl<T: OwnTask> Task for OwnRun<'_, T> {
    type Job = Packet;
    type Output = Result<T::Output, Failure>;

    fn on<P: Policy, W: Waiting<Job = Packet>>(self, policy: P) -> Self::Output {
        self.with(policy)
    }
}

impl<T: OwnTask> OwnRun<'_, T> {
    /// Does the task with `policy` and the queues that the scenario asks for.
    fn with<P: Policy>(self, policy: P) -> Result<T::Output, Failure> {
        let Self { scenario, shape, rate, traffic, raised, costs, function, task } = self;
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
        let simulation = match &scenario.traffic.process {
            Process::Poisson => simulation.mean_gap(rate.interval()),
            Process::Closed(closed) => simulation.closed(closed.clone()),
            _ => simulation,
        };
        let simulation = match run.warmup_packets {
            Some(packets) => simulation.warmup_packets(packets),
            None => simulation,
        };
        let needs = RunNeeds::new(shape, scenario, rate);
        let simulation = simulation.shares(traffic.shares()?).capacity_packets(needs.capacity().0);
        let ready = Ready { simulation: (), scenario, rate, needs, traffic, raised, function };
        let Scheduling { approach, queue, .. } = scenario.scheduling;
        match (approach, queue) {
            _ if extensions.queues.limit.is_some() || !extensions.queues.classes.is_empty() => {
                task.perform(ready.with(simulation.queue_rules(extensions.queues)))
            }
            (Parallelism::Ips, _) => task.perform(ready.with(simulation.queues::<StackQueues<Packet>>())),
            (_, QueueRule::SameStreamFirst) => {
                task.perform(ready.with(simulation.queues::<StreamQueue<Packet>>()))
            }
            (_, QueueRule::Fifo) => task.perform(ready.with(simulation)),
        }
    }
}
