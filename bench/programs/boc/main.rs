//! Cowns as a peer of the dispatch queue: one cown per key, under the scheduler of behaviour-oriented
//! concurrency (Cheeseman et al., When Concurrency Matters, OOPSLA 2023).
//!
//! The arguments are the number of workers and the greatest number of waiting events. Prints its version
//! first, then answers each request line:
//!
//! ```text
//! request                      answer
//! time TURNS                   nanoseconds that TURNS turns of the handler's work take
//! run KEYS EVENTS TURNS FILE   seconds, and violations of the order
//! ```
//!
//! `FILE` contains the events' keys, 32 bits each, least significant byte first. The scheduler only runs
//! behaviours, so one behaviour sends the events, on one thread more than the workers.

#[path = "../../benches/dispatch/case.rs"]
mod case;
#[path = "../../benches/dispatch/room.rs"]
mod room;
#[path = "../../benches/dispatch/work.rs"]
mod work;

use boc::{Cown, when0, when1, with_n_threads};
use case::{Case, Event};
use room::{Room, STEP};
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let &[workers, capacity] = &arguments[..] else { return Err("usage: cowns WORKERS CAPACITY".into()) };
    println!("{}", version());
    for line in std::io::stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        match words[..] {
            ["time", turns] => println!("{}", work::nanos_of(turns.parse()?)),
            ["run", keys, events, turns, file] => {
                let (keys, count) = (keys.parse()?, events.parse()?);
                let events = Event::numbered(keys, sequence(file, count)?.into_iter());
                let case = Arc::new(Case::new(events, count, keys, turns.parse()?));
                let seconds = run(&case, workers, capacity);
                println!("{seconds} {}", case.violations());
            }
            _ => return Err(format!("unknown request: {line}").into()),
        }
    }
    Ok(())
}

/// The version of the `boc` crate.
fn version() -> &'static str {
    let entry = include_str!("Cargo.lock").split("name = \"boc\"").nth(1);
    entry.and_then(|entry| entry.split('"').nth(1)).unwrap_or("unknown")
}

/// Reads the keys of the first `count` events.
fn sequence(file: &str, count: usize) -> std::io::Result<Vec<u32>> {
    let mut input = BufReader::new(File::open(file)?);
    let mut key = [0; 4];
    (0..count).map(|_| input.read_exact(&mut key).map(|()| u32::from_le_bytes(key))).collect()
}

/// Returns the seconds until all events have been handled.
fn run(case: &Arc<Case>, workers: usize, capacity: usize) -> f64 {
    let (case, room) = (Arc::clone(case), Arc::new(Room::new(capacity)));
    let begun = Instant::now();
    with_n_threads(workers + 1, || when0(move || send(&case, &room)));
    begun.elapsed().as_secs_f64()
}

/// The value in each cown.
struct CownState {
    case: Arc<Case>,
    room: Arc<Room>,
}

/// Schedules a behaviour for every event.
fn send(case: &Arc<Case>, room: &Arc<Room>) {
    let cown = |_| Cown::new(CownState { case: Arc::clone(case), room: Arc::clone(room) });
    let cowns: Vec<Cown<CownState>> = (0..case.keys()).map(cown).collect();
    for (index, &event) in case.events().iter().enumerate() {
        if index.is_multiple_of(STEP) {
            // A thread keeps the behaviour that it scheduled last for itself, and `enter` may block this thread:
            // so the last one is empty.
            when0(|| ());
            room.enter();
        }
        when1(&cowns[event.key as usize], move |state| {
            state.case.handle(event);
            state.room.leave(1);
        });
    }
}
