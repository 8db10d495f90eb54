//! The client's side of one channel.

use super::config::ChanConfig;
use super::{ChanError, push_header};
use crate::packet::{Packet, PacketFull};
use crate::rpc::RpcDropReason;
use crate::wire::rpc::chan::REQUEST;
use core::cmp::Ordering;
use core::hint::cold_path;
use core::time::Duration;

#[derive(Debug)]
pub(super) struct ClientChannel {
    /// Of the current call or, if there is none, of the last.
    sequence: u32,
    /// There if a call waits for its reply.
    waiting: Option<Waiting>,
    /// The request without this layer's header.
    request: Packet,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// When the request is sent again, or the call fails.
    until: Duration,
    timeout: Duration,
    /// How often the request was sent again since the server answered.
    retries: u32,
}

/// What a timer that expired means.
pub(super) enum Expiry {
    /// Send the request again.
    Resend,
    /// The call has failed.
    Failed,
}

impl ClientChannel {
    pub(super) fn new(max_message: usize) -> Self {
        Self { sequence: 0, waiting: None, request: Packet::with_capacity(0, max_message) }
    }

    /// The number of the current or last call.
    pub(super) const fn sequence(&self) -> u32 {
        self.sequence
    }

    /// When the timer expires, if it runs.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.waiting.map(|waiting| waiting.until)
    }

    /// Begins a call, and makes the packet its request.
    #[inline]
    pub(super) fn call(
        &mut self,
        now: Duration,
        config: &ChanConfig,
        channel: u16,
        request: &mut Packet,
    ) -> Result<u32, ChanError> {
        if self.waiting.is_some() {
            cold_path();
            return Err(ChanError::Busy);
        }
        let (length, max) = (request.len(), config.max_message);
        self.request.replace(request.payload()).map_err(|PacketFull| ChanError::TooLong { length, max })?;
        let sequence = self.sequence.wrapping_add(1);
        push_header(request, REQUEST, channel, sequence)?;
        self.sequence = sequence;
        let until = now.saturating_add(config.timeout);
        self.waiting = Some(Waiting { until, timeout: config.timeout, retries: 0 });
        Ok(sequence)
    }

    /// The server has replied: the call is over.
    #[inline]
    pub(super) fn reply(&mut self, sequence: u32) -> Result<(), RpcDropReason> {
        self.expect(sequence)?;
        self.waiting = None;
        Ok(())
    }

    /// The server has the request, and works on it: the count of retries begins again.
    pub(super) fn ack(&mut self, now: Duration, sequence: u32) -> Result<(), RpcDropReason> {
        self.expect(sequence)?;
        if let Some(waiting) = &mut self.waiting {
            waiting.retries = 0;
            waiting.until = now.saturating_add(waiting.timeout);
        }
        Ok(())
    }

    /// Whether a call of this number waits.
    #[inline]
    fn expect(&self, sequence: u32) -> Result<(), RpcDropReason> {
        if sequence == self.sequence && self.waiting.is_some() {
            return Ok(());
        }
        cold_path();
        match (sequence.wrapping_sub(self.sequence) as i32).cmp(&0) {
            Ordering::Greater => Err(RpcDropReason::ChanFuture),
            Ordering::Equal | Ordering::Less => Err(RpcDropReason::ChanStale),
        }
    }

    /// The peer can be reached from now on. Returns whether a request is to be sent again at once.
    pub(super) fn peer_learned(&mut self, now: Duration) -> bool {
        let Some(waiting) = &mut self.waiting else { return false };
        waiting.until = now.saturating_add(waiting.timeout);
        true
    }

    /// The current call fails. Returns whether there was one.
    pub(super) fn fail(&mut self) -> bool {
        self.waiting.take().is_some()
    }

    /// Time has come to `now`.
    pub(super) fn time_passes(&mut self, now: Duration, config: &ChanConfig) -> Option<Expiry> {
        let waiting = self.waiting.as_mut().filter(|waiting| waiting.until <= now)?;
        cold_path();
        if waiting.retries >= config.retries {
            self.waiting = None;
            return Some(Expiry::Failed);
        }
        waiting.retries += 1;
        waiting.timeout = waiting.timeout.saturating_mul(2).min(config.max_timeout);
        waiting.until = now.saturating_add(waiting.timeout);
        Some(Expiry::Resend)
    }

    /// Makes the packet the request once more. Returns `false` if no call waits.
    pub(super) fn resend(&self, channel: u16, packet: &mut Packet) -> Result<bool, PacketFull> {
        if self.waiting.is_none() {
            return Ok(false);
        }
        packet.replace(self.request.payload())?;
        push_header(packet, REQUEST, channel, self.sequence)?;
        Ok(true)
    }
}
