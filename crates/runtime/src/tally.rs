//! What a worker has seen, in blocks of time.
//!
//! A block is [`BLOCK`] long; packets count where they are finished. A worker fills one block after
//! the other by itself and hands each over when it is full, so that nothing is shared in the
//! packet's path. Packets that met a time in which the machine took a worker's processor away are counted apart:
//! their delays say nothing about scheduling.

use std::collections::{BTreeMap, VecDeque};
use warmcore_costs::Situation;
use warmcore_stack::DropReason;
use warmcore_stats::histogram::{COARSE, Filling, Histogram};
use warmcore_units::{CpuId, Nanos};

/// The length of a block.
pub const BLOCK: Nanos = Nanos(10e6);
/// Blocks of one worker that are kept: the last minute.
pub const KEPT: usize = 6_000;

/// Packets by the reason for which they were refused.
pub type Refused = BTreeMap<DropReason, u64>;

/// Counts of delays. A worker counts them between packets: they are few cache lines, and none of the
/// protocol's are displaced for their sake.
pub type Delays = Histogram<COARSE>;

/// What one worker did in one block of time.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Which block, counted from the start of the run.
    pub number: u64,
    /// Packets that met nothing but the scheduling.
    pub clean: PacketStats,
    /// Packets that met, or came shortly after, a time in which a worker did not run.
    pub disturbed: PacketStats,
    /// Clean packets of those that were timed, and followed another without a pause: how many, and how long
    /// they took from the end of the one before besides their time in the stack.
    pub packet_overhead: Served,
    /// Clean packets whose time in stack and handler was taken, by [`Situation::index`].
    pub timed: [Served; Situation::COUNT],
    /// Packets the stack refused, by reason; those of unknown streams are among them.
    pub refused: Refused,
    /// Packets dropped because too many waited.
    pub overflowed: u64,
    /// Packets in whose handler something panicked, and those of streams that have failed.
    pub failed: u64,
    /// Answers that could not be sent.
    pub unanswered: u64,
    /// How often, and for how long at most, the worker did not run.
    pub stalls: Stalls,
    /// The processor on which the worker was found last that was not its own: somebody has moved it.
    pub moved: Option<CpuId>,
}

/// Finished packets.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PacketStats {
    /// The sum of their delays.
    pub delay: Nanos,
    /// Their delays, in nanoseconds.
    pub delays: Delays,
    /// Their number and time in service, by [`Situation::index`].
    pub situations: [Served; Situation::COUNT],
}

/// Packets in service.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Served {
    /// How many.
    pub packets: u64,
    /// How long all of them together.
    pub time: Nanos,
}

/// Times in which a worker did not run though it wanted to.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stalls {
    /// How many.
    pub count: u64,
    /// The longest of them.
    pub longest: Nanos,
}

impl PacketStats {
    /// How many.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.situations.iter().map(|served| served.packets).sum()
    }

    /// Their time in service.
    #[must_use]
    pub fn busy(&self) -> Nanos {
        self.situations.iter().map(|served| served.time).sum()
    }

    /// Counts in what `other` has.
    pub fn merge(&mut self, other: &Self) {
        self.delay += other.delay;
        self.delays.merge(&other.delays);
        self.situations.iter_mut().zip(other.situations).for_each(|(ours, theirs)| ours.merge(theirs));
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

    /// Counts in what `other` has.
    pub fn merge(&mut self, other: &Self) {
        self.clean.merge(&other.clean);
        self.disturbed.merge(&other.disturbed);
        self.packet_overhead.merge(other.packet_overhead);
        self.timed.iter_mut().zip(other.timed).for_each(|(ours, theirs)| ours.merge(theirs));
        for (reason, &packets) in &other.refused {
            *self.refused.entry(*reason).or_default() += packets;
        }
        self.overflowed += other.overflowed;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.stalls.count += other.stalls.count;
        self.stalls.longest = self.stalls.longest.max(other.stalls.longest);
        self.moved = other.moved.or(self.moved);
    }
}

/// The block that is being filled.
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

    /// A packet is finished, `delay` after it arrived and `service` after its service started in
    /// `situation`.
    #[inline]
    pub(crate) fn finished(&mut self, delay: Nanos, service: Nanos, situation: Situation) {
        self.clean.push(delay.0);
        self.block.clean.push(delay, service, situation);
    }

    /// The packet that was finished last took `time` in the stack, and met no time in which a worker did not
    /// run; if it followed another without a pause, it took `packet_overhead` since that one besides.
    #[inline]
    pub(crate) fn timed(&mut self, time: Nanos, situation: Situation, packet_overhead: Option<Nanos>) {
        self.block.timed[situation.index()].push(time);
        if let Some(packet_overhead) = packet_overhead {
            self.block.packet_overhead.push(packet_overhead);
        }
    }

    /// The same as [`finished`](Self::finished) of a packet that met a time in which a worker did not run.
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

    /// The worker is on `cpu`, which is not its own.
    #[cold]
    pub(crate) fn moved(&mut self, cpu: CpuId) {
        self.block.moved = Some(cpu);
    }

    #[cold]
    pub(crate) fn stalled(&mut self, for_: Nanos) {
        let stalls = &mut self.block.stalls;
        stalls.count += 1;
        stalls.longest = stalls.longest.max(for_);
    }

    /// Whether the block is over at `now`.
    #[inline]
    pub(crate) fn is_full(&self, now: Nanos) -> bool {
        now >= self.ends
    }

    /// The block, which is over at `now`; the one that `now` lies in begins.
    #[cold]
    pub(crate) fn turn(&mut self, now: Nanos) -> Block {
        let number = (now / BLOCK) as u64;
        self.ends = BLOCK * (number + 1) as f64;
        let mut full = core::mem::replace(&mut self.block, Block { number, ..Block::default() });
        // Most blocks of a quiet run are empty, and need not be searched for delays.
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
    /// The last [`KEPT`] of them, oldest first; blocks in which nothing was finished are among them.
    pub last: VecDeque<Block>,
    /// All of them together.
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
