//! Cowns as a peer of the dispatch queue: one for each key, under the scheduler of behaviour-oriented
//! concurrency (Cheeseman et al., When Concurrency Matters, OOPSLA 2023).
//!
//! Started with the number of workers and of events that may wait. First says its version, then answers
//! each line:
//!
//! ```text
//! time TURNS                   NANOSECONDS that so many turns of the handler's work take
//! run KEYS EVENTS TURNS FILE   SECONDS VIOLATIONS
//! ```
//!
//! `FILE` has the events' keys, 32 bits each, least significant byte first. The scheduler runs behaviours
//! only, so one of them sends, on a thread beside the workers'.

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
    let &[workers, capacity] = &arguments[..] else { return Err("usage: cowns WORKERS ROOM".into()) };
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
            _ => return Err(format!("not understood: {line}").into()),
        }
    }
    Ok(())
}

/// The version of the crate that this is built with.
fn version() -> &'static str {
    let entry = include_str!("Cargo.lock").split("name = \"boc\"").nth(1);
    entry.and_then(|entry| entry.split('"').nth(1)).unwrap_or("unknown")
}

/// The keys of the first `count` events.
fn sequence(file: &str, count: usize) -> std::io::Result<Vec<u32>> {
    let mut input = BufReader::new(File::open(file)?);
    let mut key = [0; 4];
    (0..count).map(|_| input.read_exact(&mut key).map(|()| u32::from_le_bytes(key))).collect()
}

/// Seconds until all events have been handled.
fn run(case: &Arc<Case>, workers: usize, capacity: usize) -> f64 {
    let (case, room) = (Arc::clone(case), Arc::new(Room::new(capacity)));
    let begun = Instant::now();
    with_n_threads(workers + 1, || when0(move || send(&case, &room)));
    begun.elapsed().as_secs_f64()
}

/// What a behaviour finds behind a cown.
struct Shop {
    case: Arc<Case>,
    room: Arc<Room>,
}

fn send(case: &Arc<Case>, room: &Arc<Room>) {
    let shop = |_| Cown::new(Shop { case: Arc::clone(case), room: Arc::clone(room) });
    let cowns: Vec<Cown<Shop>> = (0..case.keys()).map(shop).collect();
    for (index, &event) in case.events().iter().enumerate() {
        if index.is_multiple_of(STEP) {
            // The behaviour that a thread schedules last is kept for it, and this one may wait now.
            when0(|| ());
            room.enter();
        }
        when1(&cowns[event.key as usize], move |shop| {
            shop.case.handle(event);
            shop.room.leave(1);
        });
    }
}
