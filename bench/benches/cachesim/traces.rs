//! The traces: made of random numbers with a stated seed, or recorded from a program.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_cachesim::{Kind, Reference};

const SEED: u64 = 1995;

/// A name, and the references.
pub(crate) type Trace = (&'static str, Vec<Reference>);

/// Traces of `length` references, and what they are.
pub(crate) fn made(length: usize) -> [Trace; 3] {
    println!(
        "mix: runs of 4-byte instructions, 8 on average, in 1 of 512 functions of 1 KiB, low ones more often; after each third\n\
         a load or, of four, a store: half in 512 bytes of stack, the rest in runs of 8-byte words, 8 on average, in 4 MiB, low\n\
         addresses more often\n\
         uniform: fetches, loads and stores as 6:3:1, anywhere in 16 KiB, of ten one in 256 KiB, of fifty one in 4 MiB, of 500 one\n\
         in 64 MiB: no order at all, for which no cache is built\n\
         loop: two fetches and a load, all through the same 48 KiB\n\
         random numbers: Xoshiro256++, seed {SEED}\n"
    );
    [("mix", mix(length)), ("uniform", uniform(length)), ("loop", looped(length))]
}

fn mix(length: usize) -> Vec<Reference> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    // Powers of a uniform number make low functions and addresses more frequent: half of all are in 1 of 64.
    let low = |random: &mut Xoshiro256PlusPlus, below: u32| {
        (random.random::<f64>().powi(6) * f64::from(below)) as u64
    };
    let mut trace = Vec::with_capacity(length);
    let (mut instruction, mut word, mut executed) = (1 << 30, 0, 0);
    while trace.len() < length {
        if random.random_ratio(1, 8) {
            instruction = (1 << 30) + low(&mut random, 512) * 1024 + random.random_range(0..128) * 4;
        }
        trace.push(Reference::new(Kind::Fetch, instruction, 4));
        instruction += 4;
        executed += 1;
        if executed % 3 == 0 {
            let kind = if random.random_ratio(1, 4) { Kind::Store } else { Kind::Load };
            let address = if random.random() {
                (1 << 40) + random.random_range(0..64) * 8
            } else {
                word = if random.random_ratio(1, 8) { low(&mut random, 1 << 19) } else { word + 1 };
                word * 8
            };
            trace.push(Reference::new(kind, address, 8));
        }
    }
    trace.truncate(length);
    trace
}

fn uniform(length: usize) -> Vec<Reference> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut one = || {
        let kind = match random.random_range(0..10) {
            0..6 => Kind::Fetch,
            6..9 => Kind::Load,
            _ => Kind::Store,
        };
        let span = match random.random_range(0..1000) {
            0..900 => 16_u64 << 10,
            900..980 => 256 << 10,
            980..998 => 4 << 20,
            _ => 64 << 20,
        };
        Reference::new(kind, random.random_range(0..span) & !3, 4)
    };
    (0..length).map(|_| one()).collect()
}

fn looped(length: usize) -> Vec<Reference> {
    let one = |index: usize| {
        let kind = if index % 3 == 2 { Kind::Load } else { Kind::Fetch };
        Reference::new(kind, (index as u64 * 4) % (48 << 10), 4)
    };
    (0..length).map(one).collect()
}

/// The references in what lackey wrote; of those that read and write, the read, as cachegrind counts them.
pub(crate) fn recorded(text: &str) -> Vec<Reference> {
    let reference = |line: &str| {
        let kind = match line.get(..3)? {
            "I  " => Kind::Fetch,
            " L " | " M " => Kind::Load,
            " S " => Kind::Store,
            _ => return None,
        };
        let (address, size) = line[3..].split_once(',')?;
        Some(Reference::new(kind, u64::from_str_radix(address, 16).ok()?, size.parse().ok()?))
    };
    text.lines().filter_map(reference).collect()
}
