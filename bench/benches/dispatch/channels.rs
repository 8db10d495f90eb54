//! A channel for each worker, to which keys are bound.

use crate::bare::worker_of;
use crate::case::{Case, Event};
use crate::{BATCH, BOUND, WORKERS};
use crossbeam_channel::bounded;
use std::sync::{Arc, mpsc};
use std::thread;

pub(crate) fn crossbeam_by_event(case: &Arc<Case>) {
    thread::scope(|scope| {
        let senders: Vec<_> = (0..WORKERS)
            .map(|_| {
                let (sender, receiver) = bounded::<Event>(BOUND);
                scope.spawn(move || receiver.iter().for_each(|event| case.handle(event)));
                sender
            })
            .collect();
        case.events().iter().for_each(|&event| senders[worker_of(event)].send(event).expect("it is open"));
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
        for &event in case.events() {
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
        case.events().iter().for_each(|&event| senders[worker_of(event)].send(event).expect("it is open"));
    });
}
