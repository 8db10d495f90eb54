//! The claims of Falsafi 1998: the statements of the text, how they are read, and how our values are derived.
//!
//! How a figure is read depends on what it is about, decided before any value was known: what follows from the machine alone counts as
//! printed, or within a fifth if it rests on parts that the text does not state; what is about programs, which are not those of the
//! thesis, within 15 %, and a gain from half to one and a half times as much.

mod application_classes;
mod bandwidth;
mod baseline;
mod block_size;
mod blocks;
mod caches;
mod clock;
mod clustering;
mod cost;
mod cost_paired;
mod derive;
mod handlers;
mod interrupts;
mod node_sizes;
mod occupancy;
mod policies;
mod speedups;

use crate::Claim;
use crate::falsafi_1998::Runs;

/// All claims, in the order of the thesis.
#[must_use]
pub fn all() -> Vec<Claim<Runs>> {
    [
        handlers::claims(),
        node_sizes::claims(),
        cost_paired::claims(),
        policies::claims(),
        interrupts::claims(),
        blocks::claims(),
        caches::claims(),
        cost::claims(),
        occupancy::claims(),
        bandwidth::claims(),
        block_size::of_bandwidth(),
        clock::of_bandwidth(),
        speedups::claims(),
        baseline::claims(),
        application_classes::claims(),
        clustering::claims(),
        block_size::of_programs(),
        clock::of_programs(),
    ]
    .concat()
}
