//! Wrappers that add sizes and directions to the packets of any source.
//!
//! Each property is drawn from a random stream of its own, so it does not change the times and streams of
//! the arrivals.

use crate::arrivals::{Arrival, Arrivals, Direction};
use crate::random::{Key, Purpose, Random};
use core::cmp::Ordering;
use rand::distr::Bernoulli;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// One size in an empirical distribution.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Bytes in the packet.
    pub bytes: u16,
    /// The frequency of this size, relative to the others.
    pub weight: f64,
}

/// A source with packet sizes added.
#[derive(Clone, Debug)]
pub struct WithSizes<A> {
    source: A,
    bytes: Vec<u16>,
    distribution: WeightedAliasIndex<f64>,
    random: Random,
}

impl<A> WithSizes<A> {
    /// Draws one of `sizes` for each arrival of `source`; all packets of an arrival have that size.
    ///
    /// # Errors
    /// As [`check_sizes`].
    pub fn new(source: A, sizes: &[Size], key: Key) -> Result<Self, Fault> {
        check_sizes(sizes)?;
        let weights = sizes.iter().map(|size| size.weight).collect();
        Ok(Self {
            source,
            bytes: sizes.iter().map(|size| size.bytes).collect(),
            distribution: WeightedAliasIndex::new(weights)
                .map_err(|fault| Fault::new("sizes", fault, SIZES))?,
            random: key.stream(Purpose::Size),
        })
    }
}

const SIZES: &str = "sizes with weights, at least one of them above 0";

/// Checks the sizes; fields are named from the table that contains `sizes`.
///
/// # Errors
/// If there are no sizes, a weight is not a valid number, or all weights are 0.
pub fn check_sizes(sizes: &[Size]) -> Result<(), Fault> {
    for (index, size) in sizes.iter().enumerate() {
        if !(0.0..=1e12).contains(&size.weight) {
            let field = format!("sizes.{index}.weight");
            return Err(Fault::new(field, size.weight, "a finite number, not negative"));
        }
    }
    let total: f64 = sizes.iter().map(|size| size.weight).sum();
    match total.total_cmp(&0.0) {
        Ordering::Greater => Ok(()),
        _ => Err(Fault::new("sizes", "without weight", SIZES)),
    }
}

impl<A: Arrivals> Arrivals for WithSizes<A> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let filled = self.source.fill(block);
        for arrival in &mut block[..filled] {
            arrival.bytes = self.bytes[self.distribution.sample(&mut self.random)];
        }
        filled
    }
}

/// A source of which a fraction of the arrivals is sent rather than received.
#[derive(Clone, Debug)]
pub struct WithDirections<A> {
    source: A,
    distribution: Bernoulli,
    random: Random,
}

impl<A> WithDirections<A> {
    /// Marks each arrival of `source` as sent with probability `send_fraction`.
    ///
    /// # Errors
    /// As [`check_send_fraction`].
    pub fn new(source: A, send_fraction: f64, key: Key) -> Result<Self, Fault> {
        let distribution = Bernoulli::new(send_fraction).map_err(|_| send_fraction_fault(send_fraction))?;
        Ok(Self { source, distribution, random: key.stream(Purpose::Direction) })
    }
}

/// Checks the fraction of sent packets.
///
/// # Errors
/// If `send_fraction` is not between 0 and 1.
pub fn check_send_fraction(send_fraction: f64) -> Result<(), Fault> {
    match (0.0..=1.0).contains(&send_fraction) {
        true => Ok(()),
        false => Err(send_fraction_fault(send_fraction)),
    }
}

fn send_fraction_fault(send_fraction: f64) -> Fault {
    Fault::new("send_fraction", send_fraction, "a fraction between 0 and 1")
}

impl<A: Arrivals> Arrivals for WithDirections<A> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let filled = self.source.fill(block);
        for arrival in &mut block[..filled] {
            let sent = self.distribution.sample(&mut self.random);
            arrival.direction = if sent { Direction::Send } else { Direction::Receive };
        }
        filled
    }
}
