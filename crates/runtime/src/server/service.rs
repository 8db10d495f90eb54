//! A request's way to its flow and the handler, and what comes after.

use super::control::Control;
use super::counts::Counts;
use super::flows::{Entered, Finished, Flows};
use super::handler::{AfterPanic, Closed, Handler, Request};
use super::reply::{Out, Reply};
use core::sync::atomic::Ordering;
use std::any::Any;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use warmcore_linux::net::sockets::Datagram;

/// Makes the state of a flow.
pub(super) type MakeState<S> = Box<dyn Fn(SocketAddr) -> S + Send + Sync>;

/// A server's handler and its flows.
pub(super) struct Service<S, H> {
    pub(super) handler: H,
    pub(super) make_state: MakeState<S>,
    pub(super) flows: Flows<S>,
    pub(super) max_flows: usize,
    pub(super) control: Arc<Control>,
}

/// What a thread has to itself.
pub(super) struct Local<W> {
    pub(super) number: usize,
    pub(super) worker: W,
    pub(super) out: Out,
    pub(super) counts: Counts,
}

/// Where a flow is.
#[derive(Clone, Copy)]
struct Place {
    shard: usize,
    number: u32,
    peer: SocketAddr,
    from: Option<IpAddr>,
}

/// Why the handler is called.
#[derive(Clone, Copy)]
enum Call<'a> {
    Request(&'a [u8], bool),
    Timer,
}

impl<S, H> Service<S, H> {
    /// Handles a received datagram, or leaves it to the handler that has its flow.
    pub(super) fn request<W>(&self, local: &mut Local<W>, datagram: &Datagram<'_>, now: u64)
    where
        H: Handler<S, W>,
    {
        let Datagram { bytes, from: peer, to: from, truncated, .. } = *datagram;
        self.control.threads[local.number].set_current(Some(peer));
        let shard = self.flows.shard_of(&peer, local.number);
        loop {
            let waiting = || super::flows::Waiting { bytes: bytes.into(), truncated };
            let entered = self.flows.lock(shard).enter(peer, from, now, waiting);
            let (number, state) = match entered {
                Entered::Idle(number, state) => (number, state),
                Entered::Waits => return,
                Entered::Full => {
                    local.counts.overflowed += 1;
                    return;
                }
                Entered::Unknown => {
                    let Some(state) = self.new_state(&mut local.counts, peer) else { return };
                    // Another worker may have opened it meanwhile.
                    let Some(number) = self.open(&mut local.counts, shard, (peer, from), now) else {
                        continue;
                    };
                    (number, state)
                }
            };
            let place = Place { shard, number, peer, from };
            return self.call(local, place, state, Call::Request(bytes, truncated));
        }
    }

    /// Calls the handler for what is due in a shard, and ends flows that were idle too long.
    pub(super) fn keep_time<W>(&self, local: &mut Local<W>, shard: usize, now: u64)
    where
        H: Handler<S, W>,
    {
        loop {
            let due = self.flows.lock(shard).due(now);
            let Some((number, state, peer, from)) = due else { break };
            local.counts.timers += 1;
            self.control.threads[local.number].set_current(Some(peer));
            self.call(local, Place { shard, number, peer, from }, state, Call::Timer);
        }
        loop {
            let expired = self.flows.lock(shard).expire(now);
            let Some((peer, state)) = expired else { break };
            self.control.open.fetch_sub(1, Ordering::Relaxed);
            local.counts.expired += 1;
            self.give_back(&mut local.counts, peer, state, Closed::Expired);
        }
    }

    /// Ends all flows of a shard, at the end of the server.
    pub(super) fn close_all<W>(&self, local: &mut Local<W>, shard: usize)
    where
        H: Handler<S, W>,
    {
        let now = self.control.now();
        loop {
            let next = self.flows.lock(shard).drain(now);
            let Some((peer, state)) = next else { break };
            self.control.open.fetch_sub(1, Ordering::Relaxed);
            self.give_back(&mut local.counts, peer, state, Closed::Stopped);
        }
    }

    /// Calls the handler, and again for the requests that waited meanwhile.
    fn call<W>(&self, local: &mut Local<W>, flow: Place, mut state: Box<S>, call: Call<'_>)
    where
        H: Handler<S, W>,
    {
        let Place { shard, number, peer, .. } = flow;
        let mut ended = self.call_once(local, flow, &mut state, call);
        loop {
            let (next_state, next) = match ended {
                Ended::Goes(timer) => {
                    let at = if timer.is_some() { self.control.now() } else { 0 };
                    let mut flows = self.flows.lock(shard);
                    match flows.finish(number, state, timer, at) {
                        Finished::Idle => {
                            if !self.flows.are_by_worker() {
                                self.control.alarm.at_latest(flows.next_time());
                            }
                            return;
                        }
                        Finished::Next(state, next) => (state, next),
                    }
                }
                Ended::Over(reason) => {
                    local.counts.closed += 1;
                    match reason {
                        Some(reason) => self.give_back(&mut local.counts, peer, state, reason),
                        None => drop(state),
                    }
                    let Some((state, next)) = self.begin_anew(local, flow) else { return };
                    (state, next)
                }
            };
            state = next_state;
            if self.control.abandon.load(Ordering::Relaxed) {
                local.counts.abandoned += 1;
                ended = Ended::Goes(None);
            } else {
                self.control.threads[local.number].set_current(Some(peer));
                ended = self.call_once(local, flow, &mut state, Call::Request(&next.bytes, next.truncated));
            }
        }
    }

    /// Removes a flow; or begins it anew, if requests wait.
    fn begin_anew<W>(&self, local: &mut Local<W>, flow: Place) -> Option<(Box<S>, super::flows::Waiting)> {
        loop {
            let next = self.flows.lock(flow.shard).close(flow.number);
            let Some(next) = next else {
                self.control.open.fetch_sub(1, Ordering::Relaxed);
                return None;
            };
            // A request whose state cannot be made is lost.
            if let Some(state) = self.new_state(&mut local.counts, flow.peer) {
                local.counts.opened += 1;
                return Some((state, next));
            }
        }
    }

    /// Calls the handler once.
    fn call_once<W>(&self, local: &mut Local<W>, flow: Place, state: &mut S, call: Call<'_>) -> Ended
    where
        H: Handler<S, W>,
    {
        let Place { peer, from, .. } = flow;
        let Local { number, worker, out, counts } = local;
        out.mark();
        let mut reply = Reply { out, worker, number: *number, peer, from, timer: None, close: false };
        let called = catch_unwind(AssertUnwindSafe(|| match call {
            Call::Request(bytes, truncated) => {
                self.handler.request(state, Request { bytes, peer, truncated }, &mut reply);
            }
            Call::Timer => self.handler.timer(state, &mut reply),
        }));
        let (timer, close) = (reply.timer, reply.close);
        counts.requests += u64::from(matches!(call, Call::Request(..)));
        match called {
            Ok(()) if close => Ended::Over(Some(Closed::ByHandler)),
            Ok(()) => Ended::Goes(timer),
            Err(payload) => {
                counts.panics += 1;
                out.back_to_mark();
                match self.handler.panicked(peer, message(&*payload)) {
                    AfterPanic::Drop => Ended::Over(None),
                    AfterPanic::Keep => Ended::Goes(None),
                }
            }
        }
    }

    /// Makes a flow's state; `None` if that panics.
    fn new_state(&self, counts: &mut Counts, peer: SocketAddr) -> Option<Box<S>> {
        let made = catch_unwind(AssertUnwindSafe(|| Box::new((self.make_state)(peer))));
        counts.panics += u64::from(made.is_err());
        made.ok()
    }

    /// Opens a flow, and ends another one if there are too many.
    fn open<W>(
        &self,
        counts: &mut Counts,
        shard: usize,
        (peer, from): (SocketAddr, Option<IpAddr>),
        now: u64,
    ) -> Option<u32>
    where
        H: Handler<S, W>,
    {
        let number = self.flows.lock(shard).open(peer, from, now)?;
        counts.opened += 1;
        if self.control.open.fetch_add(1, Ordering::Relaxed) >= self.max_flows {
            let oldest = self.flows.lock(shard).remove_oldest(now, now);
            if let Some((peer, state)) = oldest {
                self.control.open.fetch_sub(1, Ordering::Relaxed);
                counts.evicted += 1;
                self.give_back(counts, peer, state, Closed::Evicted);
            }
        }
        Some(number)
    }

    /// Gives the state of a flow that has ended back to the handler.
    fn give_back<W>(&self, counts: &mut Counts, peer: SocketAddr, state: Box<S>, reason: Closed)
    where
        H: Handler<S, W>,
    {
        let given = catch_unwind(AssertUnwindSafe(|| self.handler.closed(peer, *state, reason)));
        counts.panics += u64::from(given.is_err());
    }
}

/// How a flow goes on after a call.
enum Ended {
    /// With a change of its timer.
    Goes(Option<Option<core::time::Duration>>),
    /// Not at all. Without a reason its state is dropped.
    Over(Option<Closed>),
}

/// What a panic said.
pub(super) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}
