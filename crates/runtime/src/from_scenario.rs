//! From a scenario's document to a run on this machine: which processors, which driver, what the
//! handler computes.
//!
//! What the simulator alone can do is refused, not left out silently: packets that are sent, and
//! packets of several sizes. The scenario's [effects](warmcore_scenario::Effects) describe costs to
//! the simulator; here the clock tells them.

use crate::driver::counting::CountingDriver;
use crate::driver::device::{self, NewSenders};
use crate::driver::{Driver, DriverError, Memory};
use crate::handler::{Context, Handler};
use crate::options::{Idle, Options, Overload, Shutdown};
use crate::report::Report;
use crate::run::{RunError, run};
use crate::state::HandlerState;
use crate::watch::Watch;
use crate::work::{BuiltIn, Work};
use core::hint::{black_box, spin_loop};
use quanta::Instant;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use warmcore_costs::execution::IncompleteProfile;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_linux::{AffinityError, MappingError, Probe, ProbeError, affinity};
use warmcore_scenario::{
    DriverKind, Live, Mode, OverloadRule, PacketScenario, ProcessorPolicy, ShutdownRule, TrafficError,
};
use warmcore_stack::wire::LinkKind;
use warmcore_stack::{Delivery, Flow};
use warmcore_units::{Bytes, CpuId, Fault, Nanos, PerSecond, StreamId};
use warmcore_workload::{Capture, Key, Trace};

/// A worker that did not look at the clock for longer than this, besides what it was told to
/// compute, was not running.
const STALL: Nanos = Nanos(8e3);
/// What it may take for each cache line that its handler touches.
const MISS: Nanos = Nanos(200.0);
/// Bytes of a cache line.
const LINE: f64 = 64.0;

/// A scenario made ready to be run here.
pub struct Setup {
    /// How.
    pub options: Options,
    /// Where its packets come from.
    pub driver: CountingDriver,
    /// The streams that are open from the beginning.
    pub flows: Vec<Flow>,
    /// Senders that have no stream yet, where the driver has a network behind it.
    pub new_senders: Option<NewSenders>,
    /// The rate at which packets arrive. `None`: as many as are taken in, or as peers send.
    pub rate: Option<PerSecond>,
    /// What was read of the trace that they arrive as in, if they do.
    pub capture: Option<Capture>,
    /// What is done with each packet.
    pub handler: Computation,
}

/// A scenario cannot be run here.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A field that cannot be had, or not here.
    #[error(transparent)]
    Field(#[from] Fault),
    /// The traffic cannot be made.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// The profile lacks what the policy is to weigh.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// The processors of this machine are not known.
    #[error("cannot tell which processors there are: {0}")]
    Machine(#[from] ProbeError),
    /// The processors that this process may use are not known.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// There is no memory for the work between packets.
    #[error("`live.work_kib`: {0}; expected less, or 0 for none")]
    Work(#[from] MappingError),
    /// The driver cannot be made.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl Setup {
    /// Makes `scenario` ready, with the costs of `profile` for policies that weigh them. Files of
    /// the traffic are looked for from `base`.
    ///
    /// # Errors
    /// If there is something in it that cannot be had here. Nothing has been started then.
    pub fn new(scenario: &PacketScenario, profile: &Profile, base: &Path) -> Result<Self, SetupError> {
        let live = &scenario.live;
        check(scenario)?;
        let cpus = cpus(scenario)?;
        let opened = open_driver(scenario, base)?;
        let Frames { driver, flows, new_senders, streams, rate, capture, link } = opened;
        let stacks = scenario.check_stacks(streams)?.clamp(1, streams);
        let saturating = rate.is_none() && live.driver == DriverKind::Memory;
        let costs = scenario.scheduling.approach.costs();
        let options = Options {
            idle: idle(live, cpus.len() as u32, scenario.seed)?,
            model: Arc::new(ExecutionModel::new(profile, costs, cpus.len() as u32)?),
            cpus,
            scheduling: scenario.scheduling,
            streams,
            stacks,
            link,
            verify_udp_checksum: live.verify_udp_checksum,
            // What comes without end would be dropped without end.
            overload: if saturating { Overload::HoldBack } else { overload(live.overload) },
            capacity: live.capacity,
            shutdown: shutdown(live.shutdown),
            stopwatch: None,
            stall: STALL + Nanos(2.0 * live.handler_ns) + MISS * (f64::from(live.handler_bytes) / LINE),
            seed: scenario.seed,
        };
        let answers = live.driver != DriverKind::Memory;
        let time = Duration::from_nanos(live.handler_ns as u64);
        let state = Arc::new(HandlerState::new(streams as usize, live.handler_bytes as usize));
        let handler = Computation { time, state, answers };
        Ok(Self { options, driver: CountingDriver::new(driver), flows, new_senders, rate, capture, handler })
    }

    /// Runs it until `watch` returns.
    ///
    /// # Errors
    /// As [`run`].
    pub fn run(&mut self, watch: impl FnOnce(&Watch<'_>)) -> Result<Report, RunError> {
        run(&self.options, &mut self.driver, &self.flows, &self.handler, watch)
    }
}

/// Whether what `profile` says steers where packets go under `scenario`'s policy: all others decide
/// without costs.
#[must_use]
pub fn weighs_costs(scenario: &PacketScenario) -> bool {
    matches!(scenario.scheduling.policy, ProcessorPolicy::Adaptive | ProcessorPolicy::Patient)
}

/// The processors that one worker each can have by default: a core each, of those that this
/// process may use.
///
/// # Errors
/// If the machine does not say which there are.
pub fn usable_cores() -> Result<Vec<CpuId>, ProbeError> {
    Ok(Probe::new().machine()?.machine.usable_cores())
}

/// What no live run does.
fn check(scenario: &PacketScenario) -> Result<(), Fault> {
    let traffic = &scenario.traffic;
    if traffic.send_fraction > 0.0 {
        let expected = "0: a live run receives, and answers what its handler answers";
        return Err(Fault::new("traffic.send_fraction", traffic.send_fraction, expected));
    }
    if !traffic.sizes.is_empty() {
        let expected = "none: packets of a live run have `live.payload_bytes` bytes of data";
        return Err(Fault::new("traffic.sizes", "given", expected));
    }
    Ok(())
}

/// A processor for each worker.
fn cpus(scenario: &PacketScenario) -> Result<Vec<CpuId>, SetupError> {
    let (wanted, named) = (scenario.processors as usize, &scenario.live.cpus);
    if named.is_empty() {
        let mut cores = usable_cores()?;
        if wanted > cores.len() {
            let expected =
                format!("at most {}, the cores that this process may use: a worker has one", cores.len());
            return Err(Fault::new("processors", wanted, expected).into());
        }
        cores.truncate(wanted);
        return Ok(cores);
    }
    if named.len() != wanted {
        let expected = format!("{}, as many as `live.cpus` names", named.len());
        return Err(Fault::new("processors", wanted, expected).into());
    }
    let usable = affinity::mask()?;
    let mut cpus: Vec<CpuId> = Vec::with_capacity(wanted);
    for cpu in named.iter().copied().map(CpuId) {
        if !usable.contains(cpu) || cpus.contains(&cpu) {
            let expected = format!("each once, of those that this process may use: {usable}");
            return Err(Fault::new("live.cpus", cpu.0, expected).into());
        }
        cpus.push(cpu);
    }
    Ok(cpus)
}

/// What workers do that have no packet. The memory for it is tried here, so that its lack is found
/// before the run; each worker then has its own, made where it runs.
fn idle(live: &Live, workers: u32, seed: u64) -> Result<Idle, MappingError> {
    if live.mode == Mode::Fixed {
        return Ok(Idle::Poll);
    }
    if live.work_kib == 0 {
        return Ok(Idle::Sleep);
    }
    let memory = Bytes::kib(live.work_kib.into());
    let made = move |worker: u32| BuiltIn::new(memory, seed.wrapping_add(worker.into()));
    drop((0..workers).map(made).collect::<Result<Vec<_>, _>>()?);
    Ok(Idle::Work(Arc::new(move |worker| -> Box<dyn Work> {
        match made(worker) {
            Ok(work) => Box::new(work),
            Err(_) => Box::new(spin_loop),
        }
    })))
}

/// A driver, and what it brings.
struct Frames {
    driver: Box<dyn Driver>,
    flows: Vec<Flow>,
    new_senders: Option<NewSenders>,
    streams: u32,
    rate: Option<PerSecond>,
    capture: Option<Capture>,
    link: LinkKind,
}

/// The driver that `scenario` names.
fn open_driver(scenario: &PacketScenario, base: &Path) -> Result<Frames, SetupError> {
    if scenario.live.driver == DriverKind::Memory {
        return memory(scenario, base);
    }
    let streams = scenario.traffic.streams;
    let (driver, new_senders) = device::open(&scenario.live)?;
    let link = LinkKind::Ethernet;
    let (flows, new_senders) = (Vec::new(), Some(new_senders));
    Ok(Frames { driver, flows, new_senders, streams, rate: None, capture: None, link })
}

fn memory(scenario: &PacketScenario, base: &Path) -> Result<Frames, SetupError> {
    let live = &scenario.live;
    let traffic = scenario.traffic.open(base)?;
    let key = Key { seed: scenario.seed, point: 0, replication: 0 };
    let (streams, rate) = (traffic.streams(), scenario.rate_per_s.or_else(|| traffic.own_rate()));
    let driver = match rate {
        Some(rate) => {
            let span = Nanos::from_secs(live.seconds);
            Memory::scheduled(streams, live.payload_bytes, traffic.source(rate, key)?, span)
        }
        None => Memory::saturating(streams, live.payload_bytes, traffic.mix(key)?),
    };
    let flows = (0..streams).map(|stream| Memory::flow(StreamId(stream))).collect();
    let (driver, capture) = (Box::new(driver), traffic.trace().map(Trace::capture));
    Ok(Frames { driver, flows, new_senders: None, streams, rate, capture, link: Memory::LINK })
}

const fn overload(rule: OverloadRule) -> Overload {
    match rule {
        OverloadRule::Drop => Overload::Drop,
        OverloadRule::HoldBack => Overload::HoldBack,
    }
}

const fn shutdown(rule: ShutdownRule) -> Shutdown {
    match rule {
        ShutdownRule::Drain => Shutdown::Drain,
        ShutdownRule::Discard => Shutdown::Discard,
    }
}

/// The handler of a scenario: touches its stream's memory, computes for a while, and where there is somebody to answer, sends
/// the data back.
#[derive(Clone)]
pub struct Computation {
    time: Duration,
    state: Arc<HandlerState>,
    answers: bool,
}

impl Handler for Computation {
    #[inline]
    fn deliver(&self, delivery: &Delivery<'_>, context: &mut Context<'_>) {
        black_box(delivery.payload);
        self.state.touch(delivery.stream);
        if self.answers {
            context.reply(delivery.payload);
        }
        if !self.time.is_zero() {
            let begun = Instant::now();
            while begun.elapsed() < self.time {
                spin_loop();
            }
        }
    }
}
