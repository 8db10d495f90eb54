//! Turns a scenario document into a run on this machine: its processors, its driver and what the
//! handler computes.
//!
//! Features that only the simulator has, packets that are sent and packets of several sizes, are
//! refused, not silently ignored. The scenario's [effects](warmcore_scenario::Effects) describe costs
//! to the simulator; a live run measures them.

pub use crate::cores::usable_cores;

use crate::driver::counting::CountingDriver;
use crate::driver::device::{self, NewSenders};
use crate::driver::{Driver, DriverError, Memory};
use crate::handler::{Context, Handler};
use crate::options::{Idle, OnStuck, Options, Overload, Shutdown};
use crate::report::Report;
use crate::run::run;
use crate::run_error::RunError;
use crate::run_handle::RunHandle;
use crate::state::HandlerState;
use crate::work::{BuiltIn, Work};
use core::hint::{black_box, spin_loop};
use quanta::Instant;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use warmcore_costs::execution::IncompleteProfile;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_linux::{AffinityError, MappingError, ProbeError, affinity};
use warmcore_scenario::{
    DriverKind, Live, Mode, OverloadRule, PacketScenario, ProcessorPolicy, ShutdownRule, TrafficError,
};
use warmcore_stack::rpc::BootId;
use warmcore_stack::wire::LinkKind;
use warmcore_stack::{Conversations, Delivery, Flow};
use warmcore_units::{Bytes, CpuId, Fault, Nanos, PerSecond, StreamId};
use warmcore_workload::{Capture, Key, Trace};

/// A worker that did not read the clock for longer than this, on top of what its handler computes, was
/// not running.
const STALL: Nanos = Nanos(8e3);
/// Time allowed for each cache line that the handler touches.
const CACHE_MISS: Nanos = Nanos(200.0);
/// Bytes of a cache line.
const CACHE_LINE: f64 = 64.0;

/// A scenario prepared for a run on this machine.
pub struct Setup {
    /// The options of the run.
    pub options: Options,
    /// The driver that packets come from.
    pub driver: CountingDriver,
    /// The streams that are open from the start.
    pub flows: Vec<Flow>,
    /// Senders without a stream; `None` for drivers without a network.
    pub new_senders: Option<NewSenders>,
    /// The rate at which packets arrive. `None`: as fast as they are taken, or as peers send.
    pub rate: Option<PerSecond>,
    /// Which part of a trace was read, if packets arrive as in a trace.
    pub capture: Option<Capture>,
    /// The handler of each packet.
    pub handler: Computation,
}

/// Why a scenario cannot be run on this machine.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A field has a value that cannot be used, or not on this machine.
    #[error(transparent)]
    Field(#[from] Fault),
    /// The traffic cannot be generated.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// The profile lacks costs that the policy needs.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// The processors of this machine are not known.
    #[error("cannot tell which processors there are: {0}")]
    Machine(#[from] ProbeError),
    /// The affinity of this process cannot be read.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// No memory for the work between packets.
    #[error("`live.work_kib`: {0}; expected less, or 0 for none")]
    Work(#[from] MappingError),
    /// The driver cannot be opened.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl Setup {
    /// Prepares `scenario`, with the costs of `profile` for policies that need them.
    ///
    /// # Errors
    /// If the scenario asks for something that is not available here. Nothing has been started then.
    pub fn new(scenario: &PacketScenario, profile: &Profile) -> Result<Self, SetupError> {
        let live = &scenario.live;
        check(scenario)?;
        let cpus = cpus(scenario)?;
        let opened = open_driver(scenario)?;
        let OpenedDriver { driver, flows, new_senders, streams, rate, capture, link } = opened;
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
            conversations: conversations(live),
            // Saturating traffic never ends, so dropping would not either.
            overload: if saturating { Overload::HoldBack } else { overload(live.overload) },
            capacity: live.capacity,
            shutdown: shutdown(live.shutdown),
            drain_limit: Options::DRAIN_LIMIT,
            on_stuck: OnStuck::default(),
            stopwatch: None,
            stall: STALL
                + Nanos(2.0 * live.handler_ns)
                + CACHE_MISS * (f64::from(live.handler_bytes) / CACHE_LINE),
            seed: scenario.seed,
        };
        let answer = match live.driver {
            DriverKind::Memory => Answer::Bytes(vec![0xa5; live.reply_bytes.into()]),
            _ => Answer::Echo,
        };
        let time = Duration::from_nanos(live.handler_ns as u64);
        let state = Arc::new(HandlerState::new(streams as usize, live.handler_bytes as usize));
        let handler = Computation { time, state, answer };
        Ok(Self { options, driver: CountingDriver::new(driver), flows, new_senders, rate, capture, handler })
    }

    /// Runs the scenario until `watch` returns.
    ///
    /// # Errors
    /// See [`run`].
    pub fn run(&mut self, watch: impl FnOnce(&RunHandle<'_>)) -> Result<Report, RunError> {
        run(&self.options, &mut self.driver, &self.flows, &self.handler, watch)
    }
}

/// Whether the policy of `scenario` uses the costs of a profile. All other policies decide without
/// costs.
#[must_use]
pub fn weighs_costs(scenario: &PacketScenario) -> bool {
    matches!(scenario.scheduling.policy, ProcessorPolicy::Adaptive | ProcessorPolicy::Patient)
}

/// Refuses what a live run cannot do.
fn check(scenario: &PacketScenario) -> Result<(), Fault> {
    scenario.check_runnable()?;
    if let Some(transport) = scenario.live.driver.of_sockets() {
        let expected =
            "memory, packet-socket, xdp or tun: a server on the kernel's sockets has policies of its own";
        return Err(Fault::new("live.driver", format_args!("{transport}-socket"), expected));
    }
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

/// Chooses a processor for each worker.
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
        if cpus.contains(&cpu) {
            return Err(Fault::new("live.cpus", format!("{} twice", cpu.0), "each cpu once").into());
        }
        if !usable.contains(cpu) {
            let expected = format!("cpus among {usable}, which this process may use");
            return Err(Fault::new("live.cpus", cpu.0, expected).into());
        }
        cpus.push(cpu);
    }
    Ok(cpus)
}

/// What workers do when they have no packet. Memory for the work is allocated here once, so that a lack
/// of it is found before the run. Each worker then allocates its own where it runs.
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

/// An open driver and what belongs to it.
struct OpenedDriver {
    driver: Box<dyn Driver>,
    flows: Vec<Flow>,
    new_senders: Option<NewSenders>,
    streams: u32,
    rate: Option<PerSecond>,
    capture: Option<Capture>,
    link: LinkKind,
}

/// Opens the driver that `scenario` names.
fn open_driver(scenario: &PacketScenario) -> Result<OpenedDriver, SetupError> {
    if scenario.live.driver == DriverKind::Memory {
        return memory(scenario);
    }
    let streams = scenario.traffic.streams;
    let (driver, new_senders) = device::open(&scenario.live)?;
    let link = LinkKind::Ethernet;
    let (flows, new_senders) = (Vec::new(), Some(new_senders));
    Ok(OpenedDriver { driver, flows, new_senders, streams, rate: None, capture: None, link })
}

fn memory(scenario: &PacketScenario) -> Result<OpenedDriver, SetupError> {
    let live = &scenario.live;
    let traffic = scenario.traffic.open()?;
    let key = Key { seed: scenario.seed, point: 0, replication: 0 };
    let (streams, rate) = (traffic.streams(), scenario.rate_per_s.or_else(|| traffic.own_rate()));
    let driver = match rate {
        Some(rate) => {
            let span = Nanos::from_secs(live.seconds);
            Memory::scheduled(streams, live.payload_bytes, traffic.source(rate, key)?, span)
        }
        None => Memory::saturating(streams, live.payload_bytes, traffic.mix(key)?),
    };
    let driver = driver.with_conversations(conversations(live));
    let flows = (0..streams).map(|stream| Memory::flow(StreamId(stream))).collect();
    let (driver, capture) = (Box::new(driver), traffic.trace().map(Trace::capture));
    Ok(OpenedDriver { driver, flows, new_senders: None, streams, rate, capture, link: Memory::LINK })
}

/// What streams are in place of datagrams. The incarnation of an RPC server is the time of its start.
fn conversations(live: &Live) -> Option<Conversations> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let boot = NonZeroU32::new(since_1970.as_secs() as u32).unwrap_or(NonZeroU32::MIN);
    Conversations::serving(live.transport, BootId(boot))
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

/// The handler of a scenario: touches its stream's memory, computes for a while and, with a network
/// driver, sends the data back.
#[derive(Clone)]
pub struct Computation {
    time: Duration,
    state: Arc<HandlerState>,
    answer: Answer,
}

/// What a handler answers.
#[derive(Clone)]
enum Answer {
    /// What it received.
    Echo,
    /// These bytes; nothing if there are none.
    Bytes(Vec<u8>),
}

impl Handler for Computation {
    #[inline]
    fn deliver(&self, delivery: &Delivery<'_>, context: &mut Context<'_>) {
        black_box(delivery.payload);
        self.state.touch(delivery.stream);
        match &self.answer {
            Answer::Echo => context.reply(delivery.payload),
            Answer::Bytes(bytes) if bytes.is_empty() => {}
            Answer::Bytes(bytes) => context.reply(bytes),
        }
        if !self.time.is_zero() {
            let begun = Instant::now();
            while begun.elapsed() < self.time {
                spin_loop();
            }
        }
    }
}
