//! What a thread does for a connection when something happened on it.
//!
//! A turn takes the flow's state out of the table, receives, handles whole requests in their order, sends the replies, and puts
//! the state back. It ends after [`BATCH_TIME`], so that other connections of the worker get theirs; then the connection asks
//! for another at once. Between turns nothing of it is in anybody's hands: under a shared policy any worker may take the next.

use super::frames::Cut;
use super::stream::MOST_UNSENT;
use super::{Beside, Connections};
use crate::server::BATCH_TIME;
use crate::server::flows::{Id, TimerChange};
use crate::server::handler::{Closed, Handler};
use crate::server::service::{Call, Kept, Local, Place, Service};
use crate::server::transport::Ended;
use core::sync::atomic::Ordering;

/// Bytes that are received in one turn, if so many are there.
const MOST_RECEIVED: usize = 256 << 10;

/// What came of a turn so far.
#[derive(Default)]
struct Turn {
    begun: u64,
    /// Bytes received.
    received: usize,
    /// Whether nothing is left to be received now.
    drained: bool,
    /// How many bytes the next request misses at least.
    missing: usize,
    /// Whether requests are left, to be handled in the next turn.
    again: bool,
    /// Whether requests were handled.
    handled: bool,
    /// Whether the connection has failed.
    failed: bool,
    timer: TimerChange,
}

impl<S, H> Service<S, H, Connections> {
    /// The turn of a connection, with something to `receive` or not. Returns whether anything was received, handled or sent.
    pub(super) fn turn<W>(&self, local: &mut Local<W, Connections>, id: Id, receive: bool, now: u64) -> bool
    where
        H: Handler<S, W>,
    {
        let Id { shard, number, generation } = id;
        let entered = self.flows.lock(shard).enter_number(number, generation, now);
        let Some((mut kept, peer, link)) = entered else { return false };
        self.control.threads[local.number].set_current(Some(peer));
        let place = Place { shard, number, peer, link };
        let mut turn = Turn { begun: now, ..Turn::default() };
        local.out.begin(&place.link);
        kept.beside.input.borrow(&mut local.out.buffer);
        self.serve(local, &place, &mut kept, receive, &mut turn);
        kept.beside.input.give_back(&mut local.out.buffer);
        let moved = turn.received > 0 || turn.handled || kept.beside.waiting;
        self.conclude(local, place, kept, turn);
        moved
    }

    /// The turn of a connection whose timer has come.
    pub(super) fn timer_turn<W>(
        &self,
        local: &mut Local<W, Connections>,
        place: Place<Connections>,
        mut kept: Box<Kept<S, Connections>>,
    ) where
        H: Handler<S, W>,
    {
        // What has arrived is left to a worker.
        let mut turn = Turn { again: !kept.beside.input.is_empty(), ..Turn::default() };
        local.out.begin(&place.link);
        let Kept { state, beside } = &mut *kept;
        if beside.ending.is_none() {
            let ended = self.call_once(local, &place, state, Call::Timer);
            self.called(local, beside, ended, &mut turn);
        }
        self.conclude(local, place, kept, turn);
    }

    /// Receives and handles requests.
    fn serve<W>(
        &self,
        local: &mut Local<W, Connections>,
        place: &Place<Connections>,
        kept: &mut Kept<S, Connections>,
        mut receive: bool,
        turn: &mut Turn,
    ) where
        H: Handler<S, W>,
    {
        let Kept { state, beside } = kept;
        if beside.waiting && local.out.give().is_none_or(|waiting| waiting > MOST_UNSENT) {
            return;
        }
        while beside.ending.is_none() {
            self.handle(local, place, state, beside, turn);
            if turn.again || turn.failed || beside.ending.is_some() {
                return;
            }
            if beside.input.ended {
                self.end(local, beside, Some(Closed::ByPeer));
            } else if receive {
                match beside.input.receive(place.link.connection(), turn.missing) {
                    Ok((count, more)) => {
                        turn.received += count;
                        turn.drained = !more;
                        receive = more && turn.received < MOST_RECEIVED;
                    }
                    Err(_) => turn.failed = true,
                }
            } else {
                return;
            }
        }
    }

    /// Handles the requests that have arrived as a whole.
    fn handle<W>(
        &self,
        local: &mut Local<W, Connections>,
        place: &Place<Connections>,
        state: &mut S,
        beside: &mut Beside,
        turn: &mut Turn,
    ) where
        H: Handler<S, W>,
    {
        let Connections { frames, longest, .. } = &self.transport;
        while beside.ending.is_none() && !turn.failed {
            match frames.cut(&mut beside.input, *longest) {
                Cut::Request(range) => {
                    let call = Call::Request(beside.input.at(range), false);
                    let ended = self.call_once(local, place, state, call);
                    turn.handled = true;
                    self.called(local, beside, ended, turn);
                    let is_full =
                        local.out.is_full() && local.out.give().is_none_or(|waiting| waiting > MOST_UNSENT);
                    let is_time = || {
                        self.control.abandon.load(Ordering::Relaxed)
                            || self.control.now() - turn.begun > BATCH_TIME
                    };
                    if !beside.input.is_empty() && (is_full || is_time()) {
                        turn.again = true;
                        return;
                    }
                }
                Cut::Partial(missing) => {
                    turn.missing = missing;
                    return;
                }
                Cut::TooLong => {
                    local.counts.too_long += 1;
                    self.end(local, beside, Some(Closed::Invalid("the request is too long")));
                }
                Cut::Invalid(why) => {
                    local.counts.invalid += 1;
                    self.end(local, beside, Some(Closed::Invalid(why)));
                }
            }
        }
    }

    /// Takes note of what a handler wants.
    fn called<W>(
        &self,
        local: &mut Local<W, Connections>,
        beside: &mut Beside,
        ended: Ended,
        turn: &mut Turn,
    ) {
        match ended {
            Ended::Goes(None) => {}
            Ended::Goes(Some(timer)) => {
                // From now on, however long the turn takes.
                let late = self.control.now().saturating_sub(turn.begun);
                turn.timer =
                    Some(timer.map(|time| time.saturating_add(core::time::Duration::from_nanos(late))));
            }
            Ended::Over(reason) => self.end(local, beside, reason),
        }
    }

    /// The flow ends once its replies are sent.
    fn end<W>(&self, local: &mut Local<W, Connections>, beside: &mut Beside, reason: Option<Closed>) {
        local.counts.closed += 1;
        beside.ending = Some(reason);
    }

    /// Sends the replies, and ends the flow or puts its state back.
    fn conclude<W>(
        &self,
        local: &mut Local<W, Connections>,
        place: Place<Connections>,
        mut kept: Box<Kept<S, Connections>>,
        turn: Turn,
    ) where
        H: Handler<S, W>,
    {
        let beside = &mut kept.beside;
        let waiting = local.out.end();
        beside.waiting = waiting.is_some_and(|waiting| waiting > 0);
        if turn.failed || waiting.is_none() {
            if beside.ending.is_none() {
                self.end(local, beside, Some(Closed::ByPeer));
            }
            return self.over(local, place, *kept);
        }
        let is_idle = turn.drained && !turn.again && beside.input.is_empty();
        if beside.ending.is_none() && local.out.closing && is_idle {
            beside.ending = Some(Some(Closed::Stopped));
        }
        if beside.ending.is_some() && !beside.waiting {
            return self.over(local, place, *kept);
        }
        let listens = beside.ending.is_none();
        let at = if turn.timer.is_some() { turn.begun } else { 0 };
        let mut flows = self.flows.lock(place.shard);
        let wanted = flows.put_back(place.number, kept, turn.timer, at);
        let next = flows.next_time();
        drop(flows);
        if !self.flows.are_by_worker() {
            self.control.alarm.at_latest(next);
        }
        place.link.arm(listens, turn.again || wanted);
    }

    /// Removes a flow, whose state says why.
    pub(super) fn over<W>(
        &self,
        local: &mut Local<W, Connections>,
        place: Place<Connections>,
        kept: Kept<S, Connections>,
    ) where
        H: Handler<S, W>,
    {
        let Place { shard, number, peer, link } = place;
        let Kept { state, beside } = kept;
        // No requests wait at the flow of a connection.
        let _ = self.flows.lock(shard).close(number);
        self.control.open.fetch_sub(1, Ordering::Relaxed);
        let reason = beside.ending.flatten();
        local.out.give_up(link, reason != Some(Closed::ByPeer), self.control.now());
        match reason {
            Some(reason) => self.give_back(&mut local.counts, peer, state, reason),
            None => Self::discard(&mut local.counts, state),
        }
    }
}
