//! Messages of which some fragments have arrived, and the memory of those that were complete.

use super::config::BlastConfig;
use crate::rpc::RpcDropReason;
use crate::wire::rpc::blast::{Fragment, Nack, all};
use alloc::boxed::Box;
use alloc::vec;
use core::hint::cold_path;
use core::time::Duration;

/// How many messages are remembered after they were complete or given up. Later fragments of them are
/// dropped. Otherwise a message that is given up would be begun again by those that are on the way,
/// which brings more of them on the way, and so on.
const REMEMBERED: usize = 32;

#[derive(Debug)]
pub(super) struct Incoming {
    slots: Box<[PartialMessage]>,
    max_message: usize,
    nack_after: Duration,
    nacks: u32,
    finished: Finished,
}

/// Messages that were complete or given up: the last [`REMEMBERED`].
#[derive(Debug)]
struct Finished {
    messages: [Option<u32>; REMEMBERED],
    next: usize,
}

/// A message of which fragments are missing, or a free slot.
#[derive(Debug)]
struct PartialMessage {
    bytes: Box<[u8]>,
    message: u32,
    total: usize,
    /// Bytes of each fragment but the last.
    size: usize,
    count: u8,
    /// A bit for each fragment that is missing. The slot is free if there is none.
    missing: u32,
    /// When the missing ones are asked for.
    nack_at: Duration,
    /// How often they were since a fragment arrived.
    asked: u32,
    is_nack_due: bool,
}

impl Incoming {
    pub(super) fn new(config: &BlastConfig) -> Self {
        let free = || PartialMessage {
            bytes: vec![0; config.max_message].into_boxed_slice(),
            message: 0,
            total: 0,
            size: 0,
            count: 0,
            missing: 0,
            nack_at: Duration::ZERO,
            asked: 0,
            is_nack_due: false,
        };
        Self {
            slots: (0..config.reassemblies).map(|_| free()).collect(),
            max_message: config.max_message,
            nack_after: config.nack_after,
            nacks: config.nacks,
            finished: Finished { messages: [None; REMEMBERED], next: 0 },
        }
    }

    /// Takes a fragment of several, and returns the whole message if none is missing any more.
    pub(super) fn take(
        &mut self,
        now: Duration,
        fragment: &Fragment,
        data: &[u8],
    ) -> Result<Option<&[u8]>, RpcDropReason> {
        if self.finished.messages.contains(&Some(fragment.message)) {
            cold_path();
            return Err(RpcDropReason::BlastDuplicate);
        }
        let at = self.slot_of(fragment)?;
        let slot = &mut self.slots[at];
        slot.take(fragment.number, data)?;
        (slot.nack_at, slot.asked) = (now.saturating_add(self.nack_after), 0);
        slot.is_nack_due = false;
        if slot.missing != 0 {
            return Ok(None);
        }
        self.finished.remember(slot.message);
        Ok(Some(&slot.bytes[..slot.total]))
    }

    /// The slot of a fragment's message, which is a free one if none of it has arrived.
    fn slot_of(&mut self, fragment: &Fragment) -> Result<usize, RpcDropReason> {
        let (total, count) = (usize::from(fragment.total), fragment.count);
        let size = fragment.size().ok_or(RpcDropReason::BlastFragment)?;
        if total > self.max_message {
            cold_path();
            return Err(RpcDropReason::BlastLength);
        }
        let is_it = |slot: &PartialMessage| slot.missing != 0 && slot.message == fragment.message;
        if let Some(at) = self.slots.iter().position(is_it) {
            let slot = &self.slots[at];
            if (slot.total, slot.size, slot.count) != (total, size, count) {
                cold_path();
                return Err(RpcDropReason::BlastMismatch);
            }
            return Ok(at);
        }
        let Some(at) = self.slots.iter().position(|slot| slot.missing == 0) else {
            cold_path();
            return Err(RpcDropReason::BlastNoneFree);
        };
        let slot = &mut self.slots[at];
        (slot.message, slot.total, slot.size, slot.count) = (fragment.message, total, size, count);
        slot.missing = all(count);
        Ok(at)
    }

    /// The next request for missing fragments that is due.
    pub(super) fn next_nack(&mut self) -> Option<Nack> {
        let slot = self.slots.iter_mut().find(|slot| slot.is_nack_due)?;
        slot.is_nack_due = false;
        Some(Nack { message: slot.message, count: slot.count, missing: slot.missing })
    }

    /// When missing fragments are asked for, or a message given up.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.slots.iter().filter(|slot| slot.missing != 0).map(|slot| slot.nack_at).min()
    }

    /// Returns whether a request is due.
    pub(super) fn time_passes(&mut self, now: Duration) -> bool {
        let mut is_due = false;
        for slot in self.slots.iter_mut().filter(|slot| slot.missing != 0 && slot.nack_at <= now) {
            cold_path();
            slot.asked += 1;
            let wait = self.nack_after.saturating_mul(1 << slot.asked.min(16));
            slot.nack_at = now.saturating_add(wait);
            slot.is_nack_due = slot.asked <= self.nacks;
            is_due |= slot.is_nack_due;
            if !slot.is_nack_due {
                self.finished.remember(slot.message);
                slot.missing = 0;
            }
        }
        is_due
    }
}

impl Finished {
    fn remember(&mut self, message: u32) {
        self.messages[self.next] = Some(message);
        self.next = (self.next + 1) % REMEMBERED;
    }
}

impl PartialMessage {
    fn take(&mut self, number: u8, data: &[u8]) -> Result<(), RpcDropReason> {
        let bit = 1_u32.checked_shl(u32::from(number)).unwrap_or(0);
        if self.missing & bit == 0 {
            cold_path();
            return Err(RpcDropReason::BlastDuplicate);
        }
        let start = usize::from(number) * self.size;
        let target = self.bytes.get_mut(start..start + data.len());
        target.ok_or(RpcDropReason::BlastMismatch)?.copy_from_slice(data);
        self.missing &= !bit;
        Ok(())
    }
}
