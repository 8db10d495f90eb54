//! What was measured at one size and in one direction, under each affinity model.

use core::fmt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use warmcore_stats::Interval;
use warmcore_stats::blocks::{Verdict, verdict};
use warmcore_stats::paired::{Change, change};
use warmcore_units::Estimate;

/// The affinity models of the source, and today's kernel beside them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Affinity {
    /// I: none. All packets come to the first cpu, as all interrupts did there; the scheduler places
    /// programs.
    Nobody,
    /// III: programs are placed, and all packets come to the first cpu.
    ProcessOnly,
    /// II: packets of each connection come to one cpu.
    InterruptOnly,
    /// IV: packets of each connection come to the cpu of its programs.
    Full,
    /// Not in the source: nothing is placed and packets are worked off where they arrive.
    Today,
}

impl Affinity {
    /// The models, those of the source in its order of growing effect.
    pub const ALL: [Self; 5] =
        [Self::Nobody, Self::ProcessOnly, Self::InterruptOnly, Self::Full, Self::Today];
}

impl fmt::Display for Affinity {
    /// As the source calls it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => "no affinity",
            Self::ProcessOnly => "process affinity only",
            Self::InterruptOnly => "interrupt affinity only",
            Self::Full => "full affinity",
            Self::Today => "no steering (not in the source)",
        })
    }
}

/// Which way bytes went, for the system under test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// TX.
    Transmit,
    /// RX.
    Receive,
}

impl fmt::Display for Direction {
    /// As the source writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Transmit => "TX",
            Self::Receive => "RX",
        })
    }
}

/// One figure of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Bits per second.
    Throughput,
    /// The busy part of the cpus' time, from 0 to 1.
    CpuUse,
    /// Cycles per bit: the source's GHz/Gbps.
    Cost,
    /// Misses of the second level of caches, per bit.
    L2Misses,
    /// Misses of the third level, per bit.
    L3Misses,
}

/// What one model came to, block by block.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Runs {
    /// Bits received per second.
    pub throughput: Vec<f64>,
    /// The busy part of the cpus' time, from 0 to 1.
    pub cpu_use: Vec<f64>,
    /// Cycles per bit; empty where the kernel does not tell what it takes.
    pub cost: Vec<f64>,
    /// Misses of the second level of caches per bit; empty where they are not counted.
    pub l2_misses: Vec<f64>,
    /// Misses of the third level per bit; empty where they are not counted.
    pub l3_misses: Vec<f64>,
}

impl Runs {
    /// One figure, block by block.
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

    /// The mean of a figure over the blocks; `None` with fewer than two.
    #[must_use]
    pub fn estimate(&self, quantity: Quantity) -> Option<Estimate<f64>> {
        let interval = Interval::from_observations(self.get(quantity));
        let known = interval.mean.is_finite() && interval.half_width.is_finite();
        known.then(|| Estimate::new(interval.mean, interval.half_width))
    }
}

/// What was measured at one size and in one direction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Which way.
    pub direction: Direction,
    /// Bytes of each write.
    pub size: u64,
    /// What each model came to.
    pub runs: BTreeMap<Affinity, Runs>,
    /// No affinity a second time in each block.
    pub control: Runs,
    /// What the cycles of its costs are told by, in words.
    pub cycles: String,
    /// What the processor's counters have counted, and why not the rest, in words.
    pub counters: String,
}

impl Point {
    /// Whether a figure was had of every model.
    #[must_use]
    pub fn has(&self, quantity: Quantity) -> bool {
        self.runs.values().chain([&self.control]).all(|runs| !runs.get(quantity).is_empty())
    }

    /// By how much `one` has more of a figure than `base`, and what that amounts to, beside how much no
    /// affinity differed from itself; `None` if the figure could not be had.
    #[must_use]
    pub fn compared(&self, one: Affinity, base: Affinity, quantity: Quantity) -> Option<(Change, Verdict)> {
        let changed = self.change(one, base, quantity)?;
        Some((changed, verdict(&changed, &self.itself(quantity)?)))
    }

    /// By how much `one` has more of a figure than `base`; `None` if the figure could not be had.
    #[must_use]
    pub fn change(&self, one: Affinity, base: Affinity, quantity: Quantity) -> Option<Change> {
        let of = |affinity: Affinity| self.runs.get(&affinity).map(|runs| runs.get(quantity));
        change(of(one)?, of(base)?)
    }

    /// By how much no affinity differed from itself; `None` if the figure could not be had.
    #[must_use]
    pub fn itself(&self, quantity: Quantity) -> Option<Change> {
        change(self.control.get(quantity), self.runs.get(&Affinity::Nobody)?.get(quantity))
    }

    /// Where it is, for a reader: `TX, 64 bytes`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}, {} bytes", self.direction, self.size)
    }
}
