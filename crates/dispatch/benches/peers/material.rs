//! The events, the work that handlers do, and the check of their order.

use core::fmt;
use core::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// Whose events come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mix {
    Uniform,
    Zipf,
    One,
    Million,
}

impl Mix {
    pub(crate) const ALL: [Self; 4] = [Self::Uniform, Self::Zipf, Self::One, Self::Million];

    fn keys(self) -> usize {
        match self {
            Self::Uniform | Self::Zipf => 64,
            Self::One => 1,
            Self::Million => 1_000_000,
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "64 keys, uniform",
            Self::Zipf => "64 keys, Zipf 1.2",
            Self::One => "one key",
            Self::Million => "a million keys",
        })
    }
}

/// What is done with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Handler {
    Nothing,
    Nanos(u64),
}

impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing to do"),
            Self::Nanos(nanos) => write!(f, "{nanos} ns to do"),
        }
    }
}

/// An event: the `number`-th of its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) key: u32,
    pub(crate) number: u32,
}

/// Events, and what their handler needs.
pub(crate) struct Case {
    pub(crate) events: Vec<Event>,
    pub(crate) keys: usize,
    turns: u64,
    next: Vec<AtomicU32>,
    violations: AtomicU64,
}

impl Case {
    pub(crate) fn new(mix: Mix, handler: Handler, events: usize) -> Self {
        let keys = mix.keys();
        let mut numbers = vec![0; keys];
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let weights: Vec<f64> = (1..=keys)
            .scan(0.0, |sum, rank| {
                *sum += if mix == Mix::Zipf { (rank as f64).powf(-1.2) } else { 1.0 };
                Some(*sum)
            })
            .collect();
        let all = weights[keys - 1];
        let mut event = || {
            let key = match mix {
                Mix::Zipf => weights.partition_point(|&sum| sum < random.fraction() * all).min(keys - 1),
                _ => (random.fraction() * keys as f64) as usize,
            };
            numbers[key] += 1;
            Event { key: key as u32, number: numbers[key] - 1 }
        };
        Self {
            events: (0..events).map(|_| event()).collect(),
            keys,
            turns: match handler {
                Handler::Nothing => 0,
                Handler::Nanos(nanos) => work_of(nanos),
            },
            next: (0..keys).map(|_| AtomicU32::new(0)).collect(),
            violations: AtomicU64::new(0),
        }
    }

    /// Handles an event: the work, and the check.
    #[inline(never)]
    pub(crate) fn handle(&self, event: Event) {
        let next = &self.next[event.key as usize];
        if next.load(Ordering::Relaxed) != event.number {
            self.violations.fetch_add(1, Ordering::Relaxed);
        }
        work(self.turns);
        next.store(event.number + 1, Ordering::Relaxed);
    }

    pub(crate) fn reset(&mut self) {
        self.next.iter_mut().for_each(|next| *next.get_mut() = 0);
        *self.violations.get_mut() = 0;
    }

    /// How often an event was not the next of its key, or was left out.
    pub(crate) fn violations(&self) -> u64 {
        let handled: u64 = self.next.iter().map(|next| u64::from(next.load(Ordering::Relaxed))).sum();
        self.violations.load(Ordering::Relaxed) + (self.events.len() as u64).abs_diff(handled)
    }
}

#[inline(never)]
pub(crate) fn work(turns: u64) {
    let mut state = 1_u64;
    for _ in 0..turns {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state ^= state >> 31;
    }
    black_box(state);
}

/// How many turns of work take so long, one event's after the other's: processors overlap them.
pub(crate) fn work_of(nanos: u64) -> u64 {
    const CALLS: u32 = 50_000;
    let time = |turns: u64| {
        let begun = Instant::now();
        (0..CALLS).for_each(|_| work(turns));
        begun.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    let fastest = |turns: u64| (0..9).map(|_| time(turns)).fold(f64::INFINITY, f64::min);
    let (few, many) = (fastest(nanos / 4), fastest(nanos));
    let each = (many - few) / (nanos - nanos / 4) as f64;
    (nanos / 4 + ((nanos as f64 - few) / each).round() as u64).max(1)
}

struct Random(u64);

impl Random {
    fn fraction(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
