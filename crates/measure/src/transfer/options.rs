//! The options of a comparison: what is transferred, and how models are compared.

use super::end_handle::Ends;
use super::instruction::SIZES;
use crate::blocks::BlockDesign;
use crate::model::Model;
use std::ops::RangeInclusive;
use std::time::Duration;
use warmcore_linux::affinity;
use warmcore_units::{Bytes, CpuId, Fault, PerSecond};

/// What the end under test does. Over a virtual wire both ends are on this machine, and the direction
/// only says which of them opened the connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// It sends.
    Transmit,
    /// It receives.
    Receive,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Transmit, Self::Receive];

    /// The name of the direction.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transmit => "transmit",
            Self::Receive => "receive",
        }
    }
}

/// What each connection carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// Which end is under test.
    pub direction: Direction,
    /// Bytes of each write of the sender. The receiver reads all that is there at once.
    pub size: Bytes,
    /// Bits per second of each connection; `None` for as many as possible.
    pub rate: Option<PerSecond>,
}

/// A comparison of affinity models.
#[derive(Clone, PartialEq, Debug)]
pub struct TransferOptions {
    /// Number of connections at a time, each with its own two ends.
    pub connections: u8,
    /// The cpus over which connections are distributed in turn; no end runs elsewhere.
    pub cpus: Vec<CpuId>,
    /// How the ends are run.
    pub ends: Ends,
    /// What each connection carries.
    pub load: Load,
    /// The models to compare. The first is the base for the others, and runs twice.
    pub models: Vec<Model>,
    /// How long each run is measured, after a short warm-up.
    pub window: Duration,
    /// The number of blocks, and when a run is repeated.
    pub blocks: BlockDesign,
}

/// Connections at once: no machine needs more in one comparison.
pub const CONNECTIONS: RangeInclusive<u64> = 1..=64;
/// Length of a run in seconds. Below, the kernel's ticks are too coarse; nobody waits longer.
const WINDOW_SECONDS: RangeInclusive<f64> = 0.2..=3600.0;
/// Blocks: fewer give no interval, and nobody waits for more.
pub const BLOCKS: RangeInclusive<u64> = 2..=1000;

impl TransferOptions {
    /// Checks the options before anything is created.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn check(&self) -> Result<(), Fault> {
        let (size, seconds) = (self.load.size, self.window.as_secs_f64());
        let within = |field: &str, found: String, is_within: bool, expected: String| {
            if is_within { Ok(()) } else { Err(Fault::new(field, found, expected)) }
        };
        let connections = CONNECTIONS.contains(&self.connections.into());
        within(
            "connections",
            self.connections.to_string(),
            connections,
            format!("from {} to {}", CONNECTIONS.start(), CONNECTIONS.end()),
        )?;
        let expected = format!("from {} to {} bytes", SIZES.start(), SIZES.end());
        within("size", size.0.to_string(), SIZES.contains(&size.0), expected)?;
        let expected = format!("from {} to {}", WINDOW_SECONDS.start(), WINDOW_SECONDS.end());
        within("seconds", seconds.to_string(), WINDOW_SECONDS.contains(&seconds), expected)?;
        let blocks = self.blocks.count;
        let expected =
            format!("from {}, the fewest that give an interval, to {}", BLOCKS.start(), BLOCKS.end());
        within("blocks", blocks.to_string(), BLOCKS.contains(&(blocks as u64)), expected)?;
        if let Some(PerSecond(rate)) = self.load.rate {
            within("rate", rate.to_string(), rate.is_finite() && rate > 0.0, "above 0".to_owned())?;
        }
        self.check_models()?;
        self.check_cpus()
    }

    fn check_models(&self) -> Result<(), Fault> {
        let twice =
            self.models.iter().enumerate().find(|(place, model)| self.models[..*place].contains(model));
        match (twice, self.models.is_empty()) {
            (Some((_, model)), _) => Err(Fault::new("models", format!("{model} twice"), "each model once")),
            (None, true) => Err(Fault::new("models", "none", "at least one model")),
            (None, false) => Ok(()),
        }
    }

    fn check_cpus(&self) -> Result<(), Fault> {
        let usable = affinity::mask().unwrap_or_default();
        for (place, cpu) in self.cpus.iter().enumerate() {
            if self.cpus[..place].contains(cpu) {
                return Err(Fault::new("cpus", format!("{} twice", cpu.0), "each cpu once"));
            }
            if !usable.contains(*cpu) {
                let expected = format!("cpus among {usable}, which this process may use");
                return Err(Fault::new("cpus", cpu.0, expected));
            }
        }
        let least = if self.models.contains(&Model::Crossed) { 2 } else { 1 };
        if self.cpus.len() < least {
            let expected = format!("at least {least}: the model `crossed` keeps packets and ends apart");
            return Err(Fault::new("cpus", format!("{} of them", self.cpus.len()), expected));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid_options() -> TransferOptions {
        let load = Load { direction: Direction::Transmit, size: Bytes(4096), rate: None };
        TransferOptions {
            connections: 2,
            cpus: vec![affinity::mask().unwrap().first().unwrap()],
            ends: Ends::Threads,
            load,
            models: vec![Model::None, Model::Full],
            window: Duration::from_secs(1),
            blocks: BlockDesign::default(),
        }
    }

    #[test]
    fn invalid_options_are_refused_by_name() {
        assert_eq!(valid_options().check(), Ok(()));
        type Spoil = fn(&mut TransferOptions);
        let wrong: [(&str, Spoil); 9] = [
            ("connections", |options| options.connections = 0),
            ("size", |options| options.load.size = Bytes(63)),
            ("size", |options| options.load.size = Bytes(65_537)),
            ("seconds", |options| options.window = Duration::from_millis(10)),
            ("blocks", |options| options.blocks.count = 1),
            ("rate", |options| options.load.rate = Some(PerSecond(0.0))),
            ("models", |options| options.models.push(Model::Full)),
            ("cpus", |options| options.cpus.push(CpuId(60_000))),
            ("cpus", |options| options.models = vec![Model::Crossed]),
        ];
        for (field, spoil) in wrong {
            let mut options = valid_options();
            spoil(&mut options);
            assert_eq!(options.check().unwrap_err().field, field);
        }
    }
}
