//! A datagram's way to its flow and the handler, and what comes after.

use super::Datagrams;
use crate::server::flows::{Entered, Finished, Waiting};
use crate::server::handler::Handler;
use crate::server::service::{Call, Kept, Local, Place, Service};
use crate::server::transport::Ended;
use core::sync::atomic::Ordering;
use warmcore_linux::net::sockets::Datagram;

type State<S> = Box<Kept<S, Datagrams>>;

impl<S, H> Service<S, H, Datagrams> {
    /// Handles a received datagram, or leaves it to the handler that has its flow.
    pub(super) fn request<W>(&self, local: &mut Local<W, Datagrams>, datagram: &Datagram<'_>, now: u64)
    where
        H: Handler<S, W>,
    {
        let Datagram { bytes, from: peer, to: link, truncated, .. } = *datagram;
        self.control.threads[local.number].set_current(Some(peer));
        let shard = self.flows.shard_of(&peer, local.number);
        loop {
            let waiting = || Waiting { bytes: bytes.into(), truncated };
            let entered = self.flows.lock(shard).enter(peer, link, now, waiting);
            let (number, state) = match entered {
                Entered::Idle(number, state) => (number, state),
                Entered::Waits => return,
                Entered::Full => {
                    local.counts.overflowed += 1;
                    return;
                }
                Entered::Unknown => {
                    let Some(state) = self.make(&mut local.counts, peer, ()) else { return };
                    let opened = self.flows.lock(shard).open(peer, link, now);
                    // Another worker may have opened it meanwhile.
                    let Some(number) = opened else { continue };
                    self.opened(local, shard, now);
                    (number, state)
                }
            };
            let place = Place { shard, number, peer, link };
            return self.call(local, place, state, Call::Request(bytes, truncated));
        }
    }

    /// Calls the handler, and again for the requests that waited meanwhile.
    pub(super) fn call<W>(
        &self,
        local: &mut Local<W, Datagrams>,
        flow: Place<Datagrams>,
        mut kept: State<S>,
        call: Call<'_>,
    ) where
        H: Handler<S, W>,
    {
        let Place { shard, number, peer, .. } = flow;
        let mut ended = self.call_once(local, &flow, &mut kept.state, call);
        loop {
            let (next_kept, next) = match ended {
                Ended::Goes(timer) => {
                    let at = if timer.is_some() { self.control.now() } else { 0 };
                    let mut flows = self.flows.lock(shard);
                    match flows.finish(number, kept, timer, at) {
                        Finished::Idle => {
                            if !self.flows.are_by_worker() {
                                self.control.alarm.at_latest(flows.next_time());
                            }
                            return;
                        }
                        Finished::Next(kept, next) => (kept, next),
                    }
                }
                Ended::Over(reason) => {
                    local.counts.closed += 1;
                    match reason {
                        Some(reason) => self.give_back(&mut local.counts, peer, kept.state, reason),
                        None => Self::discard(&mut local.counts, kept.state),
                    }
                    let Some(anew) = self.begin_anew(local, &flow) else { return };
                    anew
                }
            };
            kept = next_kept;
            if self.control.abandon.load(Ordering::Relaxed) {
                local.counts.abandoned += 1;
                ended = Ended::Goes(None);
            } else {
                self.control.threads[local.number].set_current(Some(peer));
                let call = Call::Request(&next.bytes, next.truncated);
                ended = self.call_once(local, &flow, &mut kept.state, call);
            }
        }
    }

    /// Removes a flow; or begins it anew, if requests wait.
    fn begin_anew<W>(
        &self,
        local: &mut Local<W, Datagrams>,
        flow: &Place<Datagrams>,
    ) -> Option<(State<S>, Waiting)> {
        loop {
            let next = self.flows.lock(flow.shard).close(flow.number);
            let Some(next) = next else {
                self.control.open.fetch_sub(1, Ordering::Relaxed);
                return None;
            };
            // A request whose state cannot be made is lost.
            if let Some(kept) = self.make(&mut local.counts, flow.peer, ()) {
                local.counts.opened += 1;
                return Some((kept, next));
            }
        }
    }
}
