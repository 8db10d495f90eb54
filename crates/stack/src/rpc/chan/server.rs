//! The server's side of one channel.

use super::config::ChanConfig;
use super::{ChanError, push_header};
use crate::packet::{Packet, PacketFull};
use crate::rpc::RpcDropReason;
use crate::wire::rpc::chan::{ACK, REPLY};
use core::hint::cold_path;
use core::time::Duration;

/// A number that is further ahead than this is no call that could have been made yet.
const MAX_AHEAD: u32 = 1 << 30;

#[derive(Debug)]
pub(super) struct ServerChannel {
    /// The newest call, if there was one.
    last: Option<u32>,
    phase: Phase,
    /// How often the client has rebooted.
    generation: u32,
    /// The last reply without this layer's header.
    reply: Packet,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    /// A handler works on the newest call, which is acknowledged at this time.
    Working(Option<Duration>),
    Replied,
}

impl ServerChannel {
    pub(super) fn new(max_message: usize) -> Self {
        let reply = Packet::with_capacity(0, max_message);
        Self { last: None, phase: Phase::Idle, generation: 0, reply }
    }

    pub(super) const fn generation(&self) -> u32 {
        self.generation
    }

    /// When the current call is acknowledged, if it is not yet.
    pub(super) const fn deadline(&self) -> Option<Duration> {
        match self.phase {
            Phase::Working(ack_at) => ack_at,
            Phase::Idle | Phase::Replied => None,
        }
    }

    /// A request has arrived. Returns whether it is a new one, which begins to be worked on.
    #[inline]
    pub(super) fn request(
        &mut self,
        now: Duration,
        config: &ChanConfig,
        sequence: u32,
    ) -> Result<bool, RpcDropReason> {
        // Any number may be the first: the client does not begin again when only the server reboots.
        let ahead = self.last.map_or(1, |last| sequence.wrapping_sub(last));
        if ahead == 0 {
            cold_path();
            return Ok(false);
        }
        if ahead > MAX_AHEAD {
            cold_path();
            let is_before = ahead >= 1 << 31;
            return Err(if is_before { RpcDropReason::ChanStale } else { RpcDropReason::ChanFuture });
        }
        self.last = Some(sequence);
        self.phase = Phase::Working(Some(now.saturating_add(config.ack_after)));
        Ok(true)
    }

    /// The reply to a call: kept for duplicates of the request.
    #[inline]
    pub(super) fn reply(
        &mut self,
        (channel, sequence, generation): (u16, u32, u32),
        reply: &mut Packet,
    ) -> Result<(), ChanError> {
        let is_working = matches!(self.phase, Phase::Working(_));
        if !is_working || self.last != Some(sequence) || self.generation != generation {
            cold_path();
            return Err(ChanError::Gone);
        }
        let (length, max) = (reply.len(), self.reply.room() + self.reply.len());
        self.reply.replace(reply.payload()).map_err(|PacketFull| ChanError::TooLong { length, max })?;
        push_header(reply, REPLY, channel, sequence)?;
        self.phase = Phase::Replied;
        Ok(())
    }

    /// Makes the packet what a duplicate request is answered with: the reply, or an acknowledgement.
    /// Returns `false` if there is nothing to answer.
    pub(super) fn answer(&mut self, channel: u16, packet: &mut Packet) -> Result<bool, PacketFull> {
        packet.clear();
        let Some(sequence) = self.last else { return Ok(false) };
        let kind = match &mut self.phase {
            Phase::Idle => return Ok(false),
            Phase::Working(ack_at) => {
                *ack_at = None;
                ACK
            }
            Phase::Replied => {
                packet.append(self.reply.payload())?;
                REPLY
            }
        };
        push_header(packet, kind, channel, sequence)?;
        Ok(true)
    }

    /// The client has rebooted: its calls are forgotten.
    pub(super) fn reset(&mut self) {
        (self.last, self.phase) = (None, Phase::Idle);
        self.generation = self.generation.wrapping_add(1);
    }

    /// Time has come to `now`. Returns whether the current call is to be acknowledged.
    pub(super) fn time_passes(&mut self, now: Duration) -> bool {
        let is_due = self.deadline().is_some_and(|at| at <= now);
        if is_due {
            self.phase = Phase::Working(None);
        }
        is_due
    }
}
