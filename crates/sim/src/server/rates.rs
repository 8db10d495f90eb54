//! What a policy's requests cost, from the measured costs of a server, as plain numbers of nanoseconds.
//!
//! A worker's time for a request that it need not wake up for is the slope of the bursts. What single requests take beyond it
//! is the cost of waking up and falling asleep. A worker with its own socket waits in the same system call as one that shares
//! a socket in order of arrival (of connections: last in, first out), so it pays the same for that; the rest of its single request is the first of a batch.

use crate::server::curve::{Curve, Idle};
use crate::server::worker::most_at_once;
use warmcore_costs::server::{AloneTimes, ServerCosts, Waiting};
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_scenario::ServerPolicy;
use warmcore_units::Transport;

/// A measurement that a simulation needs, and that the costs do not contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MissingCosts {
    /// Single requests in one situation.
    #[error(
        "the costs lack single requests ({waiting}, softirq on {softirq_cpu}, socket last used {socket}, state last used \
         {state}); measure them again on as many processors"
    )]
    Alone {
        /// How the workers wait.
        waiting: Waiting,
        /// The processor of the softirq, as seen from the worker's.
        softirq_cpu: SoftirqCpu,
        /// Where the socket was last used.
        socket: LastUsed,
        /// Where the flow's state was last used.
        state: LastUsed,
    },
    /// Requests that come together.
    #[error(
        "the costs lack bursts ({waiting}, softirq on {softirq_cpu}); measure them again on as many processors"
    )]
    Burst {
        /// How the worker waits.
        waiting: Waiting,
        /// The processor of the softirq, as seen from the worker's.
        softirq_cpu: SoftirqCpu,
    },
}

/// What requests cost under one policy.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Rates {
    /// From a request's due time to the source's call, on a processor that is idle.
    pub(super) late: Curve,
    /// The same on a processor that runs its worker, outside the kernel.
    pub(super) late_busy: f64,
    /// What a source takes from the worker after its last call.
    pub(super) exit: f64,
    /// What each call after the first takes from the worker beyond the call itself.
    pub(super) exit_more: f64,
    /// The part of a request's time in which the worker is in the kernel, and no interrupt's thread can take its place.
    pub(super) kernel_section: f64,
    /// The most requests that a worker takes at once from its own socket.
    pub(super) most_at_once: usize,
    /// With the softirq on the worker's processor.
    pub(super) here: PlaceRates,
    /// With the softirq on another one; the same as here where that never happens.
    pub(super) elsewhere: PlaceRates,
}

/// What requests cost with the softirq in one place, as seen from the worker.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PlaceRates {
    /// A source's call that wakes a worker.
    pub(super) waking_call: Curve,
    /// A source's call that wakes nobody.
    pub(super) call: f64,
    /// The first request of a cycle.
    pub(super) first: f64,
    /// Each further request of a cycle.
    pub(super) each: f64,
    /// Waking up and falling asleep, together.
    pub(super) sleep: f64,
    /// What idle time adds to the first cycle after it.
    pub(super) cold: Curve,
    /// From the end of a call that wakes the worker until its cycle begins.
    pub(super) wake_up: Curve,
    /// What a flow's state adds that was last used on another processor.
    pub(super) state: Moved,
    /// What a shared socket adds that was last used on another processor.
    pub(super) socket: Moved,
}

/// What something adds to a request because it comes from another processor.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Moved {
    /// To the time until its reply.
    time: Curve,
    /// To the processor time of the worker.
    cpu: Curve,
}

impl Moved {
    /// Time and processor time after `idle`.
    #[inline]
    pub(super) fn at(&self, idle: Idle) -> (f64, f64) {
        (self.time.at(idle), self.cpu.at(idle))
    }
}

/// A server with a short handler is in the kernel nearly all the time.
const ALL_IN_KERNEL: f64 = 1.0;

/// Other processors in the order in which their measurements are looked for.
const OTHERS: [SoftirqCpu; 3] = [SoftirqCpu::OtherCore, SoftirqCpu::Sibling, SoftirqCpu::OtherNode];

impl Rates {
    /// The costs of `policy` on this many processors.
    pub(super) fn new(
        costs: &ServerCosts,
        policy: ServerPolicy,
        processors: u32,
    ) -> Result<Self, MissingCosts> {
        let measured = MeasuredCosts { costs, waiting: policy.waiting(), may_move: processors > 1 };
        let here = measured.place(SoftirqCpu::Reader)?;
        let mut late = measured.alone(SoftirqCpu::Reader, |row| row.late.mean.0)?;
        let elsewhere = if processors > 1 && policy != ServerPolicy::ByCpu {
            let is_measured = |&other: &SoftirqCpu| costs.alone.iter().any(|row| row.softirq_cpu == other);
            let other = OTHERS.into_iter().find(is_measured).unwrap_or(OTHERS[0]);
            // A source wakes up in the same way, whoever is to get its request: two measurements of one time.
            late = late.with(&measured.alone(other, |row| row.late.mean.0)?, f64::midpoint);
            measured.place(other)?
        } else {
            here.clone()
        };
        let source = &costs.source;
        // They were measured with a socket that nobody reads, so the call wakes nobody.
        let exit = (source.stolen.mean.0 - source.late_busy.mean.0 - here.call).max(0.0);
        let exit_more = (source.stolen_more.mean.0 - here.call).max(0.0);
        let late_busy = source.late_busy.mean.0;
        let kernel_section = ALL_IN_KERNEL;
        let most_at_once = most_at_once(f64::midpoint(here.each, elsewhere.each));
        Ok(Self { late, late_busy, exit, exit_more, kernel_section, most_at_once, here, elsewhere })
    }

    /// The costs with the softirq on another processor than the worker's, or on the same.
    #[inline]
    pub(super) fn place(&self, is_elsewhere: bool) -> &PlaceRates {
        if is_elsewhere { &self.elsewhere } else { &self.here }
    }
}

/// The measured costs, as one policy needs them.
struct MeasuredCosts<'c> {
    costs: &'c ServerCosts,
    waiting: Waiting,
    /// Whether there is another processor that a socket or a state could come from.
    may_move: bool,
}

impl MeasuredCosts<'_> {
    /// How workers wait that share a socket, and sleep in the same system call as one that has its own.
    const fn shared(&self) -> Waiting {
        match self.costs.transport {
            Transport::Tcp => Waiting::Lifo,
            Transport::Udp | Transport::Rpc => Waiting::Fifo,
        }
    }

    fn place(&self, softirq_cpu: SoftirqCpu) -> Result<PlaceRates, MissingCosts> {
        let worker_cpu = self.alone(softirq_cpu, |row| row.worker_cpu.mean.0)?;
        let (each, sleep) = match self.waiting {
            Waiting::Own => {
                let shared = self.slope(self.shared(), softirq_cpu)?;
                let single = self.curve(self.shared(), softirq_cpu, HERE, |row| row.worker_cpu.mean.0)?;
                (self.own_slope(softirq_cpu, shared)?, (single.hot() - shared).max(0.0))
            }
            Waiting::Fifo | Waiting::Lifo => {
                let each = self.slope(self.waiting, softirq_cpu)?;
                (each, (worker_cpu.hot() - each).max(0.0))
            }
        };
        let first = match self.waiting {
            Waiting::Own => (worker_cpu.hot() - sleep).max(0.0),
            Waiting::Fifo | Waiting::Lifo => each,
        };
        let cold = worker_cpu.above_hot();
        let reply = self.alone(softirq_cpu, |row| row.reply.mean.0)?;
        let (state, socket) = self.moves(softirq_cpu)?;
        Ok(PlaceRates {
            waking_call: self.alone(softirq_cpu, |row| row.call.mean.0)?,
            call: self.burst_call(softirq_cpu)?,
            first,
            each,
            sleep,
            wake_up: reply.with(&cold, |reply, cold| reply - cold - first),
            cold,
            state,
            socket,
        })
    }

    /// The slope of bursts to a worker's own socket. From another processor, if none was measured, it is the local one and
    /// what `shared`, the slope of a shared socket, has more than locally.
    fn own_slope(&self, softirq_cpu: SoftirqCpu, shared: f64) -> Result<f64, MissingCosts> {
        let local = SoftirqCpu::Reader;
        match self.slope(Waiting::Own, softirq_cpu) {
            Err(MissingCosts::Burst { .. }) if softirq_cpu != local => {
                Ok((self.slope(Waiting::Own, local)? + shared - self.slope(self.shared(), local)?).max(0.0))
            }
            slope => slope,
        }
    }

    /// What a request takes of a worker that does not sleep before it. The longest burst shows it best.
    fn slope(&self, waiting: Waiting, softirq_cpu: SoftirqCpu) -> Result<f64, MissingCosts> {
        let single = self.curve(waiting, softirq_cpu, HERE, |row| row.worker_cpu.mean.0)?.hot();
        let bursts = self.costs.bursts.iter();
        let burst = bursts
            .filter(|row| (row.waiting, row.softirq_cpu) == (waiting, softirq_cpu) && row.requests > 1)
            .max_by_key(|row| row.requests)
            .ok_or(MissingCosts::Burst { waiting, softirq_cpu })?;
        Ok(((burst.worker_cpu.mean.0 - single) / (burst.requests - 1) as f64).max(0.0))
    }

    /// A call that wakes nobody. Without bursts from another processor to a worker's own socket, it is the local one and
    /// what that to a shared socket has more than locally.
    fn burst_call(&self, softirq_cpu: SoftirqCpu) -> Result<f64, MissingCosts> {
        let mean = |waiting, softirq_cpu| {
            let rows = self.costs.bursts.iter();
            let calls: Vec<f64> = rows
                .filter(|row| (row.waiting, row.softirq_cpu) == (waiting, softirq_cpu))
                .map(|row| row.call.mean.0)
                .collect();
            let missing = MissingCosts::Burst { waiting, softirq_cpu };
            if calls.is_empty() { Err(missing) } else { Ok(calls.iter().sum::<f64>() / calls.len() as f64) }
        };
        let local = SoftirqCpu::Reader;
        match mean(self.waiting, softirq_cpu) {
            Err(_) if self.waiting == Waiting::Own && softirq_cpu != local => {
                let more = mean(self.shared(), softirq_cpu)? - mean(self.shared(), local)?;
                Ok((mean(Waiting::Own, local)? + more).max(0.0))
            }
            call => call,
        }
    }

    /// What state and socket add that come from another processor. Only a shared socket lets them move.
    fn moves(&self, softirq_cpu: SoftirqCpu) -> Result<(Moved, Moved), MissingCosts> {
        if self.waiting == Waiting::Own || !self.may_move {
            let nothing = Moved { time: Curve::constant(0.0), cpu: Curve::constant(0.0) };
            return Ok((nothing.clone(), nothing));
        }
        let more = |situation, than, time: fn(&AloneTimes) -> f64| {
            let of = |situation| self.curve(Waiting::Fifo, softirq_cpu, situation, time);
            Ok(of(situation)?.with(&of(than)?, |a, b| a - b))
        };
        let moved = |situation, than| {
            Ok(Moved {
                time: more(situation, than, |row| row.reply.mean.0)?,
                cpu: more(situation, than, |row| row.worker_cpu.mean.0)?,
            })
        };
        Ok((moved(BOTH_ELSEWHERE, SOCKET_ELSEWHERE)?, moved(SOCKET_ELSEWHERE, HERE)?))
    }

    /// A time of the policy's single requests, with socket and state used here.
    fn alone(&self, softirq_cpu: SoftirqCpu, time: fn(&AloneTimes) -> f64) -> Result<Curve, MissingCosts> {
        self.curve(self.waiting, softirq_cpu, HERE, time)
    }

    fn curve(
        &self,
        waiting: Waiting,
        softirq_cpu: SoftirqCpu,
        (socket, state): (LastUsed, LastUsed),
        time: fn(&AloneTimes) -> f64,
    ) -> Result<Curve, MissingCosts> {
        let rows = self.costs.alone(waiting, softirq_cpu, socket, state);
        let missing = MissingCosts::Alone { waiting, softirq_cpu, socket, state };
        Curve::new(rows.map(|row| (row.idle.0, time(row)))).ok_or(missing)
    }
}

/// Where socket and state were last used.
const HERE: (LastUsed, LastUsed) = (LastUsed::Here, LastUsed::Here);
const SOCKET_ELSEWHERE: (LastUsed, LastUsed) = (LastUsed::Elsewhere, LastUsed::Here);
const BOTH_ELSEWHERE: (LastUsed, LastUsed) = (LastUsed::Elsewhere, LastUsed::Elsewhere);
