//! The pool of `rayon`.

use crate::case::{Case, Event};
use crate::room::{Room, STEP};
use crate::{ROOM, WORKERS};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

fn pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(WORKERS).build().expect("workers can be started")
}

/// A batch is sorted into groups, and the next begins when all of them are done.
pub(crate) fn in_batches(case: &Arc<Case>) {
    let pool = pool();
    let mut groups: Vec<Vec<Event>> = vec![Vec::new(); case.keys()];
    let mut used = Vec::new();
    for batch in case.events().chunks(ROOM) {
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

pub(crate) fn strands(case: &Arc<Case>) {
    let strands: Vec<Strand> = (0..case.keys()).map(|_| Strand::default()).collect();
    let room = Room::new(ROOM);
    pool().in_place_scope(|scope| {
        for (index, &event) in case.events().iter().enumerate() {
            if index.is_multiple_of(STEP) {
                room.enter();
            }
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
