//! What both users of a pair have called, served and got back, and what must hold of it.

use rand::{Rng, RngExt};
use std::collections::{HashMap, HashSet};
use warmcore_stack::rpc::{CallId, Failure, MselectFailure};

/// What every endpoint serves. The first is called without arguments, and has no results.
pub(super) const PROCEDURES: [u16; 3] = [7, 500, 3];
/// What nobody serves.
const UNKNOWN: u16 = 8;
/// Longest arguments and results.
pub(super) const LONGEST: usize = 16 * 1024;
/// Bytes of a call's number, with which its arguments begin.
const TAG: usize = 8;

/// A call to make.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    tag: u64,
    /// Index into [`PROCEDURES`], or none of them.
    handler: usize,
    length: usize,
}

/// The ledger of a pair.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    next_tag: u64,
    /// Calls with arguments that were served.
    served: HashSet<u64>,
    /// Calls without arguments that were made, and served.
    empty: (u64, u64),
    /// Calls that wait, of the current incarnation of each side.
    waiting: [HashMap<CallId, Planned>; 2],
    pub(super) calls: u64,
    pub(super) replies: u64,
    pub(super) timeouts: u64,
    pub(super) lost_to_reboots: u64,
}

impl Planned {
    pub(super) fn procedure(&self) -> u16 {
        PROCEDURES.get(self.handler).copied().unwrap_or(UNKNOWN)
    }

    pub(super) fn arguments(&self) -> Vec<u8> {
        if self.handler == 0 {
            return Vec::new();
        }
        let mut bytes = self.tag.to_be_bytes().to_vec();
        bytes.extend((TAG..self.length).map(|at| byte(self.tag, at)));
        bytes
    }
}

/// The byte at `offset` of what belongs to a call.
fn byte(tag: u64, offset: usize) -> u8 {
    ((offset as u32 ^ tag as u32).wrapping_mul(0x9e37_79b1) >> 24) as u8
}

fn length(random: &mut impl Rng) -> usize {
    match random.random_range(0..10) {
        0 => random.random_range(TAG..=LONGEST),
        1..3 => random.random_range(TAG..3000),
        _ => random.random_range(TAG..100),
    }
}

/// The results of a call.
fn results(tag: u64, handler: usize) -> Vec<u8> {
    let hash = (tag ^ handler as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let length = if hash.is_multiple_of(8) { hash as usize % LONGEST } else { hash as usize % 64 };
    (0..length).map(|at| byte(!tag, at)).collect()
}

impl Ledger {
    pub(super) fn plan(&mut self, random: &mut impl Rng) -> Planned {
        self.next_tag += 1;
        let handler = if random.random_bool(0.02) { PROCEDURES.len() } else { random.random_range(0..3) };
        Planned { tag: self.next_tag, handler, length: length(random) }
    }

    /// A call was made. Returns an error if another of that name waits.
    pub(super) fn called(&mut self, side: usize, call: CallId, planned: Planned) -> Result<(), String> {
        self.calls += 1;
        self.empty.0 += u64::from(planned.handler == 0);
        match self.waiting[side].insert(call, planned) {
            None => Ok(()),
            Some(other) => Err(format!("{call:?} waits already, for {other:?}")),
        }
    }

    pub(super) fn waiting(&self, side: usize) -> usize {
        self.waiting[side].len()
    }

    /// A handler was called. Returns the results.
    pub(super) fn serve(&mut self, handler: usize, request: &[u8]) -> Result<Vec<u8>, String> {
        if handler == 0 {
            self.empty.1 += 1;
            let (made, served) = self.empty;
            let is_fine = request.is_empty() && served <= made;
            return if is_fine { Ok(Vec::new()) } else { Err(format!("{served} of {made} empty calls")) };
        }
        let Some(tag) = request.first_chunk::<TAG>().copied().map(u64::from_be_bytes) else {
            return Err(format!("{} bytes of arguments arrived", request.len()));
        };
        if !request.iter().enumerate().skip(TAG).all(|(at, given)| *given == byte(tag, at)) {
            return Err(format!("the arguments of call {tag} were altered"));
        }
        if !self.served.insert(tag) {
            return Err(format!("call {tag} was served twice"));
        }
        Ok(results(tag, handler))
    }

    /// A call has its results.
    pub(super) fn replied(&mut self, side: usize, call: CallId, given: &[u8]) -> Result<(), String> {
        let planned = self.end(side, call)?;
        self.replies += 1;
        let expected = if planned.handler == 0 { Vec::new() } else { results(planned.tag, planned.handler) };
        if planned.handler == PROCEDURES.len() || given != expected {
            return Err(format!("{planned:?} has {} wrong bytes of results", given.len()));
        }
        if planned.handler > 0 && !self.served.contains(&planned.tag) {
            return Err(format!("{planned:?} has results, but was not served"));
        }
        Ok(())
    }

    /// A call has no results.
    pub(super) fn failed(&mut self, side: usize, call: CallId, failure: Failure) -> Result<(), String> {
        let planned = self.end(side, call)?;
        let is_unknown = planned.handler == PROCEDURES.len();
        match failure {
            Failure::TimedOut => self.timeouts += 1,
            Failure::PeerRebooted => self.lost_to_reboots += 1,
            Failure::Refused(MselectFailure::UnknownProcedure) if is_unknown => self.replies += 1,
            Failure::Refused(_) => return Err(format!("{planned:?} failed: {failure}")),
        }
        Ok(())
    }

    fn end(&mut self, side: usize, call: CallId) -> Result<Planned, String> {
        self.waiting[side].remove(&call).ok_or_else(|| format!("{call:?} ended, but did not wait"))
    }

    /// A side has rebooted, and knows nothing of its calls.
    pub(super) fn rebooted(&mut self, side: usize) {
        self.waiting[side].clear();
    }
}
