//! What a worker does that has no packet: it looks, does other work, sleeps, pauses, and in the end
//! waits until nothing is left.

use super::Worker;
use crate::control::Order;
use crate::handler::Handler;
use crate::options::Idle;
use crate::packet::Packet;
use core::time::Duration;
use std::thread::park_timeout;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_units::Nanos;

/// Polls without success before a worker that may sleep goes to sleep.
const POLLS: u32 = 2_000;
/// Polls after a sleep that nothing has ended: the worker looks, and sleeps on.
const POLLS_AFTER_NAP: u32 = 4;
/// The longest sleep: how late a worker may notice what nobody wakes it for.
const NAP: Duration = Duration::from_millis(20);
/// How late a paused worker may notice that it is to go on.
const PAUSE_NAP: Duration = Duration::from_millis(1);

impl<P: Policy, W: Waiting<Job = Packet>, H: Handler> Worker<'_, '_, P, W, H> {
    /// Looks for a packet; if there is none, does what is done then.
    #[inline]
    pub(super) fn look_or_idle(&mut self) {
        self.last_ended = None;
        if self.collect() {
            self.polls = 0;
            return;
        }
        let now = self.read_clock();
        let floor = self.floor;
        let lane = floor.lane(self.me);
        if lane.concerns(self.me, now)
            && let Some(mut open) = lane.open()
        {
            let mut board = floor.board(self.me).lock();
            self.take_from(&mut open, &mut board, now);
            lane.appoint(board.lookout());
            drop(board);
            drop(open);
            self.wake_called();
            if self.hand.is_some() {
                self.polls = 0;
                return;
            }
        }
        if floor.stalled.is_open() && floor.is_empty(now) {
            floor.stalled.recovered(now);
        }
        if self.tally.is_full(now) {
            self.hand_over(now);
        }
        self.idle(now);
    }

    #[inline]
    pub(super) fn idle(&mut self, now: Nanos) {
        match self.floor.idle {
            Idle::Work(_) => {
                if let Some(work) = &mut self.work {
                    work.step();
                }
            }
            Idle::Poll => core::hint::spin_loop(),
            Idle::Sleep if self.polls < POLLS => {
                self.polls += 1;
                core::hint::spin_loop();
            }
            Idle::Sleep => self.sleep(now),
        }
    }

    /// Sleeps until something is there, or until shortly before it is due.
    #[cold]
    pub(super) fn sleep(&mut self, now: Nanos) {
        let floor = self.floor;
        self.hand_over(now);
        // Nothing is held while asleep: streams can be opened meanwhile.
        self.protocol = None;
        let due = floor.lane(self.me).due() - now;
        let awake = || floor.control.order() != Order::Run;
        let seat = &floor.seats[self.me.index()];
        let nap = if due.0 > 0.0 { NAP.min(Duration::from_nanos(due.0 as u64)) } else { NAP };
        let lane = floor.lane(self.me);
        if due.0 <= 0.0 && lane.claim(self.me) {
            seat.sleep_by(awake, || lane.wait(nap));
            lane.release();
        } else {
            seat.sleep(nap, awake);
        }
        self.looked = floor.clock.now();
        self.polls = POLLS - POLLS_AFTER_NAP;
    }

    /// Whether nothing is left that this worker may have to process.
    pub(super) fn is_drained(&mut self) -> bool {
        if !self.closed {
            self.closed = true;
            self.floor.control.close();
        }
        self.floor.is_closed()
            && self.floor.seats[self.me.index()].is_empty()
            && self.floor.board(self.me).lock().held() == 0
    }

    pub(super) fn look_for_leftovers(&mut self) {
        if !self.collect() {
            core::hint::spin_loop();
        }
        self.wake_called();
    }

    #[cold]
    pub(super) fn pause(&mut self) {
        self.protocol = None;
        self.hand_over(self.floor.clock.now());
        self.floor.control.pause(|| park_timeout(PAUSE_NAP));
        self.looked = self.floor.clock.now();
    }
}
