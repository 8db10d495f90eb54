//! Tasks of `tokio`, one for each stream.

use crate::channels::Feeding;
use crate::material::{self, Message, Record, STREAMS, delivered, send_all, together, touch};
use crate::trial::{Entrant, Meter, Run, Trial, TrialResult};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use warmcore_runtime::clock::Clock;
use warmcore_runtime::driver::Prepared;
use warmcore_runtime::tally::Delays;
use warmcore_stack::{IndependentStacks, Pool};
use warmcore_units::StackId;

/// A multi-threaded runtime with a task, a bounded channel and a stack for each stream.
pub(crate) struct Tasks {
    pub(crate) feeding: Feeding,
}

/// What the tasks share.
struct Shop {
    frames: Vec<Prepared>,
    stacks: IndependentStacks,
    clock: Clock,
}

impl Entrant for Tasks {
    fn name(&self) -> String {
        format!("tokio task a stream{}", self.feeding.says())
    }

    fn takes_part(&self, trial: &Trial) -> bool {
        self.feeding.suits(trial)
    }

    fn run(&self, trial: &Trial) -> TrialResult {
        let messages = material::messages(trial.load)?;
        let stacks = material::independent(STREAMS as usize)?;
        let shop = Arc::new(Shop { frames: material::frames()?, stacks, clock: Clock::start() });
        let capacity = self.feeding.capacity(trial, &messages);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..STREAMS).map(|_| channel(capacity)).unzip();
        let mut senders = Some(senders);
        if self.feeding == Feeding::Before {
            feed(senders.take(), &messages, &shop.clock);
        }
        let runtime = runtime(trial)?;
        let meter = Meter::start(trial);
        let start = |(stream, receiver): (usize, Receiver<Message>)| {
            let record = Record::new(&shop.clock, trial.load);
            runtime.spawn(work(stream, receiver, Arc::clone(&shop), record))
        };
        let tasks: Vec<_> = receivers.into_iter().enumerate().map(start).collect();
        feed(senders.take(), &messages, &shop.clock);
        let ended = tasks.into_iter().map(|task| runtime.block_on(task)).collect::<Result<Vec<_>, _>>()?;
        let spent = meter.stop();
        let (packets, delays) = together(ended);
        Ok(Run { packets, lost: messages.len() as u64 - packets, spent, delays })
    }
}

fn runtime(trial: &Trial) -> io::Result<Runtime> {
    let (settled, started) = (trial.clone(), AtomicUsize::new(0));
    let settle = move || {
        let worker = started.fetch_add(1, Ordering::Relaxed) % settled.workers;
        settled.settle(worker).expect("the processor is there");
    };
    Builder::new_multi_thread().worker_threads(trial.workers).on_thread_start(settle).build()
}

/// Sends `messages` to the tasks of their streams, and closes the channels.
fn feed(senders: Option<Vec<Sender<Message>>>, messages: &[Message], clock: &Clock) {
    let Some(senders) = senders else { return };
    send_all(messages, clock, |message| {
        senders[message.stream.index()].blocking_send(message).expect("the task receives");
    });
}

/// The task of a stream.
async fn work(
    stream: usize,
    mut receiver: Receiver<Message>,
    shop: Arc<Shop>,
    mut record: Record,
) -> (u64, Delays) {
    let (pool, stack) = (Pool::new(4), StackId::from(stream));
    while let Some(message) = receiver.recv().await {
        let frame = &shop.frames[message.stream.index()].bytes;
        delivered(shop.stacks.receive(stack, &pool, frame, |delivery| touch(&delivery)));
        record.processed(message.at);
    }
    record.finish()
}
