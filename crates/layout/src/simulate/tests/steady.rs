//! Traces that are repeated.

use crate::sample::{Walk, function};
use crate::simulate::{MAX_ROUNDS, Setup, Start};
use warmcore_cachesim::{Replacement, machines};
use warmcore_units::Cycles;

#[test]
fn a_path_that_fits_misses_nothing_once_it_is_warm() {
    let mut walk = Walk::new(&[function("a", 0x10000, 4096)]);
    walk.whole("a");
    let setup = Setup::new(machines::dec_3000_600(Cycles(50)));
    let cold = setup.run(&walk.trace).expect("it runs");
    assert_eq!((cold.rounds, cold.settled, cold.columns[0].misses), (1, true, 128));
    let steady = setup.starting(Start::Steady).run(&walk.trace).expect("it runs");
    assert_eq!((steady.rounds, steady.settled), (3, true));
    assert_eq!((steady.columns[0].misses, steady.columns[0].accesses), (0, 1024));
    assert_eq!(steady.stalls.all(), Cycles(0));
    assert_eq!(steady.words.fetched, 0);
}

#[test]
fn a_path_of_one_and_a_half_caches_misses_what_does_not_fit_twice() {
    let mut walk = Walk::new(&[function("a", 0x10000, 12 * 1024)]);
    walk.whole("a");
    let setup = Setup::new(machines::dec_3000_600(Cycles(50))).starting(Start::Steady);
    let steady = setup.run(&walk.trace).expect("it runs");
    // 128 lines alternate with the other 128 of the same sets; the 128 between stay.
    let column = &steady.columns[0];
    assert_eq!((column.misses, column.replacements), (256, 256));
    assert_eq!(steady.displaced[0].functions[0].lines, 256);
    assert_eq!(steady.columns[2].misses, 0, "the b-cache holds it");
}

#[test]
fn what_is_replaced_at_random_need_not_settle() {
    let mut walk = Walk::new(&[function("a", 0x10000, 12 * 1024)]);
    walk.whole("a");
    let caches = machines::dec_3000_600(Cycles(50)).with(|cache| {
        cache.replacement = Replacement::Random;
        cache.geometry.ways = 8;
    });
    let steady = Setup::new(caches).starting(Start::Steady).run(&walk.trace).expect("it runs");
    assert!(steady.rounds <= MAX_ROUNDS);
    assert_eq!(steady.instructions, 3072);
}
