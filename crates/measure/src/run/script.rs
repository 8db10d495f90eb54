//! The script of a run, and what it recorded.

use crate::clock::{Ticks, Timer};
use crate::run::pattern::Step;
use crate::run::proximity::Readings;
use core::time::Duration;
use warmcore_costs::{Approach, Packets};
use warmcore_linux::Disturbance;
use warmcore_units::Nanos;

/// What happens on the consumer's processor before a timed packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum BeforePacket {
    /// Nothing: the packet finds the caches as the last one left them.
    Nothing,
    /// The levels up to this one (from 0) are made cold.
    Evict(usize),
    /// The built-in workload runs for this long.
    Work(Ticks),
    /// The thread sleeps for this long, and the processor does whatever else it has to do.
    Sleep(Nanos),
}

/// When a free-memory pool's lines are written elsewhere. Except with [`Own`](Self::Own), every other
/// timed packet finds them so, starting with the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PoolUse {
    /// Never: each processor has its own pool.
    Own,
    /// Before the packet acquires memory.
    WrittenBeforeAcquire,
    /// While the packet is at the top of the stack, before it releases memory.
    WrittenBeforeRelease,
}

/// The script of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script {
    pub(crate) approach: Approach,
    pub(crate) pattern: &'static [Step],
    pub(crate) stack_migrates: bool,
    pub(crate) before: BeforePacket,
    pub(crate) pool: PoolUse,
    /// Number of timed packets.
    pub(crate) timed: u32,
    pub(crate) packets: Packets,
}

impl Script {
    /// Packets before the first timed one, so that caches and predictors settle.
    pub(crate) const WARM_UP: usize = 64;
    /// Packets before the disturbance counters are read: until then, memory that the run touches for
    /// the first time causes page faults.
    pub(crate) const SETTLING_PACKETS: usize = 32;
    /// Microseconds between two packets, to conversations.
    const STEP: u64 = 10;

    /// Number of packets of the run, timed or not.
    pub(crate) fn length(&self) -> usize {
        let timed = self.pattern.iter().filter(|step| step.is_timed()).count().max(1);
        Self::WARM_UP + (self.timed as usize).div_ceil(timed) * self.pattern.len()
    }

    /// The `packet`-th packet.
    pub(crate) fn step(&self, packet: usize) -> Step {
        self.pattern[packet % self.pattern.len()]
    }

    /// The time that conversations are told when `packet` is sent and received. It is not that of a clock: it
    /// advances by [`STEP`](Self::STEP) with each packet, so that no timer of theirs expires, and a run has
    /// the same protocol work however long it takes.
    pub(crate) const fn now(packet: usize) -> Duration {
        Duration::from_micros(Self::STEP * (packet as u64 + 1))
    }

    /// Whether `packet` is timed.
    pub(crate) fn is_timed(&self, packet: usize) -> bool {
        packet >= Self::WARM_UP && self.step(packet).is_timed()
    }

    /// An empty list with room for the timed packets. Its memory has been written to, so that filling
    /// it causes no page fault.
    pub(crate) fn empty_samples(&self) -> Vec<Sample> {
        let mut samples = vec![Sample { ticks: 1, intervened: 1, packet: 1 }; self.length()];
        samples.clear();
        samples
    }

    /// Whether the pool's lines are written elsewhere around `packet`.
    pub(crate) const fn writes_pool(packet: usize) -> bool {
        packet.is_multiple_of(2)
    }
}

/// One timed packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sample {
    /// Its time, including the overhead of the readings.
    pub(crate) ticks: Ticks,
    /// Time between it and the work before it.
    pub(crate) intervened: Ticks,
    /// Its position in the run.
    pub(crate) packet: usize,
}

impl Sample {
    /// Whether it found its pool's lines written elsewhere, in a run in which every other packet does.
    pub(crate) const fn pool_written(&self) -> bool {
        Script::writes_pool(self.packet)
    }
}

/// What a run of a script recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptRun {
    /// The timed packets; those of one consumer are in order.
    pub(crate) samples: Vec<Sample>,
    /// Disturbances of the threads by the kernel.
    pub(crate) disturbance: Disturbance,
    /// Ticks of a hand-over between the first two processors, after the warm-up and at the end; `None`
    /// with one processor.
    pub(crate) exchanges: Option<[Ticks; 2]>,
}

impl ScriptRun {
    /// The hand-over times in nanoseconds.
    pub(crate) fn readings(&self, timer: &Timer) -> Readings {
        self.exchanges.map(|exchanges| exchanges.map(|ticks| timer.nanos(ticks as f64).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::plan::CalibrationPlan;
    use crate::run::pattern;
    use warmcore_costs::Experiment;

    #[test]
    fn every_pattern_times_as_many_packets_as_asked_or_a_pattern_more() {
        for experiment in Experiment::ALL {
            let pattern = pattern::steps(experiment);
            let script = Script {
                approach: Approach::Locking,
                pattern,
                stack_migrates: false,
                before: BeforePacket::Nothing,
                pool: PoolUse::Own,
                timed: 999,
                packets: CalibrationPlan::standard().packets(),
            };
            let timed = (0..script.length()).filter(|&packet| script.is_timed(packet)).count();
            assert!((999..999 + pattern.len()).contains(&timed), "{experiment}: {timed}");
            assert!(script.empty_samples().capacity() >= timed);
        }
    }
}
