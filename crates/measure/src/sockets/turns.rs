//! Datagrams one by one: a baton says who acts, so that nothing else happens while a part is timed.
//!
//! A datagram has three phases:
//!
//! 1. *Ready*, by the reader, when its other work is done.
//! 2. *Send*, by the sender. It does its own other work before, at the same time as the reader.
//! 3. *Receive*, by the reader, and check.
//!
//! Where the sender's processor is the reader's, one thread does all three. By interrupt the reader reads the counter
//! without pause from the first phase until the third has come and a step was long: the softirq interrupted it.

mod participant;

use crate::clock::Ticks;
use crate::error::RunError;
use crate::run::baton::{Alarm, Baton, RaiseUnlessDone};
use crate::run::handover::exchange;
use crate::run::intervening::Workload;
use crate::sockets::SocketContext;
use crate::sockets::error::SocketError;
use crate::sockets::experiment::{Part, Probe, STATE_BYTES, Situation};
use crate::sockets::outcome::{Outcome, Time};
use crate::sockets::site::Endpoints;
use participant::Participant;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use warmcore_costs::socket::{Delivery, LastUsed, SoftirqCpu};
use warmcore_linux::pin_to;
use warmcore_units::{CpuId, Nanos};

const PHASES: u64 = 3;
/// Other work from this length on is shared with what else the processor does: a thread that loses it meanwhile is not
/// disturbed.
const SHARED: Nanos = Nanos(1e6);
/// Packets before those that are timed; fewer if other work makes them long.
const SETTLING: usize = 10;
const SETTLING_SHARED: usize = 2;

/// Runs `packets` timed datagrams in `situation`.
pub(crate) fn run(
    context: &SocketContext<'_>,
    situation: Situation,
    probe: Probe,
    packets: usize,
    workloads: &mut [Workload; 2],
) -> Result<Outcome, RunError> {
    let by_interrupt = situation.delivery == Delivery::Interrupt;
    if by_interrupt {
        let reader = context.processors.reader;
        context.site.steer(Some(reader)).map_err(steering_failed)?;
    }
    let settling = if situation.work() < SHARED { SETTLING } else { SETTLING_SHARED };
    let partner = context.processors.partner(situation.softirq);
    let turns = Turns {
        context,
        situation,
        probe,
        cpus: [context.processors.reader, partner],
        endpoints: context.site.endpoints()?,
        baton: Baton::new(vec![0; STATE_BYTES]),
        distance: Baton::new(()),
        alarm: Alarm::new(context.stop),
        settling,
        length: settling + packets,
        epoch: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
    };
    let result = turns.run(workloads);
    if by_interrupt {
        context.site.steer(None).map_err(steering_failed)?;
    }
    result
}

fn steering_failed(reason: String) -> RunError {
    RunError::Socket(SocketError::Failed {
        doing: "steering the packets of",
        source: io::Error::other(reason),
    })
}

/// One run.
struct Turns<'a> {
    context: &'a SocketContext<'a>,
    situation: Situation,
    probe: Probe,
    /// The reader's, or the first of two readers', and the other thread's.
    cpus: [CpuId; 2],
    endpoints: Endpoints,
    /// With the state that a handler uses.
    baton: Baton<Vec<u8>>,
    distance: Baton<()>,
    alarm: Alarm<'a>,
    settling: usize,
    length: usize,
    /// Real-time readings count from here, to be exact in nanoseconds.
    epoch: Duration,
}

/// What one thread saw.
#[derive(Default)]
struct Seen {
    times: Vec<Time>,
    /// When calls began, and when the kernel received their datagrams, by packet, in nanoseconds since the epoch.
    began: BTreeMap<usize, f64>,
    received: BTreeMap<usize, f64>,
    disturbed: BTreeSet<usize>,
    exchanges: [Option<Ticks>; 2],
}

impl Turns<'_> {
    const fn reader(&self, packet: usize) -> usize {
        match self.situation.last_used {
            LastUsed::Here => 0,
            LastUsed::Elsewhere => packet % 2,
        }
    }

    fn sender(&self, packet: usize) -> usize {
        let in_reader =
            self.situation.softirq == SoftirqCpu::Reader && self.situation.delivery == Delivery::InCall;
        if in_reader { self.reader(packet) } else { 1 - self.reader(packet) }
    }

    fn run(&self, workloads: &mut [Workload; 2]) -> Result<Outcome, RunError> {
        let [first, second] = workloads;
        let (seen, other) = thread::scope(|scope| {
            let other = (!self.situation.is_alone())
                .then(|| thread::Builder::new().spawn_scoped(scope, || self.run_thread(1, second)))
                .transpose()?;
            let mine = scope.spawn(|| self.run_thread(0, first));
            let other = other.map(|other| other.join().unwrap_or(Err(RunError::Panicked))).transpose();
            let mine = mine.join().unwrap_or(Err(RunError::Panicked));
            // The error of a thread that only noticed the other's is used last.
            match (mine, other) {
                (Err(RunError::PartnerFailed), Err(error)) | (Err(error), _) | (Ok(_), Err(error)) => {
                    Err(error)
                }
                (Ok(mine), Ok(other)) => Ok((mine, other.unwrap_or_default())),
            }
        })?;
        Ok(self.merge(seen, other))
    }

    /// The times of both threads, and those that need what both saw.
    fn merge(&self, mut seen: Seen, other: Seen) -> Outcome {
        seen.times.extend(other.times);
        seen.began.extend(other.began);
        seen.received.extend(other.received);
        seen.disturbed.extend(other.disturbed);
        let halves: Vec<Time> = seen
            .times
            .iter()
            .filter(|time| time.part == Part::Call)
            .filter_map(|&Time { packet, nanos: call, .. }| {
                let send = seen.received.get(&packet)? - seen.began.get(&packet)?;
                let times = [(Part::Send, send), (Part::Softirq, call - send)];
                Some(times.map(|(part, nanos)| Time { packet, part, nanos }))
            })
            .flatten()
            .collect();
        seen.times.extend(halves);
        let timed = |packet: &usize| (self.settling..self.length).contains(packet);
        seen.times.retain(|time| timed(&time.packet));
        seen.disturbed.retain(timed);
        let [began, ended] = seen.exchanges.map(|ticks| Some(self.context.timer.nanos(ticks? as f64).0));
        let readings = began.zip(ended).map(|(began, ended)| [began, ended]);
        Outcome::new(seen.times, self.length - self.settling, &seen.disturbed, readings)
    }

    fn run_thread(&self, me: usize, work: &mut Workload) -> Result<Seen, RunError> {
        let watch = RaiseUnlessDone::new(&self.alarm);
        let _pinned = pin_to(self.cpus[me])?;
        let mut thread = Participant::new(self, me, work);
        if !self.situation.is_alone() {
            thread.seen.exchanges[0] = exchange(&self.distance, &self.alarm, me, 0)?;
        }
        for packet in 0..self.length {
            self.alarm.check()?;
            thread.take_part(packet)?;
        }
        if self.probe == Probe::Answer && self.sender(0) == me {
            drop(self.baton.take(PHASES * self.length as u64, &self.alarm)?);
            thread.collect_answer(self.length)?;
        }
        if !self.situation.is_alone() {
            thread.seen.exchanges[1] = exchange(&self.distance, &self.alarm, me, 1)?;
        }
        let seen = thread.seen;
        watch.done();
        Ok(seen)
    }
}
