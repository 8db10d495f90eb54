//! One `tokio` task per stream.

use crate::channels::Feed;
use crate::contender::{Contender, Meter, Run, RunResult, Trial};
use crate::fixture::{self, Message, Record, STREAMS, delivered, merge, send_all, touch};
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

/// A multi-threaded runtime with one task, bounded channel and stack per stream.
pub(crate) struct Tasks {
    pub(crate) feed: Feed,
}

/// State shared by the tasks.
struct TaskState {
    frames: Vec<Prepared>,
    stacks: IndependentStacks,
    clock: Clock,
}

impl Contender for Tasks {
    fn name(&self) -> String {
        format!("tokio, one task per stream{}", self.feed.label())
    }

    fn supports(&self, trial: &Trial) -> bool {
        self.feed.supports(trial)
    }

    fn run(&self, trial: &Trial) -> RunResult {
        let messages = fixture::messages(trial.load)?;
        let stacks = fixture::independent(STREAMS as usize)?;
        let state = Arc::new(TaskState { frames: fixture::frames()?, stacks, clock: Clock::start() });
        let capacity = self.feed.capacity(trial, &messages);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..STREAMS).map(|_| channel(capacity)).unzip();
        let mut senders = Some(senders);
        if self.feed == Feed::Prefilled {
            send_messages(senders.take(), &messages, &state.clock);
        }
        let runtime = runtime(trial)?;
        let meter = Meter::start(trial);
        let start = |(stream, receiver): (usize, Receiver<Message>)| {
            let record = Record::new(&state.clock, trial.load);
            runtime.spawn(work(stream, receiver, Arc::clone(&state), record))
        };
        let tasks: Vec<_> = receivers.into_iter().enumerate().map(start).collect();
        send_messages(senders.take(), &messages, &state.clock);
        let ended = tasks.into_iter().map(|task| runtime.block_on(task)).collect::<Result<Vec<_>, _>>()?;
        let used = meter.stop();
        let (packets, delays) = merge(ended);
        Ok(Run { packets, lost: messages.len() as u64 - packets, used, delays })
    }
}

/// A runtime whose worker threads are pinned as in `trial`.
fn runtime(trial: &Trial) -> io::Result<Runtime> {
    let (workers, trial, started) = (trial.workers, trial.clone(), AtomicUsize::new(0));
    let pin = move || {
        let worker = started.fetch_add(1, Ordering::Relaxed) % trial.workers;
        trial.pin_worker(worker).expect("the processor is usable");
    };
    Builder::new_multi_thread().worker_threads(workers).on_thread_start(pin).build()
}

/// Sends each message to the task of its stream, then closes the channels.
fn send_messages(senders: Option<Vec<Sender<Message>>>, messages: &[Message], clock: &Clock) {
    let Some(senders) = senders else { return };
    send_all(messages, clock, |message| {
        senders[message.stream.index()].blocking_send(message).expect("the task receives");
    });
}

/// Processes the packets of one stream.
async fn work(
    stream: usize,
    mut receiver: Receiver<Message>,
    state: Arc<TaskState>,
    mut record: Record,
) -> (u64, Delays) {
    let (pool, stack) = (Pool::new(4), StackId::from(stream));
    while let Some(message) = receiver.recv().await {
        let frame = &state.frames[message.stream.index()].bytes;
        delivered(state.stacks.receive(stack, &pool, frame, |delivery| touch(&delivery)));
        record.processed(message.at);
    }
    record.finish()
}
