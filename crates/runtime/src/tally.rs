//! What a worker measured, in blocks of time.
//!
//! A block is [`BLOCK`] long, and a packet counts in the block in which it finishes. A worker fills its
//! block alone and publishes it when it is full, so that nothing is shared in the packet path. Packets
//! that met a stall, a time in which the machine took a worker's processor away, are counted
//! separately: their delays say nothing about scheduling.

use std::collections::{BTreeMap, VecDeque};
use warmcore_costs::Situation;
use warmcore_stack::DropReason;
use warmcore_stats::histogram::{COARSE, Filling, Histogram};
use warmcore_units::{CpuId, Nanos};

/// The length of a block.
pub const BLOCK: Nanos = Nanos(10e6);
/// Blocks of each worker that are kept: the last minute.
pub const KEPT: usize = 6_000;

/// Number of refused packets, by reason.
pub type Refused = BTreeMap<DropReason, u64>;

/// Histogram of delays. A worker updates it between packets, so it has few cache lines and displaces
/// none of the protocol's.
pub type Delays = Histogram<COARSE>;

/// What one worker did in one block of time.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Number of the block, from the start of the run.
    pub number: u64,
    /// Packets that met no stall.
    pub clean: PacketStats,
    /// Packets that met a stall or came shortly after one.
    pub disturbed: PacketStats,
    /// Overhead of the timed clean packets that followed another without a pause: their number, and
    /// their time from the end of the packet before, without their time in the stack.
    pub packet_overhead: Served,
    /// Packets whose end was interpolated.
    pub interpolated: Interpolated,
    /// Time in stack and handler of the clean packets that were timed, by [`Situation::index`].
    pub timed: [Served; Situation::COUNT],
    /// Packets that the stack refused, by reason, including those of unknown streams.
    pub refused: Refused,
    /// Packets dropped because too many waited.
    pub overflowed: u64,
    /// Packets whose handler panicked, and packets of streams that have failed.
    pub failed: u64,
    /// Answers that could not be sent.
    pub unanswered: u64,
    /// Packets received here and forwarded to the worker that is the home of their stream.
    pub forwarded: u64,
    /// How often the worker was stalled, and for how long at most.
    pub stalls: Stalls,
    /// The last processor on which the worker was found that was not its own: somebody moved the
    /// thread.
    pub moved: Option<CpuId>,
}

/// Statistics of finished packets.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PacketStats {
    /// The sum of their delays.
    pub delay: Nanos,
    /// Their delays, in nanoseconds.
    pub delays: Delays,
    /// Their number and time in service, by [`Situation::index`]. Packets that [share a reading](Interpolated) of the
    /// clock share its time evenly, whatever their situation; those in `alone` do not.
    pub situations: [Served; Situation::COUNT],
    /// Of these, the ones between two readings of the clock with no other packet in between.
    pub alone: [Served; Situation::COUNT],
}

/// Packets between two readings of the clock with others in between. Their ends are interpolated, as if all took
/// equally long, so that sums of times are as read, and the delay of each is known to less than the time between the
/// readings: some four microseconds, or what a packet took that was far longer than those before it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Interpolated {
    /// Their number.
    pub packets: u64,
    /// The longest time between two such readings, stalls aside.
    pub longest: Nanos,
}

/// Number of packets and their total time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Served {
    /// Number of packets.
    pub packets: u64,
    /// Sum of their times.
    pub time: Nanos,
}

/// Times in which a worker wanted to run and did not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stalls {
    /// Number of stalls.
    pub count: u64,
    /// The longest of them.
    pub longest: Nanos,
}

impl PacketStats {
    /// Number of packets.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.situations.iter().map(|served| served.packets).sum()
    }

    /// Their time in service.
    #[must_use]
    pub fn busy(&self) -> Nanos {
        self.situations.iter().map(|served| served.time).sum()
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.delay += other.delay;
        self.delays.merge(&other.delays);
        self.situations.iter_mut().zip(other.situations).for_each(|(ours, theirs)| ours.merge(theirs));
        self.alone.iter_mut().zip(other.alone).for_each(|(ours, theirs)| ours.merge(theirs));
    }

    fn push(&mut self, delay: Nanos, service: Nanos, situation: Situation) {
        self.delay += delay;
        self.situations[situation.index()].push(service);
    }
}

impl Served {
    #[inline]
    fn push(&mut self, time: Nanos) {
        self.packets += 1;
        self.time += time;
    }

    fn merge(&mut self, other: Self) {
        self.packets += other.packets;
        self.time += other.time;
    }
}

impl Block {
    /// Packets finished.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.clean.packets() + self.disturbed.packets()
    }

    /// Time in service.
    #[must_use]
    pub fn busy(&self) -> Nanos {
        self.clean.busy() + self.disturbed.busy()
    }

    /// All finished packets, whatever they met.
    #[must_use]
    pub fn all_packets(&self) -> PacketStats {
        let mut seen = self.clean.clone();
        seen.merge(&self.disturbed);
        seen
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.clean.merge(&other.clean);
        self.disturbed.merge(&other.disturbed);
        self.packet_overhead.merge(other.packet_overhead);
        self.interpolated.packets += other.interpolated.packets;
        self.interpolated.longest = self.interpolated.longest.max(other.interpolated.longest);
        self.timed.iter_mut().zip(other.timed).for_each(|(ours, theirs)| ours.merge(theirs));
        for (reason, &packets) in &other.refused {
            *self.refused.entry(*reason).or_default() += packets;
        }
        self.overflowed += other.overflowed;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.forwarded += other.forwarded;
        self.stalls.count += other.stalls.count;
        self.stalls.longest = self.stalls.longest.max(other.stalls.longest);
        self.moved = other.moved.or(self.moved);
    }
}

/// The packets between two readings of the clock that met no stall.
#[derive(Debug, Default)]
pub(crate) struct SpanStats {
    delay: Nanos,
    /// Their number, by [`Situation::index`].
    situations: [u32; Situation::COUNT],
}

impl SpanStats {
    #[inline]
    pub(crate) fn push(&mut self, delay: Nanos, situation: Situation) {
        self.delay += delay;
        self.situations[situation.index()] += 1;
    }
}

/// The block that a worker is filling.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    block: Block,
    clean: Filling<COARSE>,
    disturbed: Filling<COARSE>,
    ends: Nanos,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self { ends: BLOCK, ..Self::default() }
    }

    /// Counts the delay of a packet that met no stall.
    #[inline]
    pub(crate) fn finished(&mut self, delay: Nanos) {
        self.clean.push(delay.0);
    }

    /// Counts those of the `packets` packets between two readings of the clock that met no stall, each with the same time
    /// in `service`.
    #[inline]
    pub(crate) fn span(&mut self, finished: &SpanStats, service: Nanos, packets: u32) {
        let Block { clean, interpolated, .. } = &mut self.block;
        clean.delay += finished.delay;
        let count = |all: &mut [Served; Situation::COUNT]| {
            for (all, &packets) in all.iter_mut().zip(&finished.situations) {
                all.packets += u64::from(packets);
                all.time += service * f64::from(packets);
            }
        };
        count(&mut clean.situations);
        if packets == 1 {
            count(&mut clean.alone);
        } else if finished.situations != [0; Situation::COUNT] {
            interpolated.packets += u64::from(packets);
            interpolated.longest = interpolated.longest.max(service * f64::from(packets));
        }
    }

    /// Records that the last packet spent `time` in the stack. It met no stall. If it followed another
    /// packet without a pause, `packet_overhead` is the rest of its time since that packet.
    #[inline]
    pub(crate) fn timed(&mut self, time: Nanos, situation: Situation, packet_overhead: Option<Nanos>) {
        self.block.timed[situation.index()].push(time);
        if let Some(packet_overhead) = packet_overhead {
            self.block.packet_overhead.push(packet_overhead);
        }
    }

    /// Counts a packet that met a stall and finished `delay` after it arrived, with this time in `service`.
    #[cold]
    pub(crate) fn disturbed(&mut self, delay: Nanos, service: Nanos, situation: Situation) {
        self.disturbed.push(delay.0);
        self.block.disturbed.push(delay, service, situation);
    }

    #[cold]
    pub(crate) fn refused(&mut self, reason: DropReason) {
        *self.block.refused.entry(reason).or_default() += 1;
    }

    pub(crate) fn overflowed(&mut self, packets: u64) {
        self.block.overflowed += packets;
    }

    pub(crate) fn failed(&mut self) {
        self.block.failed += 1;
    }

    #[cold]
    pub(crate) fn unanswered(&mut self) {
        self.block.unanswered += 1;
    }

    #[inline]
    pub(crate) fn forwarded(&mut self) {
        self.block.forwarded += 1;
    }

    /// Records that the worker runs on `cpu`, which is not its own.
    #[cold]
    pub(crate) fn moved(&mut self, cpu: CpuId) {
        self.block.moved = Some(cpu);
    }

    #[cold]
    pub(crate) fn stalled(&mut self, duration: Nanos) {
        let stalls = &mut self.block.stalls;
        stalls.count += 1;
        stalls.longest = stalls.longest.max(duration);
    }

    /// Whether the block has ended at `now`.
    #[inline]
    pub(crate) fn is_full(&self, now: Nanos) -> bool {
        now >= self.ends
    }

    /// Returns the block, which has ended at `now`, and starts the block that contains `now`.
    #[cold]
    pub(crate) fn finish_block(&mut self, now: Nanos) -> Block {
        let number = (now / BLOCK) as u64;
        self.ends = BLOCK * (number + 1) as f64;
        let mut full = core::mem::replace(&mut self.block, Block { number, ..Block::default() });
        // Most blocks of a quiet run are empty and need no search for delays.
        if full.clean.packets() > 0 {
            full.clean.delays = self.clean.take();
        }
        if full.disturbed.packets() > 0 {
            full.disturbed.delays = self.disturbed.take();
        }
        full
    }
}

/// The last blocks of one worker, and the sum of all.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// The last [`KEPT`] blocks, oldest first, including those in which no packet finished.
    pub last: VecDeque<Block>,
    /// All blocks merged.
    pub total: Block,
}

impl Blocks {
    pub(crate) fn push(&mut self, block: Block) {
        self.total.merge(&block);
        if let Some(last) = self.last.back_mut()
            && last.number == block.number
        {
            last.merge(&block);
            return;
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(block);
    }
}
