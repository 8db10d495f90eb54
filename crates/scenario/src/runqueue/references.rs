//! The references that a process makes to memory: parts of its memory, how it goes through each, and how often.

use super::within;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// What a process refers to while it computes.
///
/// References come evenly spaced. Each is to one of the parts, drawn by their shares. Where the pages of a part lie is
/// drawn too, so that the sets of caches are hit as evenly as chance has it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct References {
    /// References per microsecond of computing.
    pub per_us: f64,
    /// The parts of memory.
    pub parts: Vec<Part>,
}

/// A part of memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its size in KiB; a fraction if it is smaller.
    pub kib: f64,
    /// How often it is referred to: weights, which need not add up to anything.
    pub share: f64,
    /// How a process goes through it.
    #[serde(default)]
    pub pattern: Pattern,
    /// What is referred to at a time, in bytes: a power of two.
    #[serde(default = "word")]
    pub element_bytes: u32,
    /// The share of references that are stores.
    #[serde(default)]
    pub stores: f64,
    /// Whether all processes of the application share it.
    #[serde(default)]
    pub shared: bool,
    /// Whether it is code: fetched, and shared by all processes of the application.
    #[serde(default)]
    pub code: bool,
}

const fn word() -> u32 {
    8
}

/// How a process goes through a part of its memory, element by element.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// From one end to the other, again and again: if the part is larger than the caches, everything is fresh.
    #[default]
    Sweep,
    /// Block by block, each several times before the next: a blocked algorithm.
    Loop {
        /// The size of a block in KiB.
        block_kib: f64,
        /// How often it goes through a block.
        repeats: u32,
    },
    /// Anywhere, all elements alike.
    Uniform,
    /// Element number k with a probability proportional to k to the power of minus the exponent.
    Zipf {
        /// The exponent.
        exponent: f64,
    },
}

/// The most lines of all parts of all processes together, in lines of [`SMALLEST_LINE`].
const MAX_LINES: f64 = 16_777_216.0;
/// The size in bytes by which lines are counted for that limit.
const SMALLEST_LINE: f64 = 16.0;

impl References {
    /// Whether processes write what others of the application use.
    #[must_use]
    pub fn writes_shared(&self) -> bool {
        self.parts.iter().any(|part| part.is_shared() && part.stores > 0.0)
    }

    /// The size of what each process has alone, in bytes.
    #[must_use]
    pub fn private_bytes(&self) -> u64 {
        self.parts.iter().filter(|part| !part.is_shared()).map(Part::bytes).sum()
    }

    pub(super) fn check(&self, field: &str) -> Result<(), Fault> {
        within(format!("{field}.per_us"), self.per_us, 1e-3..=1e4, "references per microsecond")?;
        if self.parts.is_empty() || self.parts.iter().all(|part| part.share == 0.0) {
            let expected = "at least one part with a share above 0";
            return Err(Fault::new(format!("{field}.parts"), "nothing to refer to", expected));
        }
        for (index, part) in self.parts.iter().enumerate() {
            part.check(&|name| format!("{field}.parts.{index}.{name}"))?;
        }
        Ok(())
    }

    /// The size of the memory of so many processes, one after the other or at a time, in bytes.
    #[must_use]
    pub fn all_bytes(&self, processes: f64) -> f64 {
        let shared: u64 = self.parts.iter().filter(|part| part.is_shared()).map(Part::bytes).sum();
        shared as f64 + self.private_bytes() as f64 * processes
    }

    /// Refuses more memory of so many processes than can be followed.
    pub(super) fn check_size(&self, field: &str, processes: f64) -> Result<(), Fault> {
        let bytes = self.all_bytes(processes);
        if bytes / SMALLEST_LINE <= MAX_LINES {
            return Ok(());
        }
        let found = format!("{:.0} MiB in all processes", bytes / 1_048_576.0);
        let most = format!("at most {:.0} MiB", MAX_LINES * SMALLEST_LINE / 1_048_576.0);
        Err(Fault::new(format!("{field}.parts"), found, most))
    }
}

impl Part {
    /// Its size in bytes.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be small and positive"
    )]
    pub fn bytes(&self) -> u64 {
        (self.kib * 1024.0).round() as u64
    }

    /// How many elements it has.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.bytes() / u64::from(self.element_bytes.max(1))
    }

    /// Whether the processes of the application have it in common.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.shared || self.code
    }

    fn check(&self, field: &dyn Fn(&str) -> String) -> Result<(), Fault> {
        within(field("kib"), self.kib, 0.0..=1_048_576.0, "KiB")?;
        within(field("share"), self.share, 0.0..=1e12, "")?;
        within(field("stores"), self.stores, 0.0..=1.0, "of the references")?;
        if !self.element_bytes.is_power_of_two() || !(4..=4096).contains(&self.element_bytes) {
            let expected = "a power of two between 4 and 4096 bytes";
            return Err(Fault::new(field("element_bytes"), self.element_bytes, expected));
        }
        if self.elements() == 0 {
            let expected = format!("room for an element of {} bytes", self.element_bytes);
            return Err(Fault::new(field("kib"), self.kib, expected));
        }
        if self.code && self.stores > 0.0 {
            return Err(Fault::new(field("stores"), self.stores, "0, since it is code"));
        }
        match self.pattern {
            Pattern::Loop { block_kib, repeats } => {
                let least = f64::from(self.element_bytes) / 1024.0;
                within(field("pattern.loop.block_kib"), block_kib, least..=self.kib, "KiB")?;
                within(field("pattern.loop.repeats"), repeats.into(), 1.0..=1e6, "times")
            }
            Pattern::Zipf { exponent } => within(field("pattern.zipf.exponent"), exponent, 0.0..=10.0, ""),
            Pattern::Sweep | Pattern::Uniform => Ok(()),
        }
    }
}
