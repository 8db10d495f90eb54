//! The claims of Salehi 1994: the statements of the text, how they are read, and how our values are derived.
//!
//! The text says "at low rates" or "across the broad range" without giving numbers. The ranges [`LOW`],
//! [`BROAD`] and [`HIGH`] are our reading, as fractions of the smaller capacity of what is compared.

mod alternatives;
mod derive;
mod end_to_end;
mod locking;
mod pools;
mod scaling;
mod stacks;
mod table_2;

use crate::Claim;
use crate::salehi_1994::Simulations;
use std::ops::RangeInclusive;

/// "The lower arrival rates".
pub const LOW: RangeInclusive<f64> = 0.01..=0.25;
/// "The broad range of arrival rates".
pub const BROAD: RangeInclusive<f64> = 0.01..=0.9;
/// "High arrival rate", up to where points still reach the precision asked for.
pub const HIGH: RangeInclusive<f64> = 0.75..=0.9;

/// All claims, in the order of the paper.
#[must_use]
pub fn all() -> Vec<Claim<Simulations>> {
    [
        table_2::claims(),
        locking::claims(),
        stacks::claims(),
        pools::claims(),
        end_to_end::claims(),
        alternatives::claims(),
        scaling::claims(),
    ]
    .concat()
}
