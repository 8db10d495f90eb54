//! Processes whose means are known exactly.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One customer of an M/M/1 queue with mean service 1.
pub(crate) struct Customer {
    pub(crate) sojourn: f64,
    /// Time since the arrival of the customer before.
    pub(crate) gap: f64,
}

/// Customers of an M/M/1 queue at `load`, from an empty start: Lindley's recursion (1952).
/// Sojourn times are exponential, with mean `1 / (1 - load)`.
pub(crate) fn customers(load: f64, seed: u64) -> impl Iterator<Item = Customer> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut sojourn = 0.0_f64;
    core::iter::repeat_with(move || {
        let gap: f64 = Exp1.sample(&mut random);
        let gap = gap / load;
        let service: f64 = Exp1.sample(&mut random);
        sojourn = (sojourn - gap).max(0.0) + service;
        Customer { sojourn, gap }
    })
}

/// A first-order autoregressive process with lag-1 correlation `r`, standard deviation 1 and mean 10.
pub(crate) fn autoregressive(r: f64, seed: u64) -> impl Iterator<Item = f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut state, scale) = (0.0, (1.0 - r * r).sqrt());
    core::iter::repeat_with(move || {
        let shock: f64 = StandardNormal.sample(&mut random);
        state = r * state + scale * shock;
        10.0 + state
    })
}

/// The number in an M/M/1 queue at `load` after each arrival.
pub(crate) fn numbers(load: f64, seed: u64) -> impl Iterator<Item = u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut number = 0_u64;
    core::iter::repeat_with(move || {
        while number > 0 && random.random::<f64>() >= load / (1.0 + load) {
            number -= 1;
        }
        number += 1;
        number
    })
}
