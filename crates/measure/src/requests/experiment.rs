//! What is measured of a server: single requests and bursts, in each situation.

use crate::sockets::processors::Processors;
use core::fmt;
use core::time::Duration;
use warmcore_costs::server::Waiting;
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_runtime::server::Policy;
use warmcore_units::Transport;

/// One experiment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum RequestExperiment {
    /// What a source takes from the thread that its processor runs.
    Source,
    /// Single requests to one worker.
    Alone { waiting: Waiting, softirq: SoftirqCpu, gap: Gap },
    /// Single requests to two workers that take turns; a flow's state goes from one to the other with `state` elsewhere.
    Turns { state: LastUsed, gap: Gap },
    /// Requests that are due together, to one worker that slept before.
    Burst { waiting: Waiting, softirq: SoftirqCpu },
}

/// Between two requests, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Gap(pub(crate) u32);

/// A part of a request's way, or what it takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Part {
    /// From the time at which it is due until its call begins.
    Late,
    /// The source's call.
    Call,
    /// From its end until the reply is there.
    Reply,
    /// Processor time of the worker: for each request, or in a burst for all of them.
    WorkerCpu,
    /// How long nothing ran before.
    Idle,
    /// Reading one reply.
    Read,
    /// What one request takes from the thread that the processor runs.
    Stolen,
    /// What one more takes that is due at the same time.
    StolenMore,
}

/// Requests of a burst.
pub(crate) const BURST: usize = 16;
/// Requests of a run, where the gap is not long.
const MOST: usize = 200;
/// Requests of a run at least.
const LEAST: usize = 15;
/// Approximate length of a run.
const RUN: Duration = Duration::from_millis(50);

impl Gap {
    /// The gaps of a plan.
    pub(crate) const ALL: [Self; 4] = [Self(100), Self(400), Self(2_000), Self::LONGEST];

    /// The longest: nearly every handler is done with one request before the next comes.
    pub(crate) const LONGEST: Self = Self(10_000);

    pub(crate) fn time(self) -> Duration {
        Duration::from_micros(u64::from(self.0))
    }

    /// The number of requests of a run.
    pub(crate) fn requests(self) -> usize {
        ((RUN.as_micros() / u128::from(self.0.max(1))) as usize).clamp(LEAST, MOST)
    }
}

impl RequestExperiment {
    /// Every experiment that `processors` and the `transport` allow.
    pub(crate) fn all(processors: &Processors, gaps: &[Gap], transport: Transport) -> Vec<Self> {
        let mut places = vec![SoftirqCpu::Reader];
        places.extend(processors.kinds());
        let mut all = vec![Self::Source];
        // Workers of connections are woken last in, first out only. Then none takes turns with another.
        let waitings: &[Waiting] = match transport {
            Transport::Tcp => &[Waiting::Own, Waiting::Lifo],
            Transport::Udp | Transport::Rpc => &[Waiting::Own, Waiting::Fifo, Waiting::Lifo],
        };
        for &waiting in waitings {
            for &softirq in &places {
                all.extend(gaps.iter().map(|&gap| Self::Alone { waiting, softirq, gap }));
                all.push(Self::Burst { waiting, softirq });
            }
        }
        if waitings.contains(&Waiting::Fifo) && processors.kinds().contains(&SoftirqCpu::OtherCore) {
            for state in [LastUsed::Here, LastUsed::Elsewhere] {
                all.extend(gaps.iter().map(|&gap| Self::Turns { state, gap }));
            }
        }
        all
    }
}

/// The policy under which workers wait so.
pub(crate) const fn policy(waiting: Waiting) -> Policy {
    match waiting {
        Waiting::Own => Policy::KernelHash,
        Waiting::Fifo => Policy::SharedFifo,
        Waiting::Lifo => Policy::SharedLifo,
    }
}

impl fmt::Display for RequestExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source => f.write_str("what sources take"),
            Self::Alone { waiting, softirq, gap } => {
                write!(f, "single requests every {} µs: {waiting}, softirq on {softirq}", gap.0)
            }
            Self::Turns { state, gap } => {
                write!(f, "workers in turn every {} µs: state last used {state}", gap.0)
            }
            Self::Burst { waiting, softirq } => write!(f, "{BURST} at once: {waiting}, softirq on {softirq}"),
        }
    }
}
