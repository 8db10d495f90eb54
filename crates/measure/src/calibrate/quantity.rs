//! The measured values: those of Salehi 1994, Table 2 and §5, for this machine's cache levels.

use crate::caches::hierarchy::Hierarchy;
use crate::run::pattern::{self, CONSUMERS};
use crate::run::script::{BeforePacket, PoolUse, Script};
use core::fmt;
use warmcore_costs::{Approach, Experiment, Packets, Situation, ThreadStack};

/// Which caches hold the protocol's data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum State {
    /// The first level holds all of it, except for migrating lines.
    Hot,
    /// The levels from 0 up to this one hold none of it.
    Cold(usize),
}

/// One value to measure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum MeasuredValue {
    /// The time of a packet.
    Receive { approach: Approach, situation: Situation, state: State },
    /// The additional time to acquire from a pool that was last written elsewhere.
    Acquire,
    /// The additional time to release to a pool that was last written elsewhere.
    Release,
}

/// The situation of the fully cold times. Nothing migrates, because everything must be fetched anyway.
const FULLY_COLD: Situation = Situation { experiment: Experiment::A1, thread_stack: ThreadStack::Cached };

impl MeasuredValue {
    /// All values that can be measured on this many processors with these levels.
    pub(crate) fn all(hierarchy: &Hierarchy, processors: usize) -> Vec<Self> {
        let depth = hierarchy.depth();
        let states = || core::iter::once(State::Hot).chain((0..depth.saturating_sub(1)).map(State::Cold));
        let alone = |situation: &Situation| {
            !situation.experiment.migrates() && situation.thread_stack == ThreadStack::Cached
        };
        let situations: Vec<Situation> =
            Situation::all().filter(|situation| processors >= CONSUMERS || alone(situation)).collect();
        let mut all = Vec::new();
        for approach in Approach::ALL {
            for &situation in &situations {
                all.extend(states().map(|state| Self::Receive { approach, situation, state }));
            }
            all.push(Self::fully_cold(approach, hierarchy));
        }
        if processors >= CONSUMERS {
            all.extend([Self::Acquire, Self::Release]);
        }
        all
    }

    /// The time of a packet that finds nothing in any cache.
    pub(crate) const fn fully_cold(approach: Approach, hierarchy: &Hierarchy) -> Self {
        let state = State::Cold(hierarchy.depth().saturating_sub(1));
        Self::Receive { approach, situation: FULLY_COLD, state }
    }

    /// The same value in the next warmer state, in which it cannot take longer.
    pub(crate) fn warmer(&self) -> Option<Self> {
        match *self {
            Self::Receive { approach, situation, state: State::Cold(level) } => {
                let state = level.checked_sub(1).map_or(State::Hot, State::Cold);
                Some(Self::Receive { approach, situation, state })
            }
            _ => None,
        }
    }

    /// The cold state of its packets; `None` if they are hot.
    pub(crate) const fn cold(&self) -> Option<usize> {
        match self {
            Self::Receive { state: State::Cold(level), .. } => Some(*level),
            _ => None,
        }
    }

    /// The script of a run that measures it with `timed` packets.
    pub(crate) fn script(&self, timed: u32, packets: Packets) -> Script {
        let (approach, situation, state) = match *self {
            Self::Receive { approach, situation, state } => (approach, situation, state),
            Self::Acquire | Self::Release => (Approach::IndependentStacks, FULLY_COLD, State::Hot),
        };
        Script {
            approach,
            pattern: pattern::steps(situation.experiment),
            stack_migrates: situation.thread_stack == ThreadStack::Migrates,
            before: match state {
                State::Hot => BeforePacket::Nothing,
                State::Cold(level) => BeforePacket::Evict(level),
            },
            pool: match self {
                Self::Receive { .. } => PoolUse::Own,
                Self::Acquire => PoolUse::WrittenBeforeAcquire,
                Self::Release => PoolUse::WrittenBeforeRelease,
            },
            timed,
            packets,
        }
    }

    /// Whether a run's value is the difference between packets that found their pool's lines
    /// written elsewhere and packets that did not.
    pub(crate) const fn is_difference(&self) -> bool {
        matches!(self, Self::Acquire | Self::Release)
    }

    /// Number of empty start/stop pairs in the ticks of one sample.
    pub(crate) const fn readings(&self) -> f64 {
        if matches!(self, Self::Release) { 2.0 } else { 1.0 }
    }
}

impl fmt::Display for MeasuredValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receive { approach, situation, state } => {
                write!(f, "{}, {situation}, ", approach.short())?;
                match state {
                    State::Hot => write!(f, "hot"),
                    State::Cold(level) => {
                        write!(f, "cold in {} level{}", level + 1, if *level == 0 { "" } else { "s" })
                    }
                }
            }
            Self::Acquire => write!(f, "acquiring free memory"),
            Self::Release => write!(f, "releasing free memory"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::plan::CalibrationPlan;
    use std::collections::BTreeSet;
    use warmcore_topology::synthetic;
    use warmcore_units::CpuId;

    fn hierarchy() -> Hierarchy {
        Hierarchy::new(&synthetic::sgi_challenge_xl(8), CpuId(0)).unwrap()
    }

    #[test]
    fn salehi_1994_measures_24_pairs_two_fully_cold_times_and_two_overheads() {
        let all = MeasuredValue::all(&hierarchy(), 2);
        assert_eq!(all.len(), 24 * 2 + 2 + 2);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn every_cold_value_has_a_warmer_one() {
        let all = MeasuredValue::all(&hierarchy(), 2);
        for quantity in &all {
            assert_eq!(quantity.warmer().is_some(), quantity.cold().is_some(), "{quantity}");
            assert!(quantity.warmer().is_none_or(|warmer| all.contains(&warmer)));
        }
    }

    #[test]
    fn one_processor_measures_only_what_does_not_migrate() {
        let all = MeasuredValue::all(&hierarchy(), 1);
        let packets = CalibrationPlan::standard().packets();
        assert_eq!(all.len(), 2 * (2 * 2 + 1));
        assert!(all.iter().all(|quantity| !quantity.script(10, packets).stack_migrates));
        assert!(all.iter().all(|q| q.script(10, packets).pattern.iter().all(|step| step.consumer == 0)));
    }
}
