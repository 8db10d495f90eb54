//! The claims of Mosberger 1996: the statements of the text, how they are read, and how our values are derived.
//!
//! - A figure printed in a table is about a program that had to be written again, for another instruction set: a value counts as
//!   it within 15 %. So do figures of the prose that repeat a table.
//!   A bound that is such a figure itself ("more than 3.9", of a printed 3.91) is met within 15 % too. One that sets cases apart
//!   ("more than 90 %" in all but one, which has 71 %) is not.
//! - "About", "roughly" and "on the order of" are a fifth; "almost all" is up to a tenth less; "well above" is by more than a tenth.
//! - What BAD costs depends on two numbers that the text does not give: how many of its functions meet in the b-cache, and how far
//!   memory is. Values have the range over both, so that no claim holds or fails by our choice of them.
//! - An order holds if each of its steps does, for each stack by itself.
//! - What the text says of processing is judged by simulated cycles; what it says of round trips, by those of this machine, as
//!   an order only: how many percent a step gains is a property of the source's machine ([`OF_ITS_MACHINE`]).

mod cycles;
mod derive;
mod memory;
mod misses;
mod outlining;
mod round_trips;
mod savings;
mod starting_point;

use super::Measurements;
use crate::Claim;

/// Claims about how fast the source's machine is. Ours are derived, and not judged.
pub const OF_ITS_MACHINE: [&str; 4] =
    ["round-trip-bad-53", "round-trip-slowdowns", "adjusted-slowdowns", "adjusted-std-40"];

/// All claims, in the order of the paper.
#[must_use]
pub fn all() -> Vec<Claim<Measurements>> {
    [
        starting_point::all(),
        round_trips::all(),
        misses::all(),
        cycles::all(),
        memory::all(),
        savings::all(),
        outlining::all(),
    ]
    .concat()
}
