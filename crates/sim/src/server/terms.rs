//! What each step takes, worked out once from the measured costs. All times are in nanoseconds.

use super::curve::Curve;
use warmcore_costs::Measured;
use warmcore_costs::server::{AloneTimes, BurstTimes, ServerCosts, Waiting};
use warmcore_costs::socket::{LastUsed, SoftirqCpu};

/// Costs that the prediction needs were not measured.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the costs have no {row}: expected a profile of a complete calibration of this machine")]
pub struct MissingCosts {
    /// What is missing.
    pub row: String,
}

/// Where a worker is, as seen from the softirq of its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// On the same processor.
    Here,
    /// On another one.
    There,
}

/// What each step takes under policies whose workers wait in one way.
#[derive(Clone, PartialEq, Debug)]
pub struct Terms {
    /// From the time at which a request is due until its call begins, on an idle processor.
    pub(super) late: Curve,
    /// The same on a processor that runs its worker, outside the kernel.
    pub(super) late_busy: f64,
    /// Of that, what the worker loses before the call begins.
    pub(super) entry: f64,
    /// What it loses after the last call has ended.
    pub(super) exit: f64,
    /// Between two calls of requests that are due together.
    pub(super) between: f64,
    /// A call that wakes nobody.
    pub(super) call: f64,
    /// The steps of a woken worker, here and there.
    here: Woken,
    there: Option<Woken>,
    /// A cycle of one request without sleeping, and each further request of it.
    pub(super) first: f64,
    pub(super) each: f64,
    /// Falling asleep and waking up.
    pub(super) sleep: f64,
    /// A request whose flow's state was last used elsewhere takes so much more.
    pub(super) state_moves: f64,
    /// One whose socket was.
    pub(super) socket_moves: f64,
}

/// What depends on where the woken worker is.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Woken {
    /// The call that wakes it.
    pub(super) call: Curve,
    /// From the end of that call until the reply is back.
    pub(super) reply: Curve,
    /// Its processor time.
    pub(super) cpu: Curve,
}

impl Woken {
    fn new(costs: &ServerCosts, waiting: Waiting, softirq: SoftirqCpu) -> Option<Self> {
        let curve = |of: fn(&AloneTimes) -> Measured| {
            let rows = costs.alone(waiting, softirq, LastUsed::Here, LastUsed::Here);
            Curve::new(rows.map(|row| (row.idle.0, of(row).mean.0)))
        };
        Some(Self {
            call: curve(|row| row.call)?,
            reply: curve(|row| row.reply)?,
            cpu: curve(|row| row.worker_cpu)?,
        })
    }
}

impl Terms {
    /// The terms of workers that wait so, on this number of processors.
    ///
    /// # Errors
    /// If something was not measured.
    pub fn new(costs: &ServerCosts, waiting: Waiting, processors: usize) -> Result<Self, MissingCosts> {
        let missing = |row: String| move || MissingCosts { row };
        let single = |waiting, softirq| {
            Woken::new(costs, waiting, softirq)
                .ok_or_else(missing(format!("single requests: {waiting}, softirq on the {softirq}")))
        };
        let burst = |waiting| {
            let mut rows = costs.bursts.iter();
            let found = rows.find(|row| row.waiting == waiting && row.softirq_cpu == SoftirqCpu::Reader);
            found.ok_or_else(missing(format!("bursts: {waiting}, softirq on the reader's cpu")))
        };
        let here = single(waiting, SoftirqCpu::Reader)?;
        let there = (processors > 1).then(|| elsewhere(costs, waiting)).transpose()?;
        let late = costs.alone(waiting, SoftirqCpu::Reader, LastUsed::Here, LastUsed::Here);
        let late = Curve::new(late.map(|row| (row.idle.0, row.late.mean.0)));
        let late = late.ok_or_else(missing(format!("single requests: {waiting}")))?;

        // A worker of a shared socket that has more to do takes one request after another without sleeping; one with a
        // socket of its own sleeps in the same system call.
        let shared = if waiting == Waiting::Lifo { Waiting::Lifo } else { Waiting::Fifo };
        let again = slope(burst(shared)?, &single(shared, SoftirqCpu::Reader)?);
        let sleep = (single(shared, SoftirqCpu::Reader)?.cpu.hot() - again).max(0.0);
        let own = burst(waiting)?;
        let (first, each) = match waiting {
            Waiting::Own => ((here.cpu.hot() - sleep).max(0.0), slope(own, &here)),
            Waiting::Fifo | Waiting::Lifo => (again, again),
        };
        let source = &costs.source;
        let call = own.call.mean.0;
        let exit = (source.stolen.mean - source.entry.mean).0 - call;
        Ok(Self {
            late,
            late_busy: source.late_busy.mean.0,
            entry: source.entry.mean.0,
            exit: exit.max(0.0),
            between: (source.stolen_more.mean.0 - call).max(0.0),
            call,
            here,
            there,
            first,
            each,
            sleep,
            state_moves: moves(
                costs,
                (LastUsed::Elsewhere, LastUsed::Elsewhere),
                (LastUsed::Elsewhere, LastUsed::Here),
            ),
            socket_moves: moves(
                costs,
                (LastUsed::Elsewhere, LastUsed::Here),
                (LastUsed::Here, LastUsed::Here),
            ),
        })
    }

    /// The steps of a worker that is woken at this place.
    pub(super) fn woken(&self, place: Place) -> &Woken {
        match (place, &self.there) {
            (Place::There, Some(there)) => there,
            _ => &self.here,
        }
    }
}

/// The steps of a worker woken on another processor: a core of the same node, or what else there is.
fn elsewhere(costs: &ServerCosts, waiting: Waiting) -> Result<Woken, MissingCosts> {
    let kinds = [SoftirqCpu::OtherCore, SoftirqCpu::OtherNode, SoftirqCpu::Sibling];
    kinds.into_iter().find_map(|kind| Woken::new(costs, waiting, kind)).ok_or_else(|| MissingCosts {
        row: format!("single requests: {waiting}, softirq on {}", SoftirqCpu::OtherCore),
    })
}

/// One more request of a burst.
fn slope(burst: &BurstTimes, alone: &Woken) -> f64 {
    ((burst.worker_cpu.mean.0 - alone.cpu.hot()) / (burst.requests as f64 - 1.0)).max(0.0)
}

/// How much more processor time a request takes in one situation (socket, state) than in another, on average over idle
/// times; 0 if it was not measured, as on one processor.
fn moves(costs: &ServerCosts, dear: (LastUsed, LastUsed), cheap: (LastUsed, LastUsed)) -> f64 {
    let times = |(socket, state)| {
        let rows = costs.alone(Waiting::Fifo, SoftirqCpu::Reader, socket, state);
        Curve::new(rows.map(|row| (row.idle.0, row.worker_cpu.mean.0)))
    };
    let (Some(dear), Some(cheap)) = (times(dear), times(cheap)) else { return 0.0 };
    (dear.hot() - cheap.hot()).max(0.0)
}
