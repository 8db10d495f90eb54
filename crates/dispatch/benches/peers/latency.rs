//! How long an event waits from its dispatch to the beginning of its handler, where events come one by
//! one at a given rate.

use crate::WORKERS;
use crate::handler::Handler;
use crate::random::Random;
use crate::work::work;
use core::fmt;
use quanta::Clock;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Mutex;
use std::time::Duration;
use warmcore_dispatch::{Dispatcher, Idle, Turn};

/// What a handler does, in nanoseconds.
const SERVICE: u64 = 1_000;
const KEYS: u64 = 64;
/// Events that a batch is made of at most, and how long it may take to be filled.
const BATCH: usize = 8_192;
const LINGER: Duration = Duration::from_millis(1);

/// Waits of events at one load.
#[derive(Serialize)]
pub(crate) struct Waits {
    name: &'static str,
    /// As a fraction of what the workers can handle.
    load: f64,
    events: usize,
    median_ns: u64,
    p99_ns: u64,
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "  {:24} at {:2.0}%: median {:8.2} µs, 99% {:9.2} µs ({} events)",
            self.name,
            self.load * 100.0,
            self.median_ns as f64 / 1e3,
            self.p99_ns as f64 / 1e3,
            self.events
        )
    }
}

/// What is waited under each way to wait, and under batches.
pub(crate) fn measure() -> Vec<Waits> {
    // The thread that dispatches by the clock keeps a processor busy: what is left handles events.
    let free =
        std::thread::available_parallelism().map_or(1, |all| all.get().saturating_sub(1)).clamp(1, WORKERS);
    let turns = Handler::calibrated(SERVICE).turns;
    let mut all = Vec::new();
    for load in [0.1, 0.8] {
        let gap = SERVICE as f64 / (free as f64 * load);
        let events = 200_000;
        all.push(summary("ours, spinning", load, ours(Idle::Spin, free, turns, gap, events)));
        all.push(summary("ours, sleeping", load, ours(Idle::Sleep, free, turns, gap, events)));
        all.push(summary("rayon, 8192 at once", load, batches(free, turns, gap, events)));
    }
    all
}

fn summary(name: &'static str, load: f64, mut waits: Vec<u64>) -> Waits {
    waits.sort_unstable();
    let at = |part: f64| waits[((waits.len() - 1) as f64 * part) as usize];
    Waits { name, load, events: waits.len(), median_ns: at(0.5), p99_ns: at(0.99) }
}

/// Calls `send` for each event when it is due, at random intervals of `gap` nanoseconds on average.
fn paced(clock: &Clock, gap: f64, events: usize, mut send: impl FnMut(u64, u64)) {
    let begun = clock.raw();
    let (mut due, mut random) = (0.0, Random::new());
    for _ in 0..events {
        due -= (1.0 - random.fraction()).ln() * gap;
        while (clock.delta_as_nanos(begun, clock.raw()) as f64) < due {
            core::hint::spin_loop();
        }
        send(random.number() % KEYS, clock.raw());
    }
}

fn ours(idle: Idle, workers: usize, turns: u64, gap: f64, events: usize) -> Vec<u64> {
    let clock = Clock::new();
    let waits: Vec<Mutex<Vec<u64>>> = (0..workers).map(|_| Mutex::new(Vec::with_capacity(events))).collect();
    let handle = |turn: &Turn<'_, u64, u64>, sent: u64| {
        let wait = clock.delta_as_nanos(sent, clock.raw());
        work(turns);
        waits[turn.worker()].lock().expect("nobody panics").push(wait);
    };
    Dispatcher::<u64, u64>::builder()
        .workers(workers)
        .idle(idle)
        .scope(handle, |dispatcher| {
            paced(&clock, gap, events, |key, sent| dispatcher.dispatch(key, sent).expect("it is open"));
        })
        .expect("workers can be started");
    waits.into_iter().flat_map(|waits| waits.into_inner().expect("nobody panics")).collect()
}

/// Events are collected until there are enough, or the first has waited long enough, and then all
/// handled at once.
fn batches(workers: usize, turns: u64, gap: f64, events: usize) -> Vec<u64> {
    let clock = Clock::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("workers can be started");
    let waits = Mutex::new(Vec::with_capacity(events));
    let mut groups: Vec<Vec<u64>> = vec![Vec::new(); KEYS as usize];
    let (mut count, mut first) = (0, 0);
    let flush = |groups: &mut Vec<Vec<u64>>| {
        pool.install(|| {
            groups.par_iter_mut().for_each(|group| {
                let mut own = Vec::with_capacity(group.len());
                for sent in group.drain(..) {
                    own.push(clock.delta_as_nanos(sent, clock.raw()));
                    work(turns);
                }
                waits.lock().expect("nobody panics").extend(own);
            });
        });
    };
    paced(&clock, gap, events, |key, sent| {
        if count == 0 {
            first = sent;
        }
        groups[key as usize].push(sent);
        count += 1;
        if count == BATCH || u128::from(clock.delta_as_nanos(first, sent)) > LINGER.as_nanos() {
            flush(&mut groups);
            count = 0;
        }
    });
    flush(&mut groups);
    waits.into_inner().expect("nobody panics")
}
