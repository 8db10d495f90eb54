//! How long an event waits from its dispatch to the beginning of its handler, where events come one by
//! one at a given rate.

use crate::WORKERS;
use crate::handler::Handler;
use crate::random::Random;
use crate::work::work;
use core::fmt;
use core::hint::black_box;
use quanta::Clock;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use warmcore_dispatch::{Dispatcher, Idle, Turn};
use warmcore_stats::Spread;

/// What a handler does, in nanoseconds.
const SERVICE: u64 = 1_000;
const KEYS: u64 = 64;
/// Events in a round. Rounds are short, and there are many: where a hypervisor takes a processor for some
/// milliseconds now and then, most rounds are to be without that, and the others are to be seen as such.
const EVENTS: usize = 40_000;
/// Rounds for each that was asked for.
const ROUNDS: usize = 5;
/// Events that a batch is made of at most, and how long it may take to be filled.
const BATCH: usize = 8_192;
const LINGER: Duration = Duration::from_millis(1);

/// Waits of events at one load, by round.
#[derive(Serialize)]
pub(crate) struct Waits {
    name: &'static str,
    /// As a fraction of what the workers can handle.
    load: f64,
    events_a_round: usize,
    median_ns: Spread,
    p99_ns: Spread,
    /// How many times ours the 99% of batches is, round by round; of ours only.
    batches_p99_times: Option<Spread>,
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "  {:20} at {:2.0}%: median {:.2} µs, 99% {:.2} µs",
            self.name,
            self.load * 100.0,
            self.median_ns.map(|ns| ns / 1e3),
            self.p99_ns.map(|ns| ns / 1e3),
        )?;
        match &self.batches_p99_times {
            Some(times) => write!(f, "; that of batches is {times:.1} times as long"),
            None => Ok(()),
        }
    }
}

/// How somebody handles events with so many workers and turns of work, one after `gap` nanoseconds: what
/// each waited.
type Way = fn(usize, u64, f64) -> Vec<u64>;

const WAYS: [(&str, Way); 4] = [
    ("channel, spinning", channel),
    ("ours, spinning", |workers, turns, gap| ours(Idle::Spin, workers, turns, gap)),
    ("ours, sleeping", |workers, turns, gap| ours(Idle::Sleep, workers, turns, gap)),
    ("rayon, 8192 at once", batches),
];

/// What is waited under each way to wait, under batches, and in a channel from one thread to another, in
/// turn: no queue waits less than that does when this machine does what it does.
pub(crate) fn measure(rounds: usize) -> Vec<Waits> {
    // The thread that dispatches by the clock keeps a processor busy: what is left handles events.
    let free =
        std::thread::available_parallelism().map_or(1, |all| all.get().saturating_sub(1)).clamp(1, WORKERS);
    let turns = calibrated_beside_a_sender();
    let at = |load| {
        let gap = SERVICE as f64 / (free as f64 * load);
        let round = |_| WAYS.map(|(_, handle)| quantiles(handle(free, turns, gap)));
        let all: Vec<[[f64; 2]; WAYS.len()]> = (0..rounds * ROUNDS).map(round).collect();
        let spread =
            move |way: usize, quantile: usize| Spread(all.iter().map(|of| of[way][quantile]).collect());
        let batches = WAYS.len() - 1;
        (0..WAYS.len()).map(move |way| Waits {
            name: WAYS[way].0,
            load,
            events_a_round: EVENTS,
            median_ns: spread(way, 0),
            p99_ns: spread(way, 1),
            batches_p99_times: (way != batches).then(|| spread(batches, 1).over(&spread(way, 1))),
        })
    };
    [0.1, 0.8].into_iter().flat_map(at).collect()
}

/// Turns of work that take as long as they should while somebody sends: processors that are all busy are
/// slower than one that is busy alone, and a load is what it says only if that is counted in.
fn calibrated_beside_a_sender() -> u64 {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let clock = Clock::new();
            while !done.load(Ordering::Relaxed) {
                black_box(clock.raw());
            }
        });
        let turns = Handler::calibrated(SERVICE).turns;
        done.store(true, Ordering::Relaxed);
        turns
    })
}

/// The median and the 99%.
fn quantiles(mut waits: Vec<u64>) -> [f64; 2] {
    waits.sort_unstable();
    [0.5, 0.99].map(|part| waits[((waits.len() - 1) as f64 * part) as usize] as f64)
}

/// Calls `send` for each event when it is due, at random intervals of `gap` nanoseconds on average.
fn paced(clock: &Clock, gap: f64, mut send: impl FnMut(u64, u64)) {
    let begun = clock.raw();
    let (mut due, mut random) = (0.0, Random::new());
    for _ in 0..EVENTS {
        due -= (1.0 - random.fraction()).ln() * gap;
        while (clock.delta_as_nanos(begun, clock.raw()) as f64) < due {
            core::hint::spin_loop();
        }
        send(random.number() % KEYS, clock.raw());
    }
}

fn ours(idle: Idle, workers: usize, turns: u64, gap: f64) -> Vec<u64> {
    let clock = Clock::new();
    let waits: Vec<Mutex<Vec<u64>>> = (0..workers).map(|_| Mutex::new(Vec::with_capacity(EVENTS))).collect();
    let handle = |turn: &Turn<'_, u64, u64>, sent: u64| {
        let wait = clock.delta_as_nanos(sent, clock.raw());
        work(turns);
        waits[turn.worker()].lock().expect("nobody panics").push(wait);
    };
    Dispatcher::<u64, u64>::builder()
        .workers(workers)
        .idle(idle)
        .scope(handle, |dispatcher| {
            paced(&clock, gap, |key, sent| dispatcher.dispatch(key, sent).expect("it is open"));
        })
        .expect("workers can be started");
    waits.into_iter().flat_map(|waits| waits.into_inner().expect("nobody panics")).collect()
}

/// One thread takes them out of a channel, which it never ceases to look at.
fn channel(_: usize, turns: u64, gap: f64) -> Vec<u64> {
    let clock = Clock::new();
    let (sender, receiver) = crossbeam_channel::bounded::<u64>(BATCH);
    std::thread::scope(|scope| {
        let handled = scope.spawn(|| {
            let mut waits = Vec::with_capacity(EVENTS);
            while waits.len() < EVENTS {
                if let Ok(sent) = receiver.try_recv() {
                    waits.push(clock.delta_as_nanos(sent, clock.raw()));
                    work(turns);
                }
            }
            waits
        });
        paced(&clock, gap, |_, sent| sender.send(sent).expect("it is open"));
        handled.join().expect("nobody panics")
    })
}

/// Events are collected until there are enough, or the first has waited long enough, and then all
/// handled at once.
fn batches(workers: usize, turns: u64, gap: f64) -> Vec<u64> {
    let clock = Clock::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("workers can be started");
    let waits = Mutex::new(Vec::with_capacity(EVENTS));
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
    paced(&clock, gap, |key, sent| {
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
