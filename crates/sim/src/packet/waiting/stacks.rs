use super::{Lines, Waiting, assign};
use crate::packet::host::{Host, Packet};
use std::collections::VecDeque;
use warmcore_policy::Line;
use warmcore_policy::assignment::in_turn;
use warmcore_units::{CpuId, StackId};

/// A stack works on one packet at a time: packets wait at their stack, and a stack that has a
/// packet but no processor waits in a line. A processor stays with its stack while packets wait
/// there.
#[derive(Clone, Debug)]
pub struct StackLines {
    /// The stack of each stream, and the home of each stack.
    stack_of: Vec<u32>,
    homes: Vec<u32>,
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

impl StackLines {
    #[inline]
    fn stack_of(&self, packet: &Packet) -> usize {
        self.stack_of[packet.stream.index()] as usize
    }
}

impl Waiting for StackLines {
    fn none(host: &Host, line: Line) -> Self {
        let shape = host.shape;
        Self {
            stack_of: assign(host, shape.streams, shape.stacks),
            homes: in_turn(shape.stacks, shape.processors),
            stacks: vec![Stack::default(); shape.stacks as usize],
            lines: Lines::none(shape.processors, line),
        }
    }

    #[inline]
    fn stack(&self, packet: &Packet, _cpu: CpuId) -> StackId {
        StackId::from(self.stack_of(packet))
    }

    #[inline]
    fn home(&self, packet: &Packet) -> CpuId {
        CpuId(self.homes[self.stack_of(packet)])
    }

    #[inline]
    fn admit(&mut self, packet: Packet) -> bool {
        let stack = self.stack_of(&packet);
        let stack = &mut self.stacks[stack];
        if stack.busy {
            stack.backlog.push_back(packet);
            return false;
        }
        stack.busy = true;
        true
    }

    #[inline]
    fn line_up(&mut self, packet: Packet, at: CpuId) {
        self.lines.of(at).push_back(packet);
    }

    #[inline]
    fn stay(&mut self, finished: &Packet) -> Option<Packet> {
        let stack = self.stack_of(finished);
        let stack = &mut self.stacks[stack];
        let next = stack.backlog.pop_front();
        stack.busy = next.is_some();
        next
    }

    #[inline]
    fn take(&mut self, at: CpuId, _finished: Option<&Packet>) -> Option<Packet> {
        self.lines.of(at).pop_front()
    }
}
