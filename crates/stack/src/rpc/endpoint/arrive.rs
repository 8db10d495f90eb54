//! A frame's way up through the layers.

use super::Endpoint;
use super::event::Failure;
use super::inbox::{Called, Ended};
use crate::packet::PacketFull;
use crate::rpc::{
    BidDecision, BlastReceived, CallId, ChanReceived, MselectCalled, PeerChange, RpcDropReason, ServedCall,
};
use core::hint::cold_path;
use core::time::Duration;

impl Endpoint {
    /// Takes a frame that arrived. Events may have happened, and frames be due.
    ///
    /// # Errors
    /// A layer dropped it. That is no failure: duplicates and what is late must be.
    pub fn arrives(&mut self, now: Duration, frame: &[u8]) -> Result<(), RpcDropReason> {
        if self.work.replace(frame).is_err() {
            cold_path();
            return Err(RpcDropReason::Oversized);
        }
        match self.blast.receive(now, &mut self.work) {
            BlastReceived::Deliver => self.arrives_at_bid(now),
            BlastReceived::Kept | BlastReceived::Resend => {
                cold_path();
                Ok(())
            }
            BlastReceived::Drop(reason) => {
                cold_path();
                Err(reason)
            }
        }
    }

    fn arrives_at_bid(&mut self, now: Duration) -> Result<(), RpcDropReason> {
        let received = self.bid.receive(&mut self.work);
        if received.peer != PeerChange::Same {
            cold_path();
            self.peer_changes(now, received.peer);
        }
        match received.decision {
            BidDecision::Deliver => self.arrives_at_chan(now),
            BidDecision::Answer => {
                cold_path();
                self.send_below_bid();
                Ok(())
            }
            BidDecision::Done => {
                cold_path();
                Ok(())
            }
            BidDecision::Drop(reason) => {
                cold_path();
                Err(reason)
            }
        }
    }

    fn peer_changes(&mut self, now: Duration, change: PeerChange) {
        match change {
            PeerChange::Same => {}
            PeerChange::Learned => self.chan.peer_learned(now),
            PeerChange::Rebooted => {
                self.chan.peer_rebooted();
                self.take_failures(Failure::PeerRebooted);
                self.served.clear();
                self.peer_rebooted = true;
            }
        }
    }

    fn arrives_at_chan(&mut self, now: Duration) -> Result<(), RpcDropReason> {
        match self.chan.receive(now, &mut self.work) {
            ChanReceived::Request(call) => {
                self.is_called(call);
                Ok(())
            }
            ChanReceived::Reply(call) => {
                self.is_replied(call);
                Ok(())
            }
            ChanReceived::Acknowledged(_) => {
                cold_path();
                Ok(())
            }
            ChanReceived::Answer => {
                cold_path();
                self.send();
                Ok(())
            }
            ChanReceived::Drop(reason) => {
                cold_path();
                Err(reason)
            }
        }
    }

    fn is_called(&mut self, call: ServedCall) {
        match self.mselect.receive_call(&mut self.work) {
            Ok(MselectCalled::Deliver { handler, procedure }) => {
                if let Some(of_channel) = self.procedures.get_mut(usize::from(call.channel)) {
                    *of_channel = procedure;
                }
                self.served.put(call.channel, Called { call, handler }, self.work.payload());
            }
            Ok(MselectCalled::Answer) => {
                cold_path();
                // The client has given up what it called before on this channel.
                self.served.forget(call.channel);
                if self.chan.reply(call, &mut self.work).is_ok() {
                    self.send();
                }
            }
            // Not reached: the packet has headroom for every header.
            Err(PacketFull) => cold_path(),
        }
    }

    fn is_replied(&mut self, call: CallId) {
        let failure = self.mselect.receive_reply(&mut self.work).err().map(Failure::from);
        let results = if failure.is_none() { self.work.payload() } else { &[] };
        self.ended.put(call.channel, Ended { call, failure }, results);
    }
}
