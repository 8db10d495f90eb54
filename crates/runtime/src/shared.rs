//! Everything that the workers of a run share.

use crate::board::Board;
use crate::clock::Clock;
use crate::control::Control;
use crate::driver::Prepared;
use crate::lane::Lane;
use crate::options::{Idle, Overload};
use crate::packet::{Frame, Packet};
use crate::protocol::Protocol;
use crate::seat::Seat;
use crate::stalls::LastStall;
use crate::stopwatch::Stopwatch;
use crate::streams::Streams;
use crate::tally::Blocks;
use crate::worker::INTAKE;
use crossbeam_utils::CachePadded;
use std::sync::{Mutex, RwLock};
use warmcore_linux::ProtocolThread;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stack::Pool;
use warmcore_stack::wire::LinkKind;
use warmcore_units::{CpuId, Nanos, StreamId, ThreadId};

/// What the workers share. `H` handles packets; `P` and `W` decide where.
pub(crate) struct Floor<'a, P, W, H> {
    pub(crate) clock: &'a Clock,
    pub(crate) control: &'a Control,
    pub(crate) handler: &'a H,
    /// One for all workers, or one for each.
    pub(crate) boards: Vec<CachePadded<spin::Mutex<Board<P, W>>>>,
    pub(crate) seats: Vec<Seat>,
    pub(crate) lanes: Vec<CachePadded<Lane>>,
    pub(crate) prepared: Vec<Prepared>,
    pub(crate) protocol: RwLock<Protocol>,
    pub(crate) streams: &'a Streams,
    pub(crate) threads: Vec<CachePadded<spin::Mutex<ProtocolThread>>>,
    /// One for all workers, or one for each.
    pub(crate) pools: Vec<Pool>,
    pub(crate) blocks: &'a [CachePadded<Mutex<Blocks>>],
    pub(crate) idle: &'a Idle,
    pub(crate) link: LinkKind,
    pub(crate) stopwatch: Option<Stopwatch>,
    pub(crate) overload: Overload,
    /// Packets that a board may hold.
    pub(crate) capacity: u32,
    /// When somebody last was kept from running.
    pub(crate) stalled: CachePadded<LastStall>,
    /// Longer than this a worker never takes between two looks at the clock by itself.
    pub(crate) stall: Nanos,
}

impl<P: Policy, W: Waiting<Job = Packet>, H> Floor<'_, P, W, H> {
    /// The board on which `worker` is.
    #[inline]
    pub(crate) fn board(&self, worker: CpuId) -> &spin::Mutex<Board<P, W>> {
        &self.boards[worker.index() % self.boards.len()]
    }

    /// Whether `worker` can pass on to each other one all that it takes in at once, though the
    /// others do the same.
    #[inline]
    pub(crate) fn can_pass_on(&self, worker: CpuId) -> bool {
        let needed = INTAKE * self.seats.len();
        let has_room = |seat: &Seat| seat.inbox.capacity() - seat.inbox.len() >= needed;
        self.boards.len() == 1
            || self.seats.iter().enumerate().all(|(other, seat)| other == worker.index() || has_room(seat))
    }

    /// Whether all workers have said that they take in nothing more.
    pub(crate) fn is_closed(&self) -> bool {
        self.control.closed() as usize == self.seats.len()
    }

    /// Whether nothing is left to be processed, and nothing more is taken in.
    pub(crate) fn is_drained(&self) -> bool {
        // In the order in which packets go: from a place onto a board, which is locked meanwhile.
        self.is_closed()
            && self.seats.iter().all(|seat| seat.inbox.is_empty())
            && self.boards.iter().all(|board| board.lock().held() == 0)
    }

    /// Whether nothing is there to be processed at `now`, nor in anybody's hands.
    #[cold]
    pub(crate) fn is_empty(&self, now: Nanos) -> bool {
        self.lanes.iter().all(|lane| lane.due() > now)
            && self.seats.iter().all(|seat| seat.inbox.is_empty())
            && self.boards.iter().all(|board| board.lock().held() == 0)
    }

    /// The queue that `worker` polls.
    #[inline]
    pub(crate) fn lane(&self, worker: CpuId) -> &Lane {
        &self.lanes[worker.index() % self.lanes.len()]
    }

    #[inline]
    pub(crate) fn pool(&self, worker: CpuId) -> &Pool {
        &self.pools[worker.index() % self.pools.len()]
    }

    #[inline]
    pub(crate) fn thread(&self, thread: ThreadId) -> &spin::Mutex<ProtocolThread> {
        &self.threads[thread.index()]
    }

    /// The bytes of a frame.
    #[inline]
    pub(crate) fn bytes<'f>(&'f self, frame: &'f Frame) -> &'f [u8] {
        match frame {
            Frame::Prepared(index) => &self.prepared[*index as usize].bytes,
            Frame::Held(buffer) => buffer.bytes(),
        }
    }

    /// Wakes `worker` if it sleeps, at its place or at its queue.
    #[inline]
    pub(crate) fn wake(&self, worker: CpuId) {
        self.seats[worker.index()].wake();
        self.lane(worker).wake(worker);
    }

    /// The worker on whose board packets of `stream` belong; `None` if there is one board for all.
    #[inline]
    pub(crate) fn owner(&self, stream: StreamId) -> Option<CpuId> {
        (self.boards.len() > 1).then(|| self.streams.home(stream))
    }
}
