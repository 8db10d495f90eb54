//! Keys with state that fills caches: how often a key moves from one worker to another, and what that
//! costs.

use crate::WORKERS;
use crate::random::Random;
use core::fmt;
use serde::Serialize;
use std::sync::Mutex;
use std::time::Instant;
use warmcore_dispatch::{Binding, Dispatcher, Turn};

/// Bytes that belong to a key.
const STATE: usize = 64 << 10;
/// More than fit a private cache of a megabyte or two together.
const KEYS: usize = 64;
const EVENTS: usize = 100_000;

/// A key's state, and who touched it last.
struct State {
    bytes: Vec<u8>,
    worker: usize,
    moves: u64,
}

/// The result of a binding.
#[derive(Serialize)]
pub(crate) struct Moves {
    name: &'static str,
    events: usize,
    moves: u64,
    events_per_s: f64,
}

impl fmt::Display for Moves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.moves as f64 / self.events as f64;
        write!(
            f,
            "  {:24} {:8} moves ({each:.4} an event), {:6.3} M/s",
            self.name,
            self.moves,
            self.events_per_s / 1e6
        )
    }
}

/// Dynamic binding, which prefers the worker at home, beside static binding, which never moves a key.
pub(crate) fn measure() -> Vec<Moves> {
    let all = [("ours", Binding::Dynamic), ("ours, static", Binding::Static)];
    let mut rounds: Vec<Vec<Moves>> = all.iter().map(|_| Vec::new()).collect();
    for _ in 0..3 {
        for ((name, binding), rounds) in all.iter().zip(&mut rounds) {
            rounds.push(run(name, *binding));
        }
    }
    rounds
        .into_iter()
        .map(|mut rounds| {
            rounds.sort_by(|a, b| a.events_per_s.total_cmp(&b.events_per_s));
            rounds.swap_remove(1)
        })
        .collect()
}

fn run(name: &'static str, binding: Binding) -> Moves {
    let state = |_| Mutex::new(State { bytes: vec![1; STATE], worker: 0, moves: 0 });
    let states: Vec<Mutex<State>> = (0..KEYS).map(state).collect();
    let handle = |turn: &Turn<'_, usize, ()>, (): ()| {
        let key = *turn.key().expect("every event has one");
        let mut state = states[key].try_lock().expect("nobody else touches this key now");
        state.moves += u64::from(state.worker != turn.worker());
        state.worker = turn.worker();
        for line in state.bytes.iter_mut().step_by(64) {
            *line = line.wrapping_add(1);
        }
    };
    let begun = Instant::now();
    Dispatcher::<usize, ()>::builder()
        .workers(WORKERS)
        .binding(binding)
        .scope(handle, |dispatcher| {
            let mut random = Random::new();
            for _ in 0..EVENTS {
                dispatcher.dispatch((random.number() % KEYS as u64) as usize, ()).expect("it is open");
            }
        })
        .expect("workers can be started");
    let events_per_s = EVENTS as f64 / begun.elapsed().as_secs_f64();
    let moves = states.into_iter().map(|state| state.into_inner().expect("nobody panics").moves).sum();
    Moves { name, events: EVENTS, moves, events_per_s }
}
