//! Worker pools fed through `crossbeam-channel`.

use crate::material::{self, Message, Record, delivered, send_all, together, touch};
use crate::trial::{Entrant, Load, Meter, Run, Trial, TrialResult};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::thread;
use warmcore_runtime::clock::Clock;
use warmcore_runtime::driver::Prepared;
use warmcore_runtime::tally::Delays;
use warmcore_stack::{IndependentStacks, LockingStack, Pool};
use warmcore_units::StackId;

/// Messages that a channel holds while a sender feeds it at saturation, and below it.
pub(crate) const FED: usize = 1024;
pub(crate) const PACED: usize = 65_536;

/// How a peer gets its packets at saturation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feeding {
    /// Its channels are full before the clock starts: nobody sends meanwhile.
    Before,
    /// A thread sends, on the processors of the workers.
    Meanwhile,
}

impl Feeding {
    /// Whether a peer that is fed in this way can do `trial`.
    pub(crate) fn suits(self, trial: &Trial) -> bool {
        self == Self::Meanwhile || trial.load == Load::Saturation
    }

    /// The length of a channel for `messages`.
    pub(crate) fn capacity(self, trial: &Trial, messages: &[Message]) -> usize {
        match (self, trial.load) {
            (Self::Before, _) => messages.len(),
            (Self::Meanwhile, Load::Saturation) => FED,
            (Self::Meanwhile, Load::Rate(_)) => PACED,
        }
    }

    pub(crate) fn says(self) -> &'static str {
        match self {
            Self::Before => ", filled before",
            Self::Meanwhile => "",
        }
    }
}

/// Who takes from which channel, and the stack that goes with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sharing {
    /// All workers from one, a locking stack.
    Pool,
    /// Each from its own, to which its streams are sent; a stack for each.
    Sharded,
}

/// A pool of worker threads.
pub(crate) struct Channels {
    pub(crate) sharing: Sharing,
    pub(crate) feeding: Feeding,
}

/// What the workers of a pool share.
struct Shop {
    frames: Vec<Prepared>,
    locking: LockingStack,
    independent: IndependentStacks,
    clock: Clock,
}

impl Entrant for Channels {
    fn name(&self) -> String {
        let sharing = match self.sharing {
            Sharing::Pool => "crossbeam pool, locking stack",
            Sharing::Sharded => "crossbeam channel a worker",
        };
        format!("{sharing}{}", self.feeding.says())
    }

    fn takes_part(&self, trial: &Trial) -> bool {
        self.feeding.suits(trial) && (trial.workers > 1 || self.sharing == Sharing::Sharded)
    }

    fn run(&self, trial: &Trial) -> TrialResult {
        let messages = material::messages(trial.load)?;
        let shop = Shop {
            frames: material::frames()?,
            locking: material::locking()?,
            independent: material::independent(trial.workers)?,
            clock: Clock::start(),
        };
        let channels = if self.sharing == Sharing::Pool { 1 } else { trial.workers };
        let capacity = self.feeding.capacity(trial, &messages);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..channels).map(|_| bounded(capacity)).unzip();
        let mut senders = Some(senders);
        if self.feeding == Feeding::Before {
            feed(senders.take(), &messages, &shop.clock);
        }
        let meter = Meter::start(trial);
        let (packets, delays) = thread::scope(|scope| {
            let hire = |worker: usize| {
                let (shop, receiver) = (&shop, receivers[worker % channels].clone());
                scope.spawn(move || self.work(worker, trial, shop, &receiver))
            };
            let workers: Vec<_> = (0..trial.workers).map(hire).collect();
            feed(senders.take(), &messages, &shop.clock);
            together(workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")))
        });
        let lost = messages.len() as u64 - packets;
        Ok(Run { packets, lost, spent: meter.stop(), delays })
    }
}

/// Sends `messages` to the channels that their streams have, and closes these.
fn feed(senders: Option<Vec<Sender<Message>>>, messages: &[Message], clock: &Clock) {
    let Some(senders) = senders else { return };
    send_all(messages, clock, |message| {
        let sender = &senders[message.stream.index() % senders.len()];
        sender.send(message).expect("somebody receives");
    });
}

impl Channels {
    fn work(&self, worker: usize, trial: &Trial, shop: &Shop, receiver: &Receiver<Message>) -> (u64, Delays) {
        trial.settle(worker).expect("the processor is there");
        let (pool, stack) = (Pool::new(4), StackId::from(worker));
        let mut record = Record::new(&shop.clock, trial.load);
        for message in receiver {
            let frame = &shop.frames[message.stream.index()].bytes;
            delivered(match self.sharing {
                Sharing::Pool => shop.locking.receive(&pool, frame, |delivery| touch(&delivery)),
                Sharing::Sharded => {
                    shop.independent.receive(stack, &pool, frame, |delivery| touch(&delivery))
                }
            });
            record.processed(message.at);
        }
        record.finish()
    }
}
