//! Calibration of the kernel's receive path: what a datagram costs from its sender's system call to a program's
//! socket, part by part, where caches are hot, displaced by other work, or last used on another processor.
//!
//! The question is that of Salehi, Kurose & Towsley 1994, asked of the kernel: its softirq takes the place of their
//! protocol thread, and the socket that of their session.
//!
//! ```text
//! sender's call ─► veth or loopback ─► softirq ─► socket ─► reader: receive ─► handler ─► answer
//! ├──── send ────────────────────────┤├─ softirq ─┤        ├── receive ──┤
//! ```
//!
//! # Clocks
//! * System calls are timed with the processor's counter ([`Timer`](crate::Timer)), read twice on one processor. The time
//!   of an empty pair of readings is subtracted.
//! * *Send* ends, and *softirq* begins, when the kernel puts the packet into the queue of the processor that runs the
//!   softirq and reads its real-time clock (`SO_TIMESTAMPNS`). The same clock is read between two readings of the
//!   counter just before the call; half the distance of these, some 20 to 40 ns, is the error of the border between
//!   both parts. Their sum has no such error.
//! * By interrupt (RPS), *softirq* is what it takes from a thread on that processor that does nothing but read the
//!   counter: the longest step, while a datagram arrives. So the interrupt is in it.
//! * The way to a sleeping reader is timed across processors with the system's monotonic clock.
//! * The processor time of a sleeping reader is the kernel's (`CLOCK_THREAD_CPUTIME_ID`), over a whole run.
//!
//! # What must hold
//! * Every datagram that was sent is received, and its bytes are checked; else the calibration fails.
//! * A packet during which a measuring thread was preempted does not count, except that it may lose its processor
//!   during a millisecond of other work. A run in which most packets do not count is disturbed.
//! * Nothing outlives the calibration: namespaces end with their descriptors.

mod asleep;
mod datagram;
pub(crate) mod error;
mod experiment;
mod idle;
mod notes;
mod outcome;
pub(crate) mod processors;
mod profile;
mod rounds;
pub(crate) mod site;
#[cfg(test)]
mod tests;
mod turns;

pub use error::SocketError;

use crate::calibrate::interleaved;
use crate::calibrate::progress::{Observer, ProgressReporter};
use crate::clock::Timer;
use crate::error::{CalibrateError, RunError};
use crate::requests::service::{Payloads, ServedHandler, Service};
use crate::requests::{self, RequestPlan};
use crate::run::intervening::Workload;
use core::sync::atomic::AtomicBool;
use experiment::{STATE_BYTES, SocketExperiment};
use outcome::Outcome;
use processors::Processors;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rounds::SocketRounds;
use site::Site;
use std::time::{Duration, Instant};
use warmcore_costs::ServerCosts;
use warmcore_costs::socket::SocketProfile;
use warmcore_linux::pin_to;
use warmcore_topology::Machine;
use warmcore_units::Transport;

/// How much to measure.
#[derive(Clone, Debug)]
pub struct SocketPlan {
    /// Time budget for the parts of a datagram's way.
    pub budget: Duration,
    /// Time budget for the requests to servers, with each handler.
    pub server_budget: Duration,
    /// What these servers do, each with a budget of its own.
    pub handlers: Vec<ServedHandler>,
    /// How they are asked; over TCP, the parts of a datagram's way are not measured.
    pub transport: Transport,
    /// What they are asked; otherwise requests of [`payload_bytes`](Self::payload_bytes).
    pub requests: Option<Payloads>,
    /// Least number of runs before the half-width of a value is trusted.
    pub least_runs: u32,
    /// The half-width to reach, as a fraction of the mean.
    pub target: f64,
    /// Datagrams of a run; after long other work there are fewer.
    pub packets_per_run: usize,
    /// Bytes of payload of a datagram, from [`LEAST_PAYLOAD_BYTES`](Self::LEAST_PAYLOAD_BYTES) to
    /// [`MAX_PAYLOAD_BYTES`](Self::MAX_PAYLOAD_BYTES).
    pub payload_bytes: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl SocketPlan {
    /// The most payload of one frame of the test network.
    pub const MAX_PAYLOAD_BYTES: usize = 1500 - 28;
    /// In less time than this a study measures an echo only.
    const BOTH_HANDLERS: Duration = Duration::from_secs(30);
    /// The most state of a flow, in bytes.
    pub const MAX_STATE_BYTES: usize = 16 << 20;
    /// A datagram holds its number.
    pub const LEAST_PAYLOAD_BYTES: usize = if datagram::LEAST_BYTES > requests::LEAST_BYTES {
        datagram::LEAST_BYTES
    } else {
        requests::LEAST_BYTES
    };

    /// A plan for reliable results, in some two minutes.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            budget: Duration::from_secs(50),
            server_budget: Duration::from_secs(40),
            handlers: vec![ServedHandler::State(0), ServedHandler::State(STATE_BYTES)],
            transport: Transport::Udp,
            requests: None,
            least_runs: 10,
            target: 0.02,
            packets_per_run: 200,
            payload_bytes: 256,
            seed: 1994,
        }
    }

    /// A plan for a first look, in some 20 seconds, with an echo only.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            budget: Duration::from_secs(7),
            server_budget: Duration::from_secs(12),
            handlers: vec![ServedHandler::State(0)],
            least_runs: 5,
            packets_per_run: 100,
            ..Self::standard()
        }
    }

    /// The part of a study that is about servers, in so much time: with both handlers if it is enough for them.
    #[must_use]
    pub fn within_study(budget: Duration) -> Self {
        let plan = if budget < Self::BOTH_HANDLERS { Self::quick() } else { Self::standard() };
        let server_budget = budget / plan.handlers.len() as u32;
        Self { budget: Duration::ZERO, server_budget, ..plan }
    }

    /// The same for the costs of requests to servers of this `service` alone, without the parts of a datagram's way.
    #[must_use]
    pub fn servers_only(self, service: Service) -> Self {
        let Service { handler, payloads, transport } = service;
        Self { budget: Duration::ZERO, handlers: vec![handler], requests: Some(payloads), transport, ..self }
    }

    fn all(&self) -> Duration {
        self.budget + self.server_budget * self.handlers.len() as u32
    }

    /// Checks that the datagrams can be sent and told apart.
    ///
    /// # Errors
    /// If the payload is too short or too long.
    pub fn check(&self) -> Result<(), CalibrateError> {
        let state = |handler: &ServedHandler| match handler {
            ServedHandler::State(bytes) => Some(*bytes),
            ServedHandler::Library(..) => None,
        };
        let max = Self::MAX_STATE_BYTES;
        if let Some(bytes) = self.handlers.iter().filter_map(state).find(|bytes| *bytes > max) {
            return Err(CalibrateError::StateTooLarge { bytes, max });
        }
        let (least, max) = (Self::LEAST_PAYLOAD_BYTES, Self::MAX_PAYLOAD_BYTES);
        if (least..=max).contains(&self.payload_bytes) {
            return Ok(());
        }
        Err(CalibrateError::PayloadOutOfRange { bytes: self.payload_bytes, least, max })
    }
}

/// Measures the kernel's receive path on `machine` as `plan` says.
///
/// # Errors
/// See [`CalibrateError`]; with `stop` set, [`CalibrateError::Interrupted`] within moments.
pub fn calibrate_sockets(
    machine: &Machine,
    plan: &SocketPlan,
    observer: &mut Observer<'_>,
    stop: &AtomicBool,
) -> Result<SocketProfile, CalibrateError> {
    let deadline = Instant::now() + plan.budget;
    plan.check()?;
    let processors = Processors::of(machine).ok_or(CalibrateError::NoProcessor)?;
    let site = Site::new().map_err(RunError::Socket)?;
    let timer = {
        let _pinned = pin_to(processors.reader)?;
        Timer::calibrate()
    };
    let steering = site.steer(Some(processors.reader)).and_then(|()| site.steer(None));
    let experiments = match plan.transport {
        Transport::Tcp => Vec::new(),
        Transport::Udp | Transport::Rpc => SocketExperiment::all(&processors.kinds(), steering.is_ok()),
    };
    let context = SocketContext {
        processors: &processors,
        site: &site,
        timer: &timer,
        stop,
        payload_bytes: plan.payload_bytes,
    };
    let workloads = [Workload::new(plan.seed)?, Workload::new(plan.seed + 1)?];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    let mut forward = |progress| observer(progress);
    let mut report = ProgressReporter::new(&mut forward);
    let share = |time: Duration| time.as_secs_f64() / plan.all().as_secs_f64().max(1e-3);
    report.begin("the kernel's sockets", share(plan.budget));
    let mut rounds = SocketRounds::new(&context, plan, experiments, workloads);
    interleaved::complete(&mut rounds, deadline, &mut rng, &mut report)?;
    report.at(1.0);
    let mut notes = match plan.transport {
        Transport::Tcp => notes::place(&context),
        Transport::Udp | Transport::Rpc => notes::all(&context, plan, steering.err(), &rounds),
    };
    let servers = servers(&context, plan, &mut report, &mut notes)?;
    let profile = profile::profile(machine, &context, plan, &rounds, notes).ok_or(RunError::NothingTimed)?;
    let profile = SocketProfile { servers, ..profile };
    profile.check().map_err(CalibrateError::Contradiction)?;
    Ok(profile)
}

/// Measures what requests cost servers, with each handler of the plan.
fn servers(
    context: &SocketContext<'_>,
    plan: &SocketPlan,
    report: &mut ProgressReporter<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<ServerCosts>, CalibrateError> {
    let mut servers = Vec::new();
    let payloads = plan.requests.clone().unwrap_or_else(|| Payloads::equal(plan.payload_bytes));
    for (number, handler) in plan.handlers.iter().enumerate() {
        let done = plan.budget + plan.server_budget * (number as u32 + 1);
        report.begin("requests to a server", done.as_secs_f64() / plan.all().as_secs_f64());
        let asked = RequestPlan {
            budget: plan.server_budget,
            least_runs: plan.least_runs,
            target: plan.target,
            service: Service {
                handler: handler.clone(),
                payloads: payloads.clone(),
                transport: plan.transport,
            },
            seed: plan.seed,
        };
        let measured = requests::calibrate(context.site, context.processors, &asked, report, context.stop)?;
        servers.push(measured.costs);
        notes.extend(measured.notes);
    }
    Ok(servers)
}

/// What all runs share.
pub(crate) struct SocketContext<'a> {
    processors: &'a Processors,
    site: &'a Site,
    timer: &'a Timer,
    stop: &'a AtomicBool,
    payload_bytes: usize,
}

impl SocketContext<'_> {
    /// Makes one run of `experiment`, of so many timed `packets`.
    fn run(
        &self,
        experiment: SocketExperiment,
        packets: usize,
        workloads: &mut [Workload; 2],
    ) -> Result<Outcome, RunError> {
        match experiment {
            SocketExperiment::Turns(situation, probe) => {
                turns::run(self, situation, probe, packets, workloads)
            }
            SocketExperiment::Batch(datagrams) => idle::batches(self, datagrams, packets),
            SocketExperiment::EmptyPoll => idle::empty_polls(self, packets),
            SocketExperiment::Asleep => asleep::run(self, packets),
        }
    }
}
