//! What else is used for events with keys.

use crate::WORKERS;
use crate::material::{Case, Event};
use crossbeam_channel::bounded;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Messages that a channel holds.
const BOUND: usize = 1024;
/// Events in a message, where they are sent in batches.
const BATCH: usize = 64;
/// Events that are grouped by key at once.
const GROUPED: usize = 8_192;

fn worker_of(event: Event) -> usize {
    // As even a split as there is, whatever the keys are.
    (event.key.wrapping_mul(0x9e37_79b9) >> 16) as usize % WORKERS
}

/// No queue, no other thread.
pub(crate) fn inline(case: &Arc<Case>) {
    case.events.iter().for_each(|&event| case.handle(event));
}

/// Two threads that know their events from the beginning.
pub(crate) fn split(case: &Arc<Case>) {
    thread::scope(|scope| {
        for me in 0..WORKERS {
            scope.spawn(move || {
                case.events
                    .iter()
                    .filter(|event| worker_of(**event) == me)
                    .for_each(|&event| case.handle(event));
            });
        }
    });
}

pub(crate) fn crossbeam_by_event(case: &Arc<Case>) {
    thread::scope(|scope| {
        let senders: Vec<_> = (0..WORKERS)
            .map(|_| {
                let (sender, receiver) = bounded::<Event>(BOUND);
                scope.spawn(move || receiver.iter().for_each(|event| case.handle(event)));
                sender
            })
            .collect();
        case.events.iter().for_each(|&event| senders[worker_of(event)].send(event).expect("it is open"));
    });
}

pub(crate) fn crossbeam_in_batches(case: &Arc<Case>) {
    thread::scope(|scope| {
        let senders: Vec<_> = (0..WORKERS)
            .map(|_| {
                let (sender, receiver) = bounded::<Vec<Event>>(BOUND / BATCH);
                scope.spawn(move || receiver.iter().flatten().for_each(|event| case.handle(event)));
                sender
            })
            .collect();
        let mut batches: Vec<Vec<Event>> = (0..WORKERS).map(|_| Vec::with_capacity(BATCH)).collect();
        for &event in &case.events {
            let worker = worker_of(event);
            batches[worker].push(event);
            if batches[worker].len() == BATCH {
                let batch = core::mem::replace(&mut batches[worker], Vec::with_capacity(BATCH));
                senders[worker].send(batch).expect("it is open");
            }
        }
        for (sender, batch) in senders.iter().zip(batches) {
            sender.send(batch).expect("it is open");
        }
    });
}

pub(crate) fn sync_channel(case: &Arc<Case>) {
    thread::scope(|scope| {
        let senders: Vec<_> = (0..WORKERS)
            .map(|_| {
                let (sender, receiver) = mpsc::sync_channel::<Event>(BOUND);
                scope.spawn(move || receiver.iter().for_each(|event| case.handle(event)));
                sender
            })
            .collect();
        case.events.iter().for_each(|&event| senders[worker_of(event)].send(event).expect("it is open"));
    });
}

fn pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(WORKERS).build().expect("workers can be started")
}

/// A batch is sorted into groups, and the next begins when all of them are done.
pub(crate) fn rayon_in_batches(case: &Arc<Case>) {
    let pool = pool();
    let mut groups: Vec<Vec<Event>> = vec![Vec::new(); case.keys];
    let mut used = Vec::new();
    for batch in case.events.chunks(GROUPED) {
        for &event in batch {
            let group = &mut groups[event.key as usize];
            if group.is_empty() {
                used.push(event.key as usize);
            }
            group.push(event);
        }
        let groups_of: Vec<&Vec<Event>> = used.iter().map(|&key| &groups[key]).collect();
        pool.install(|| {
            groups_of.par_iter().for_each(|group| group.iter().for_each(|&event| case.handle(event)));
        });
        used.drain(..).for_each(|key| groups[key].clear());
    }
}

/// A queue for each key, which is a task of the pool as long as it is not empty.
#[derive(Default)]
struct Strand {
    events: Mutex<VecDeque<Event>>,
    scheduled: AtomicBool,
}

pub(crate) fn rayon_strands(case: &Arc<Case>) {
    let strands: Vec<Strand> = (0..case.keys).map(|_| Strand::default()).collect();
    let room = Room::default();
    pool().scope(|scope| {
        for &event in &case.events {
            room.enter();
            let strand = &strands[event.key as usize];
            strand.events.lock().expect("nobody panics").push_back(event);
            if !strand.scheduled.swap(true, Ordering::AcqRel) {
                let room = &room;
                scope.spawn(move |_| run_strand(case, strand, room));
            }
        }
    });
}

fn run_strand(case: &Case, strand: &Strand, room: &Room) {
    loop {
        let events = core::mem::take(&mut *strand.events.lock().expect("nobody panics"));
        let count = events.len();
        events.into_iter().for_each(|event| case.handle(event));
        room.leave(count);
        if count == 0 {
            strand.scheduled.store(false, Ordering::Release);
            let waits = !strand.events.lock().expect("nobody panics").is_empty();
            if !waits || strand.scheduled.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }
}

/// Bounds what is in a queue that has no bound of its own.
#[derive(Default)]
struct Room {
    inside: Mutex<usize>,
    left: Condvar,
}

impl Room {
    fn enter(&self) {
        let inside = self.inside.lock().expect("nobody panics");
        let mut inside = self.left.wait_while(inside, |inside| *inside >= GROUPED).expect("nobody panics");
        *inside += 1;
    }

    fn leave(&self, count: usize) {
        *self.inside.lock().expect("nobody panics") -= count;
        self.left.notify_one();
    }
}

/// One queue for all; who takes an event takes its key's lock before the next one may be taken.
pub(crate) fn mutex_by_key(case: &Arc<Case>) {
    let locks: Vec<Mutex<()>> = (0..case.keys).map(|_| Mutex::new(())).collect();
    let (sender, receiver) = mpsc::sync_channel::<Event>(BOUND);
    let receiver = Arc::new(Mutex::new(receiver));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            let (receiver, locks) = (receiver.clone(), &locks);
            scope.spawn(move || {
                loop {
                    let queue = receiver.lock().expect("nobody panics");
                    let Ok(event) = queue.recv() else { break };
                    let key = locks[event.key as usize].lock().expect("nobody panics");
                    drop(queue);
                    case.handle(event);
                    drop(key);
                }
            });
        }
        case.events.iter().for_each(|&event| sender.send(event).expect("it is open"));
        drop(sender);
    });
}

/// A task for each key; for a million of them, one for each of 1,024 groups of keys.
pub(crate) fn tokio_by_key(case: &Arc<Case>) {
    const MOST: usize = 1_024;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).build();
    let runtime = runtime.expect("workers can be started");
    let tasks = case.keys.min(MOST);
    runtime.block_on(async {
        let mut joined = Vec::new();
        let senders: Vec<_> = (0..tasks)
            .map(|_| {
                let (sender, mut receiver) = tokio::sync::mpsc::channel::<Event>(BOUND);
                let case = case.clone();
                joined.push(tokio::spawn(async move {
                    while let Some(event) = receiver.recv().await {
                        case.handle(event);
                    }
                }));
                sender
            })
            .collect();
        for &event in &case.events {
            senders[event.key as usize % tasks].send(event).await.expect("it is open");
        }
        drop(senders);
        for task in joined {
            task.await.expect("nobody panics");
        }
    });
}
