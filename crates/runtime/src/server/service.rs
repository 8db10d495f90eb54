//! Flows and their handler, whatever lies beneath: calls, timers, and ends.

use super::control::Control;
use super::counts::Counts;
use super::flows::{Flows, Removed};
use super::handler::{AfterPanic, Closed, Handler, Request};
use super::reply::Reply;
use super::transport::{Ended, Outgoing, Transport};
use core::sync::atomic::Ordering;
use std::any::Any;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Makes the state of a flow.
pub(super) type MakeState<S> = Box<dyn Fn(SocketAddr) -> S + Send + Sync>;

/// The flows of a server.
pub(super) type FlowsOf<S, T> = Flows<Kept<S, T>, <T as Transport>::Link>;

/// A server's handler and its flows.
pub(super) struct Service<S, H, T: Transport> {
    pub(super) handler: H,
    pub(super) make_state: MakeState<S>,
    pub(super) flows: Arc<FlowsOf<S, T>>,
    pub(super) max_flows: usize,
    pub(super) control: Arc<Control>,
    pub(super) transport: T,
}

/// What is kept of a flow between its calls.
pub(super) struct Kept<S, T: Transport> {
    /// The user's state.
    pub(super) state: S,
    pub(super) beside: T::Beside,
}

/// What a thread has to itself.
pub(super) struct Local<W, T: Transport> {
    pub(super) number: usize,
    pub(super) worker: W,
    pub(super) out: T::Out,
    pub(super) counts: Counts,
}

impl<W, T: Transport> Local<W, T> {
    pub(super) fn new(number: usize, worker: W, out: T::Out) -> Self {
        Self { number, worker, out, counts: Counts::default() }
    }

    /// Sends what is to be sent, and lets others read the counts.
    pub(super) fn finish_batch(&mut self, control: &Control) {
        self.out.flush();
        let sent = self.out.sent();
        self.counts.replies = sent.sent;
        self.counts.unsent = sent.refused;
        let record = &control.threads[self.number];
        record.published.set(&self.counts);
        record.set_current(None);
    }
}

/// Where a flow is.
pub(super) struct Place<T: Transport> {
    pub(super) shard: usize,
    pub(super) number: u32,
    pub(super) peer: SocketAddr,
    pub(super) link: T::Link,
}

/// Why the handler is called.
#[derive(Clone, Copy)]
pub(super) enum Call<'a> {
    /// For a request, truncated or not.
    Request(&'a [u8], bool),
    Timer,
}

impl<S, H, T: Transport> Service<S, H, T> {
    /// Calls the handler for what is due in a shard, and ends flows that were idle too long.
    pub(super) fn keep_time<W>(&self, local: &mut Local<W, T>, shard: usize, now: u64)
    where
        H: Handler<S, W>,
    {
        loop {
            let due = self.flows.lock(shard).due(now);
            let Some((number, kept, peer, link)) = due else { break };
            local.counts.timers += 1;
            self.control.threads[local.number].set_current(Some(peer));
            T::timer(self, local, Place { shard, number, peer, link }, kept);
        }
        loop {
            let expired = self.flows.lock(shard).expire(now);
            let Some(expired) = expired else { break };
            local.counts.expired += 1;
            self.ended(local, expired, Closed::Expired);
        }
    }

    /// Ends all flows of a shard, at the end of the server.
    pub(super) fn close_all<W>(&self, local: &mut Local<W, T>, shard: usize)
    where
        H: Handler<S, W>,
    {
        let now = self.control.now();
        loop {
            let next = self.flows.lock(shard).drain(now);
            let Some(next) = next else { break };
            self.ended(local, next, Closed::Stopped);
        }
    }

    /// Calls the handler once.
    pub(super) fn call_once<W>(
        &self,
        local: &mut Local<W, T>,
        place: &Place<T>,
        state: &mut S,
        call: Call<'_>,
    ) -> Ended
    where
        H: Handler<S, W>,
    {
        let peer = place.peer;
        let Local { number, worker, out, counts } = local;
        out.mark();
        let target = T::target(out, peer, &place.link);
        let mut reply = Reply { target, worker, number: *number, peer, timer: None, close: false };
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

    /// Makes what is kept of a flow; `None` if that panics.
    pub(super) fn make(
        &self,
        counts: &mut Counts,
        peer: SocketAddr,
        beside: T::Beside,
    ) -> Option<Box<Kept<S, T>>> {
        let made = catch_unwind(AssertUnwindSafe(|| (self.make_state)(peer)));
        counts.panics += u64::from(made.is_err());
        made.ok().map(|state| Box::new(Kept { state, beside }))
    }

    /// Counts a flow that was opened in a shard, and ends another one if there are too many.
    pub(super) fn opened<W>(&self, local: &mut Local<W, T>, shard: usize, now: u64)
    where
        H: Handler<S, W>,
    {
        local.counts.opened += 1;
        if self.control.open.fetch_add(1, Ordering::Relaxed) >= self.max_flows {
            let oldest = self.flows.lock(shard).remove_oldest(now, now);
            if let Some(oldest) = oldest {
                local.counts.evicted += 1;
                self.ended(local, oldest, Closed::Evicted);
            }
        }
    }

    /// A flow was removed by the server.
    fn ended<W>(&self, local: &mut Local<W, T>, removed: Removed<Kept<S, T>, T::Link>, reason: Closed)
    where
        H: Handler<S, W>,
    {
        let Removed { peer, state: kept, link } = removed;
        let Kept { state, beside } = *kept;
        self.control.open.fetch_sub(1, Ordering::Relaxed);
        if let Some(link) = link {
            T::ended(local, link, beside, reason, self.control.now());
        }
        self.give_back(&mut local.counts, peer, state, reason);
    }

    /// Drops the state that a panic has left.
    pub(super) fn discard(counts: &mut Counts, state: S) {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(state)));
        counts.panics += u64::from(dropped.is_err());
    }

    /// Gives the state of a flow that has ended back to the handler.
    pub(super) fn give_back<W>(&self, counts: &mut Counts, peer: SocketAddr, state: S, reason: Closed)
    where
        H: Handler<S, W>,
    {
        let given = catch_unwind(AssertUnwindSafe(|| self.handler.closed(peer, state, reason)));
        counts.panics += u64::from(given.is_err());
    }
}

/// What a panic said.
pub(super) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}
