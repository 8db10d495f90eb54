//! Where packets wait, and which one a processor takes next (§3).
//!
//! Under Locking any processor can work on any packet, so packets wait in [`PacketLines`]. Under
//! IPS a stack works on one packet at a time: packets wait at their stack, and a stack that has
//! a packet but no processor waits in a line of [`StackLines`].

use crate::packet::shape::{Packet, Shape};
use std::collections::VecDeque;
use warmcore_policy::Line;
use warmcore_units::{CpuId, StackId};

/// The packets that are not in service.
pub trait Waiting {
    /// Nothing waits in a system of `shape`, with lines as the policy has them.
    fn none(shape: Shape, line: Line) -> Self;

    /// The stack that `packet` visits.
    fn stack_of(&self, packet: &Packet) -> StackId;

    /// The processor at which `packet` is at home.
    fn home_of(&self, packet: &Packet) -> CpuId;

    /// `packet` has arrived: whether it may go into service if there is a processor for it. If
    /// not, it has been put where it waits.
    fn admit(&mut self, packet: Packet) -> bool;

    /// Where packets wait for a processor.
    fn lines(&mut self) -> &mut Lines;

    /// `packet` was admitted, but there was no processor for it.
    #[inline]
    fn line_up(&mut self, packet: Packet) {
        let home = self.home_of(&packet);
        self.lines().of(home).push_back(packet);
    }

    /// What `cpu`, which has finished `finished`, continues with.
    fn next(&mut self, cpu: CpuId, finished: &Packet) -> Option<Packet>;
}

/// First-come-first-served lines, one for all processors or one for each.
#[derive(Clone, Debug)]
pub struct Lines {
    lines: Vec<VecDeque<Packet>>,
}

impl Lines {
    fn none(processors: u32, line: Line) -> Self {
        let lines = match line {
            Line::Common => 1,
            Line::PerProcessor => processors as usize,
        };
        Self { lines: vec![VecDeque::new(); lines] }
    }

    #[inline]
    fn of(&mut self, cpu: CpuId) -> &mut VecDeque<Packet> {
        let line = if self.lines.len() == 1 { 0 } else { cpu.index() };
        &mut self.lines[line]
    }
}

/// Waiting under Locking.
#[derive(Clone, Debug)]
pub struct PacketLines {
    processors: u32,
    lines: Lines,
}

impl Waiting for PacketLines {
    fn none(shape: Shape, line: Line) -> Self {
        Self { processors: shape.processors, lines: Lines::none(shape.processors, line) }
    }

    #[inline]
    fn stack_of(&self, _packet: &Packet) -> StackId {
        StackId(0)
    }

    #[inline]
    fn home_of(&self, packet: &Packet) -> CpuId {
        CpuId(packet.stream.0 % self.processors)
    }

    #[inline]
    fn admit(&mut self, _packet: Packet) -> bool {
        true
    }

    #[inline]
    fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    #[inline]
    fn next(&mut self, cpu: CpuId, _finished: &Packet) -> Option<Packet> {
        self.lines.of(cpu).pop_front()
    }
}

/// Waiting under Independent Protocol Stacks: a processor stays with its stack while packets
/// wait there.
#[derive(Clone, Debug)]
pub struct StackLines {
    processors: u32,
    stacks: Vec<Stack>,
    /// The first packets of stacks that wait for a processor.
    lines: Lines,
}

#[derive(Clone, Debug, Default)]
struct Stack {
    /// In service, or waiting for a processor.
    busy: bool,
    backlog: VecDeque<Packet>,
}

impl Waiting for StackLines {
    fn none(shape: Shape, line: Line) -> Self {
        Self {
            processors: shape.processors,
            stacks: vec![Stack::default(); shape.stacks as usize],
            lines: Lines::none(shape.processors, line),
        }
    }

    #[inline]
    fn stack_of(&self, packet: &Packet) -> StackId {
        StackId::from(packet.stream.index() % self.stacks.len())
    }

    #[inline]
    fn home_of(&self, packet: &Packet) -> CpuId {
        CpuId(self.stack_of(packet).0 % self.processors)
    }

    #[inline]
    fn admit(&mut self, packet: Packet) -> bool {
        let stack = self.stack_of(&packet);
        let stack = &mut self.stacks[stack.index()];
        if stack.busy {
            stack.backlog.push_back(packet);
            return false;
        }
        stack.busy = true;
        true
    }

    #[inline]
    fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    #[inline]
    fn next(&mut self, cpu: CpuId, finished: &Packet) -> Option<Packet> {
        let stack = self.stack_of(finished);
        let stack = &mut self.stacks[stack.index()];
        stack.backlog.pop_front().or_else(|| {
            stack.busy = false;
            self.lines.of(cpu).pop_front()
        })
    }
}
