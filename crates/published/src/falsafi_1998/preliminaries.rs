//! What runs of chapter 4's microbenchmarks have in common, each found once: a round trip with nothing in its way, and the warm-up of
//! a machine.

use super::measured::{LIMITED, in_words, request_loop};
use super::runs::Found;
use super::setup::{LOW, SEED, Setup};
use super::system::System;
use super::totals::Totals;
use super::work::Work;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use warmcore_sim::cluster::exchange::Exchange;
use warmcore_sim::cluster::requests::RequestLoop;

/// What was found so far.
#[derive(Debug, Default)]
pub struct Preliminaries {
    round_trips: Once<f64>,
    warm_ups: Once<Totals>,
}

impl Preliminaries {
    /// Cycles of a request of one processor to another node with nothing in its way, on a machine like that of `setup` but under
    /// Fixed: L_min of §4.3.2.
    ///
    /// # Errors
    /// If the machine is impossible.
    pub(super) fn round_trip(&self, setup: &Setup, exchange: Exchange) -> Found<f64> {
        let work = match exchange {
            Exchange::NullHandler => Work::NullHandler(0),
            Exchange::FetchBlock => Work::FetchBlock(0),
        };
        let alone =
            Setup { system: System::Fixed, processors: 1, interrupt: LOW, seed: SEED, work, ..*setup };
        self.round_trips.get(alone, || {
            let cycles = RequestLoop::round_trip(exchange, &alone.machine()).map_err(in_words)?;
            Ok(cycles.0 as f64)
        })
    }

    /// What the warm-up of the machine of `setup` counts. It draws no random numbers and sends no request.
    ///
    /// # Errors
    /// If the machine is impossible.
    pub(super) fn warm_up(&self, setup: &Setup) -> Found<Totals> {
        let idle = Setup { seed: SEED, work: Work::NullHandler(0), ..*setup };
        self.warm_ups.get(idle, || {
            let loops = request_loop(Exchange::NullHandler, 0.0, 0, SEED);
            let outcome = loops.run(&idle.machine(), &LIMITED).map_err(in_words)?;
            Ok(Totals::new(&outcome))
        })
    }
}

/// Values that are made once each, whoever asks first.
#[derive(Debug)]
struct Once<T>(Mutex<BTreeMap<Setup, Arc<OnceLock<Found<T>>>>>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Once<T> {
    fn get(&self, setup: Setup, make: impl FnOnce() -> Found<T>) -> Found<T> {
        let cell = self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(setup).or_default().clone();
        cell.get_or_init(make).clone()
    }
}
