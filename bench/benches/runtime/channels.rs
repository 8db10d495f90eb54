//! Worker pools fed through `crossbeam-channel`.

use crate::contender::{Contender, Load, Meter, Run, RunResult, Trial};
use crate::fixture::{self, Message, Record, delivered, merge, send_all, touch};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::thread;
use warmcore_runtime::clock::Clock;
use warmcore_runtime::driver::Prepared;
use warmcore_runtime::tally::Delays;
use warmcore_stack::{IndependentStacks, LockingStack, Pool};
use warmcore_units::StackId;

/// Messages that a channel holds at saturation, unless it is prefilled.
const SATURATION_CAPACITY: usize = 1024;
/// Messages that a channel holds below saturation.
const PACED_CAPACITY: usize = 65_536;

/// When packets are sent to a peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feed {
    /// Before the clock starts.
    Prefilled,
    /// While the clock runs, by a thread on the same processors.
    Concurrent,
}

impl Feed {
    /// Whether a peer that is fed this way is measured in `trial`.
    pub(crate) fn supports(self, trial: &Trial) -> bool {
        self == Self::Concurrent || trial.load == Load::Saturation
    }

    /// The capacity of each channel, in messages.
    pub(crate) fn capacity(self, trial: &Trial, messages: &[Message]) -> usize {
        match (self, trial.load) {
            (Self::Prefilled, _) => messages.len(),
            (Self::Concurrent, Load::Saturation) => SATURATION_CAPACITY,
            (Self::Concurrent, Load::Rate(_)) => PACED_CAPACITY,
        }
    }

    /// Its part of the contender's name.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Prefilled => ", prefilled",
            Self::Concurrent => "",
        }
    }
}

/// How channels and stacks are shared among workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sharing {
    /// One channel and one locking stack for all workers.
    Pool,
    /// One channel and one stack per worker; each stream belongs to one worker.
    Sharded,
}

/// A pool of worker threads.
pub(crate) struct Channels {
    pub(crate) sharing: Sharing,
    pub(crate) feed: Feed,
}

/// State shared by the workers of a pool.
struct PoolState {
    frames: Vec<Prepared>,
    locking: LockingStack,
    independent: IndependentStacks,
    clock: Clock,
}

impl Contender for Channels {
    fn name(&self) -> String {
        let sharing = match self.sharing {
            Sharing::Pool => "crossbeam pool, locking stack",
            Sharing::Sharded => "crossbeam, one channel per worker",
        };
        format!("{sharing}{}", self.feed.label())
    }

    fn supports(&self, trial: &Trial) -> bool {
        self.feed.supports(trial) && (trial.workers > 1 || self.sharing == Sharing::Sharded)
    }

    fn run(&self, trial: &Trial) -> RunResult {
        let messages = fixture::messages(trial.load)?;
        let state = PoolState {
            frames: fixture::frames()?,
            locking: fixture::locking()?,
            independent: fixture::independent(trial.workers)?,
            clock: Clock::start(),
        };
        let channels = if self.sharing == Sharing::Pool { 1 } else { trial.workers };
        let capacity = self.feed.capacity(trial, &messages);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..channels).map(|_| bounded(capacity)).unzip();
        let mut senders = Some(senders);
        if self.feed == Feed::Prefilled {
            send_messages(senders.take(), &messages, &state.clock);
        }
        let meter = Meter::start(trial);
        let (packets, delays) = thread::scope(|scope| {
            let spawn = |worker: usize| {
                let (state, receiver) = (&state, receivers[worker % channels].clone());
                scope.spawn(move || self.work(worker, trial, state, &receiver))
            };
            let workers: Vec<_> = (0..trial.workers).map(spawn).collect();
            send_messages(senders.take(), &messages, &state.clock);
            merge(workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")))
        });
        let lost = messages.len() as u64 - packets;
        Ok(Run { packets, lost, used: meter.stop(), delays })
    }
}

/// Sends each message to the channel of its stream, then closes the channels.
fn send_messages(senders: Option<Vec<Sender<Message>>>, messages: &[Message], clock: &Clock) {
    let Some(senders) = senders else { return };
    send_all(messages, clock, |message| {
        let sender = &senders[message.stream.index() % senders.len()];
        sender.send(message).expect("a worker receives");
    });
}

impl Channels {
    fn work(
        &self,
        worker: usize,
        trial: &Trial,
        state: &PoolState,
        receiver: &Receiver<Message>,
    ) -> (u64, Delays) {
        trial.pin_worker(worker).expect("the processor is usable");
        let (pool, stack) = (Pool::new(4), StackId::from(worker));
        let mut record = Record::new(&state.clock, trial.load);
        for message in receiver {
            let frame = &state.frames[message.stream.index()].bytes;
            delivered(match self.sharing {
                Sharing::Pool => state.locking.receive(&pool, frame, |delivery| touch(&delivery)),
                Sharing::Sharded => {
                    state.independent.receive(stack, &pool, frame, |delivery| touch(&delivery))
                }
            });
            record.processed(message.at);
        }
        record.finish()
    }
}
