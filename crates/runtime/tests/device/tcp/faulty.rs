//! Loss, duplication, corruption and disorder in both directions.
//!
//! The faults are those of a seed, which a failed test prints: `WARMCORE_SEED` repeats it. What the
//! kernel sends, and when, is not in our hands, so the same seed need not give the same run.

use super::bulk::Both;
use super::faults::{Faults, Rates};
use super::{MTU, Opener, config, connected, net};
use std::env;

const LENGTH: usize = 1 << 20;

/// The seed of this run: another one each time.
fn seed() -> u64 {
    match env::var("WARMCORE_SEED") {
        Ok(seed) => seed.parse().expect("WARMCORE_SEED is a number"),
        Err(_) => rand::random(),
    }
}

fn survives(opener: Opener, rates: Rates) {
    let seed = seed();
    println!("WARMCORE_SEED={seed}");
    let Some(mut net) = net(MTU, Some(Faults::new(seed, rates))) else { return };
    let both = Both::new(LENGTH);
    connected(&mut net, opener, config(), |socket| both.theirs(&socket), |host, id| both.ours(host, id));
    assert!(net.1.suffered() > 0, "nothing was made to suffer");
}

#[test]
fn no_byte_is_lost_or_doubled_where_frames_are_lost() {
    survives(Opener::Us, Rates { loss: 0.02, ..Rates::default() });
}

#[test]
fn no_byte_is_lost_or_doubled_where_frames_are_duplicated() {
    survives(Opener::Kernel, Rates { duplication: 0.1, ..Rates::default() });
}

#[test]
fn no_byte_is_lost_or_doubled_where_frames_overtake_each_other() {
    survives(Opener::Us, Rates { reordering: 0.1, ..Rates::default() });
}

#[test]
fn no_byte_is_lost_or_doubled_where_all_goes_wrong_after_we_connected() {
    survives(Opener::Us, everything());
}

#[test]
fn no_byte_is_lost_or_doubled_where_all_goes_wrong_after_the_kernel_connected() {
    survives(Opener::Kernel, everything());
}

fn everything() -> Rates {
    Rates { loss: 0.01, duplication: 0.02, corruption: 0.01, reordering: 0.05 }
}
