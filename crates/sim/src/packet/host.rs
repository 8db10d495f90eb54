//! A simulated host, and the packets that arrive at it.

use warmcore_costs::ExecutionModel;
use warmcore_policy::dispatch::{Job, Layout};
use warmcore_scenario::packet::SETTLING_PACKETS;
use warmcore_scenario::{Effects, Extensions, Scheduling};
use warmcore_units::{Fault, Nanos, StreamId};
use warmcore_workload::Key;
use warmcore_workload::arrivals::Direction;

/// A host, and how it runs protocol work. `C` is its cost model.
#[derive(Debug)]
pub struct SimulatedHost<'a, C = ExecutionModel> {
    /// Its numbers of processors, streams and stacks.
    pub shape: Shape,
    /// Where packets are processed.
    pub scheduling: Scheduling,
    /// What processing costs.
    pub model: &'a C,
    /// What effects beyond Salehi 1994 cost.
    pub effects: Effects,
    /// What else goes beyond Salehi 1994: service times that vary, limits, speeds, priorities, closed loops.
    pub extensions: Extensions<'a>,
    /// Key of the random numbers that some policies draw.
    pub key: Key,
}

impl<C> Clone for SimulatedHost<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for SimulatedHost<'_, C> {}

impl<C> SimulatedHost<'_, C> {
    /// Whether it has nothing that goes beyond Salehi 1994, so that [`General`](crate::packet::features::General)
    /// features suffice.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.effects == Effects::NONE && self.extensions == Extensions::NONE
    }

    /// Checks that the host can be simulated.
    ///
    /// # Errors
    /// The first fault found, fields named as in a document.
    pub fn check(&self) -> Result<(), Fault> {
        self.shape.check()?;
        self.scheduling.check()?;
        self.effects.check()?;
        self.extensions.check(self.shape.processors, &self.scheduling)?;
        self.extensions.check_streams(self.shape.streams)
    }

    /// Which streams, stacks and processors belong together.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let Shape { processors, streams, stacks } = self.shape;
        self.scheduling.layout(processors, streams, stacks)
    }
}

/// Numbers of processors, streams and stacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Processors; there are as many protocol threads.
    pub processors: u32,
    /// Streams.
    pub streams: u32,
    /// Independent stacks under IPS. Ignored otherwise: Locking has one stack, Hybrid one for each processor.
    pub stacks: u32,
}

impl Shape {
    /// As many streams and stacks as processors, as Salehi 1994 simulates them (§6).
    #[must_use]
    pub const fn square(processors: u32) -> Self {
        Self { processors, streams: processors, stacks: processors }
    }

    /// Packets after which every stream, stack and processor has probably seen several, so that the contents
    /// of caches and queues are typical.
    #[must_use]
    pub(super) fn settled(&self) -> u64 {
        SETTLING_PACKETS * u64::from(self.streams.max(self.stacks).max(self.processors))
    }

    /// Whether what is kept of streams and stacks is too much to stay in the processor's cache. Packets are known before
    /// they start, so that it can be read a block ahead, all at once, rather than one after another as packets
    /// need it.
    #[must_use]
    pub(super) const fn has_many_streams(&self) -> bool {
        self.streams >= 4_096
    }

    /// Checks that every number is at least 1 and that there are no more stacks than streams.
    ///
    /// # Errors
    /// The first fault found.
    pub fn check(&self) -> Result<(), Fault> {
        for (field, count) in
            [("processors", self.processors), ("streams", self.streams), ("stacks", self.stacks)]
        {
            if count == 0 {
                return Err(Fault::new(field, 0, "at least 1"));
            }
        }
        if self.stacks > self.streams {
            let expected = format!("at most {}, the number of streams: each stack has one", self.streams);
            return Err(Fault::new("stacks", self.stacks, expected));
        }
        Ok(())
    }
}

/// A packet that has arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// When it arrived.
    pub arrived: Nanos,
    /// Its stream.
    pub stream: StreamId,
    /// Its size, for costs that depend on it.
    pub bytes: u16,
    /// Whether it was received or is to be sent.
    pub direction: Direction,
}

impl Job for Packet {
    #[inline]
    fn arrived(&self) -> Nanos {
        self.arrived
    }

    #[inline]
    fn stream(&self) -> StreamId {
        self.stream
    }
}

impl Packet {
    /// A received packet of size 0.
    #[must_use]
    pub const fn new(arrived: Nanos, stream: StreamId) -> Self {
        Self { arrived, stream, bytes: 0, direction: Direction::Receive }
    }
}
