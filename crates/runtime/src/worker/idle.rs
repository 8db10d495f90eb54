//! An idle worker: it polls, does other work, sleeps or pauses, and drains at the end of the run.

use super::Worker;
use crate::control::Order;
use crate::failure::Cause;
use crate::options::Idle;
use crate::packet::Packet;
use core::time::Duration;
use std::thread::park_timeout;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_units::Nanos;

/// Fruitless polls before a worker that may sleep goes to sleep.
const POLLS: u32 = 2_000;
/// Fruitless polls after a sleep that timed out.
const POLLS_AFTER_SLEEP: u32 = 4;
/// The longest sleep; bounds how late a worker notices what nobody wakes it for.
const LONGEST_PARK: Duration = Duration::from_millis(20);
/// The sleep between two checks of a paused worker.
const PAUSE_PARK: Duration = Duration::from_millis(1);

impl<P: Policy, W: Waiting<Job = Packet>> Worker<'_, '_, P, W> {
    /// Polls once; if there is no packet, takes one idle step.
    #[inline]
    pub(super) fn poll_or_idle(&mut self) {
        self.last_ended = None;
        if self.collect() {
            self.polls = 0;
            return;
        }
        let now = self.read_clock();
        let shared = self.shared;
        let queue = shared.queue(self.id);
        if queue.should_poll(self.id, now)
            && let Some(mut open) = queue.try_lock()
        {
            let mut scheduler = shared.scheduler(self.id).lock();
            self.receive_from(&mut open, &mut scheduler, now);
            queue.set_lookout(scheduler.lookout());
            drop(scheduler);
            let checked = if self.batch.is_empty() { open.check(now) } else { Ok(()) };
            drop(open);
            self.wake_others();
            if !self.batch.is_empty() {
                self.polls = 0;
                return;
            }
            if let Err(error) = checked {
                return shared.fail(Cause::Queue(error));
            }
        }
        if now >= self.next_tick {
            self.tick(now);
        }
        if shared.stalled.is_open() && shared.is_empty(now) {
            shared.stalled.recovered(now);
        }
        if self.tally.is_full(now) {
            self.publish_block(now);
        }
        self.idle(now);
    }

    #[inline]
    pub(super) fn idle(&mut self, now: Nanos) {
        match self.shared.idle {
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

    /// Sleeps until a packet is due or a worker wakes this one.
    #[cold]
    pub(super) fn sleep(&mut self, now: Nanos) {
        let shared = self.shared;
        self.publish_block(now);
        // No lock is held while asleep, so that streams can be opened.
        self.protocol = None;
        let due = shared.queue(self.id).due() - now;
        let awake = || shared.control.order() != Order::Run;
        let mailbox = &shared.mailboxes[self.id.index()];
        let park =
            if due.0 > 0.0 { LONGEST_PARK.min(Duration::from_nanos(due.0 as u64)) } else { LONGEST_PARK };
        let queue = shared.queue(self.id);
        if due.0 <= 0.0 && queue.claim(self.id) {
            mailbox.sleep_by(awake, || queue.wait(park));
            queue.release();
        } else {
            mailbox.sleep(park, awake);
        }
        self.last_reading = shared.clock.now();
        self.polls = POLLS - POLLS_AFTER_SLEEP;
    }

    /// Whether this worker has nothing left to process.
    pub(super) fn is_drained(&mut self) -> bool {
        if !self.closed {
            self.closed = true;
            self.shared.control.close();
        }
        self.shared.is_closed()
            && self.shared.mailboxes[self.id.index()].is_empty()
            && self.shared.scheduler(self.id).lock().held() == 0
    }

    pub(super) fn drain_step(&mut self) {
        if !self.collect() {
            core::hint::spin_loop();
        }
        self.wake_others();
    }

    #[cold]
    pub(super) fn pause(&mut self) {
        self.protocol = None;
        self.publish_block(self.shared.clock.now());
        self.shared.control.pause(|| park_timeout(PAUSE_PARK));
        self.last_reading = self.shared.clock.now();
    }
}
