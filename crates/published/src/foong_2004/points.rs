//! The measurements: points, each of one size and direction, under every affinity model.

use core::fmt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use warmcore_stats::Interval;
use warmcore_stats::blocks::{ChangeVerdict, verdict};
use warmcore_stats::paired::{Change, change};
use warmcore_units::Estimate;

/// The affinity models of Foong 2004, and today's kernel for comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Affinity {
    /// I: none. All packets go to the first cpu, as all interrupts did on the kernel of Foong 2004; the
    /// scheduler places programs.
    Nobody,
    /// III: programs are pinned, and all packets go to the first cpu.
    ProcessOnly,
    /// II: the packets of each connection go to one cpu.
    InterruptOnly,
    /// IV: the packets of each connection go to the cpu of its programs.
    Full,
    /// Not in Foong 2004: nothing is pinned, and packets are processed where they arrive.
    Today,
}

impl Affinity {
    /// All models; those of Foong 2004 in its order of growing effect.
    pub const ALL: [Self; 5] =
        [Self::Nobody, Self::ProcessOnly, Self::InterruptOnly, Self::Full, Self::Today];
}

impl fmt::Display for Affinity {
    /// Its name in Foong 2004.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => "no affinity",
            Self::ProcessOnly => "process affinity only",
            Self::InterruptOnly => "interrupt affinity only",
            Self::Full => "full affinity",
            Self::Today => "no steering (not in Foong 2004)",
        })
    }
}

/// The direction of the bytes, seen from the system under test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// TX.
    Transmit,
    /// RX.
    Receive,
}

impl fmt::Display for Direction {
    /// As Foong 2004 writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Transmit => "TX",
            Self::Receive => "RX",
        })
    }
}

/// A quantity measured in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Bits per second.
    Throughput,
    /// The busy fraction of the cpus' time, from 0 to 1.
    CpuUse,
    /// Cycles per bit: GHz/Gbps in Foong 2004.
    Cost,
    /// Second-level cache misses per bit.
    L2Misses,
    /// Third-level cache misses per bit.
    L3Misses,
}

/// The results of one model, one value per block.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Runs {
    /// Bits received per second.
    pub throughput: Vec<f64>,
    /// The busy fraction of the cpus' time, from 0 to 1.
    pub cpu_use: Vec<f64>,
    /// Cycles per bit; empty if the kernel does not provide what it needs.
    pub cost: Vec<f64>,
    /// Second-level cache misses per bit; empty if they are not counted.
    pub l2_misses: Vec<f64>,
    /// Third-level cache misses per bit; empty if they are not counted.
    pub l3_misses: Vec<f64>,
}

impl Runs {
    /// A quantity, one value per block.
    #[must_use]
    pub fn get(&self, quantity: Quantity) -> &[f64] {
        match quantity {
            Quantity::Throughput => &self.throughput,
            Quantity::CpuUse => &self.cpu_use,
            Quantity::Cost => &self.cost,
            Quantity::L2Misses => &self.l2_misses,
            Quantity::L3Misses => &self.l3_misses,
        }
    }

    /// The mean of a quantity over the blocks; `None` with fewer than two blocks.
    #[must_use]
    pub fn estimate(&self, quantity: Quantity) -> Option<Estimate<f64>> {
        let interval = Interval::from_observations(self.get(quantity));
        let known = interval.mean.is_finite() && interval.half_width.is_finite();
        known.then(|| Estimate::new(interval.mean, interval.half_width))
    }
}

/// All measurements of a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurements {
    /// The machine, in words.
    pub machine: String,
    /// Every size in both directions.
    pub points: Vec<Point>,
}

/// Measurements at one size and in one direction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Which way.
    pub direction: Direction,
    /// Bytes of each write.
    pub size: u64,
    /// The results of each model.
    pub runs: BTreeMap<Affinity, Runs>,
    /// The results of the second run of no affinity in each block.
    pub control: Runs,
    /// How cycles were determined, in words.
    pub cycles: String,
    /// Which processor counters were read, and why others were not, in words.
    pub counters: String,
}

impl Point {
    /// Whether a quantity was measured for every model.
    #[must_use]
    pub fn has(&self, quantity: Quantity) -> bool {
        self.runs.values().chain([&self.control]).all(|runs| !runs.get(quantity).is_empty())
    }

    /// By how much a quantity under `one` exceeds that under `base`, and whether this is significant given
    /// the difference of no affinity against itself; `None` if it was not measured.
    #[must_use]
    pub fn compared(
        &self,
        one: Affinity,
        base: Affinity,
        quantity: Quantity,
    ) -> Option<(Change, ChangeVerdict)> {
        let changed = self.change(one, base, quantity)?;
        Some((changed, verdict(&changed, &self.itself(quantity)?)))
    }

    /// By how much a quantity under `one` exceeds that under `base`; `None` if it was not measured.
    #[must_use]
    pub fn change(&self, one: Affinity, base: Affinity, quantity: Quantity) -> Option<Change> {
        let of = |affinity: Affinity| self.runs.get(&affinity).map(|runs| runs.get(quantity));
        change(of(one)?, of(base)?)
    }

    /// By how much no affinity differed from itself; `None` if the quantity was not measured.
    #[must_use]
    pub fn itself(&self, quantity: Quantity) -> Option<Change> {
        change(self.control.get(quantity), self.runs.get(&Affinity::Nobody)?.get(quantity))
    }

    /// The point in words: `TX, 64 bytes`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}, {} bytes", self.direction, self.size)
    }
}
