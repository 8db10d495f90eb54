//! Random rounds: a few of them, or as many as `WARMCORE_ROUNDS` says.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::env;

/// How many rounds a test has that should take moments.
const FEW: usize = 5;

/// How many rounds there are, and where their random numbers come from. Prints how to repeat them.
pub(super) fn rounds() -> (usize, Xoshiro256PlusPlus) {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse().expect("a whole number"));
    let rounds = number("WARMCORE_ROUNDS").map_or(FEW, |rounds: u64| rounds as usize);
    let seed = number("WARMCORE_SEED").unwrap_or_else(|| rand::rng().random());
    println!("again with WARMCORE_SEED={seed} WARMCORE_ROUNDS={rounds}");
    (rounds, Xoshiro256PlusPlus::seed_from_u64(seed))
}
