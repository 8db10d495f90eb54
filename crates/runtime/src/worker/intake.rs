//! How packets come to a worker: from its queue, from its mailbox, and from others who found them.

use super::{INTAKE, Worker, protocol};
use crate::board::Board;
use crate::control::Order;
use crate::driver::{Bytes, Incoming};
use crate::handler::Handler;
use crate::lane::Open;
use crate::options::Overload;
use crate::packet::{Frame, Packet};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stack::DropReason;
use warmcore_units::{CpuId, Nanos};

impl<P: Policy, W: Waiting<Job = Packet>, H: Handler> Worker<'_, '_, P, W, H> {
    /// Takes in what has arrived by `now`; the policy says who processes it.
    #[inline]
    pub(super) fn take_in(&mut self, board: &mut Board<P, W>, now: Nanos) {
        let lane = self.floor.lane(self.me);
        if lane.due() <= now
            && let Some(mut open) = lane.open()
        {
            self.take_from(&mut open, board, now);
        }
    }

    /// Takes in what has arrived by `now` at a queue that is open.
    #[inline]
    pub(super) fn take_from(&mut self, open: &mut Open<'_>, board: &mut Board<P, W>, now: Nanos) {
        let floor = self.floor;
        // What others took in before, of the same streams perhaps, comes before what is taken in now.
        self.let_in_passed(board);
        let room = floor.capacity.saturating_sub(board.held()) as usize;
        let limit = match floor.overload {
            Overload::Drop => INTAKE,
            // Rather many at once than one for each that leaves.
            Overload::HoldBack if room < INTAKE.min(floor.capacity as usize / 2) => 0,
            Overload::HoldBack if !floor.can_pass_on(self.me) => 0,
            Overload::HoldBack => INTAKE.min(room),
        };
        if limit > 0 && floor.control.order() == Order::Run {
            open.receive(now, limit, |incoming| self.admit(board, incoming));
        }
    }

    /// A frame has come in: whose it is, and who processes it.
    #[inline]
    pub(super) fn admit(&mut self, board: &mut Board<P, W>, incoming: Incoming<'_>) {
        let floor = self.floor;
        let (stream, frame) = match incoming.bytes {
            Bytes::Prepared(index) => (floor.prepared[index as usize].stream, Frame::Prepared(index)),
            Bytes::Shown(bytes) => {
                let protocol = protocol(&mut self.protocol, floor);
                let stream = match protocol.classify(bytes) {
                    Ok(key) => protocol.find(&key),
                    Err(reason) => return self.tally.refused(reason),
                };
                let Some(stream) = stream else { return self.tally.refused(DropReason::UdpNoSession) };
                let mut buffer = self.buffers.pop().unwrap_or_default();
                buffer.fill(bytes);
                (stream, Frame::Held(buffer))
            }
        };
        let packet = Packet { arrived: incoming.at, stream, frame };
        match floor.owner(stream) {
            Some(owner) if owner != self.me => self.pass_on(owner, packet),
            _ => self.let_in(board, packet),
        }
    }

    /// `packet` comes onto this worker's board.
    #[inline]
    pub(super) fn let_in(&mut self, board: &mut Board<P, W>, packet: Packet) {
        if board.held() >= self.floor.capacity {
            self.tally.overflowed(1);
            return self.recycle(packet.frame);
        }
        match board.arrive(packet) {
            Some((cpu, assignment)) if cpu == self.me => self.hand = Some(assignment),
            Some((cpu, assignment)) => {
                self.floor.seats[cpu.index()].post(assignment);
                self.called.push(cpu);
            }
            None => {}
        }
    }

    /// `packet` belongs on the board of `owner`.
    pub(super) fn pass_on(&mut self, owner: CpuId, packet: Packet) {
        match self.floor.seats[owner.index()].inbox.push(packet) {
            Ok(()) => self.called.push(owner),
            Err(packet) => {
                self.tally.overflowed(1);
                self.recycle(packet.frame);
            }
        }
    }

    /// Takes what others have put here; whether there is something to process now.
    #[inline]
    pub(super) fn collect(&mut self) -> bool {
        let floor = self.floor;
        let seat = &floor.seats[self.me.index()];
        self.hand = seat.collect();
        if !seat.inbox.is_empty() {
            let mut board = floor.board(self.me).lock();
            self.let_in_passed(&mut board);
        }
        self.hand.is_some()
    }

    /// What others have passed on comes onto this worker's board.
    #[inline]
    pub(super) fn let_in_passed(&mut self, board: &mut Board<P, W>) {
        let floor = self.floor;
        let inbox = &floor.seats[self.me.index()].inbox;
        while !inbox.is_empty()
            && (floor.overload == Overload::Drop || board.held() < floor.capacity)
            && let Some(packet) = inbox.pop()
        {
            self.let_in(board, packet);
        }
    }
}
