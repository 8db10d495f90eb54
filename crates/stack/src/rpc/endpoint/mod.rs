//! All layers of one peer, and the packets carried between them.

mod arrive;
mod config;
mod event;
mod inbox;
mod queue;

pub use config::Config;
pub use event::{CallError, Event, Failure, ReplyError};

use super::{Bid, Blast, BlastSent, BootId, CallId, Chan, ChanError, Mselect, ServedCall, Vchan};
use crate::packet::Packet;
use crate::wire::rpc::{bid, blast, chan, mselect};
use alloc::boxed::Box;
use alloc::vec;
use core::hint::cold_path;
use core::time::Duration;
use inbox::{Called, Ended, Inbox};
use queue::FrameQueue;

/// Bytes of the headers of all layers.
const HEADROOM: usize = blast::HEADER + bid::HEADER + chan::HEADER + mselect::HEADER;

/// An RPC peer: it calls one other peer, and serves its calls. The [module](super) says how it is driven.
#[derive(Debug)]
pub struct Endpoint {
    mselect: Mselect,
    vchan: Vchan,
    chan: Chan,
    bid: Bid,
    blast: Blast,
    /// Most bytes of arguments and results.
    max_message: usize,
    /// The message that is on its way through the layers.
    work: Packet,
    /// The frame that [`transmit`](Self::transmit) returned.
    frame: Packet,
    queue: FrameQueue,
    served: Inbox<Called>,
    /// The procedure of the last call that is served on each channel.
    procedures: Box<[u16]>,
    ended: Inbox<Ended>,
    peer_rebooted: bool,
}

impl Endpoint {
    /// An endpoint of the incarnation `boot`, which serves `procedures`. Limits of `config` are applied. All
    /// memory is allocated here: a few messages for each channel and each message being reassembled.
    #[must_use]
    pub fn new(config: Config, boot: BootId, procedures: &[u16]) -> Self {
        let config = config.reconciled();
        let (channels, mtu) = (config.chan.channels, config.blast.mtu);
        // Whatever arrives in one frame or is reassembled fits these.
        let longest = config.blast.max_message.max(mtu);
        let frame = || Packet::with_capacity(blast::HEADER, mtu);
        Self {
            mselect: Mselect::new(procedures),
            vchan: Vchan::new(channels),
            work: Packet::with_capacity(HEADROOM, longest),
            frame: frame(),
            queue: FrameQueue::new(usize::from(channels) * 4, frame),
            served: Inbox::new(channels, longest),
            procedures: vec![0; channels.into()].into_boxed_slice(),
            ended: Inbox::new(channels, longest),
            peer_rebooted: false,
            bid: Bid::new(boot),
            max_message: config.chan.max_message - mselect::HEADER,
            blast: Blast::new(config.blast, first_message(boot)),
            chan: Chan::new(config.chan),
        }
    }

    /// Most bytes of arguments and results.
    #[must_use]
    pub const fn max_message(&self) -> usize {
        self.max_message
    }

    /// Calls a procedure of the peer. What becomes of it is an [`Event`].
    ///
    /// # Errors
    /// No channel is free, or the arguments are too long.
    pub fn call(&mut self, now: Duration, procedure: u16, arguments: &[u8]) -> Result<CallId, CallError> {
        let (length, max) = (arguments.len(), self.max_message);
        if length > max || self.work.replace(arguments).is_err() {
            cold_path();
            return Err(CallError::TooLong { length, max });
        }
        let Some(channel) = self.vchan.acquire() else {
            cold_path();
            return Err(CallError::NoneFree);
        };
        let pushed = self.mselect.call(procedure, &mut self.work).map_err(ChanError::from);
        match pushed.and_then(|()| self.chan.call(now, channel, &mut self.work)) {
            Ok(call) => {
                self.send();
                Ok(call)
            }
            // Not reached: the channel was free, and the packet has room for every header.
            Err(_) => {
                cold_path();
                self.vchan.release(channel);
                Err(CallError::NoneFree)
            }
        }
    }

    /// Gives the results of a call that the peer made.
    ///
    /// # Errors
    /// Nobody waits for them any more, or they are too long.
    pub fn reply(&mut self, call: ServedCall, results: &[u8]) -> Result<(), ReplyError> {
        let (length, max) = (results.len(), self.max_message);
        if length > max || self.work.replace(results).is_err() {
            cold_path();
            return Err(ReplyError::TooLong { length, max });
        }
        let procedure = self.procedures.get(usize::from(call.channel)).copied().unwrap_or(0);
        let pushed = self.mselect.reply(procedure, &mut self.work).map_err(ChanError::from);
        match pushed.and_then(|()| self.chan.reply(call, &mut self.work)) {
            Ok(()) => {
                self.send();
                Ok(())
            }
            Err(_) => {
                cold_path();
                Err(ReplyError::Gone)
            }
        }
    }

    /// Sends what CHAN has made of the packet.
    #[inline]
    fn send(&mut self) {
        if self.bid.send(&mut self.work).is_ok() {
            self.send_below_bid();
        }
    }

    /// Sends what BID has made of the packet. What finds no room is lost, and sent again by CHAN.
    #[inline]
    fn send_below_bid(&mut self) {
        match self.blast.send(&mut self.work) {
            Ok(BlastSent::Frame) => self.queue.push(self.work.payload()),
            Ok(BlastSent::Fragments) | Err(_) => cold_path(),
        }
    }

    /// The next frame to send, if there is one.
    pub fn transmit(&mut self, now: Duration) -> Option<&[u8]> {
        while !self.queue.pop(&mut self.frame) {
            if self.chan.transmit(&mut self.work) {
                self.send();
            } else if self.blast.transmit(now, &mut self.frame) {
                break;
            } else {
                return None;
            }
        }
        Some(self.frame.payload())
    }

    /// When [`time_passes`](Self::time_passes) must be called at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        [self.blast.deadline(), self.chan.deadline()].into_iter().flatten().min()
    }

    /// Time has come to `now`.
    pub fn time_passes(&mut self, now: Duration) {
        self.blast.time_passes(now);
        self.chan.time_passes(now);
        self.take_failures(Failure::TimedOut);
    }

    /// Notes calls that CHAN says have failed.
    fn take_failures(&mut self, failure: Failure) {
        while let Some(call) = self.chan.failed() {
            cold_path();
            self.ended.put(call.channel, Ended { call, failure: Some(failure) }, &[]);
        }
    }

    /// The next event, if there is one: a reboot, then ends of calls, then calls of the peer's. The
    /// channel of a call that is over is free from now on.
    pub fn event(&mut self) -> Option<Event<'_>> {
        if core::mem::take(&mut self.peer_rebooted) {
            cold_path();
            return Some(Event::PeerRebooted);
        }
        if let Some((ended, results)) = self.ended.take() {
            self.vchan.release(ended.call.channel);
            return Some(ended.event(results));
        }
        self.served.take().map(|(called, request)| called.event(request))
    }
}

/// Message numbers of incarnations that follow each other begin far apart, so that fragments of one are
/// not taken for another's (multiplicative hashing: Knuth, The Art of Computer Programming 3, §6.4).
const fn first_message(boot: BootId) -> u32 {
    boot.0.get().wrapping_mul(0x9e37_79b1)
}
