//! A worker: asleep, on its way to work, in a cycle, or falling asleep; its source may pause it.
//!
//! ```text
//!           woken from elsewhere ─► Waking ─┐
//! Asleep ◄──┐                               ├─► Cycle ─► Cycle … ─► Falling ─► Asleep
//!           woken by its own source ► Rising┘
//! ```
//!
//! In `Rising`, `Cycle` and `Falling` it uses its processor, and an interrupt pauses it. In `Waking` its processor is idle. A
//! worker that falls asleep has looked at its queue for the last time: a source must wake it.

use crate::server::curve::Idle;

/// The most requests that a worker ever takes at once from its own socket.
pub(super) const MOST_AT_ONCE: usize = 64;
/// It takes fewer if they would take it longer, in nanoseconds.
const BATCH_TIME: f64 = 100_000.0;

/// How many requests a worker takes at once that take it `each` nanoseconds.
pub(super) fn most_at_once(each: f64) -> usize {
    (BATCH_TIME / each.max(1.0)).clamp(1.0, MOST_AT_ONCE as f64) as usize
}

/// A request on its way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Request {
    /// When it was due.
    pub(super) due: f64,
    /// Nanoseconds of its source's call.
    pub(super) call: f64,
    pub(super) flow: u32,
    pub(super) source: u32,
    /// Whether its call woke a worker.
    pub(super) woke: bool,
    /// Whether its flow's state came from another processor; known once a worker has it.
    pub(super) moved: bool,
}

/// What a worker does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Nothing, and its processor is idle if its source is.
    Asleep,
    /// It was woken from another processor, and has not begun. Its processor is idle.
    Waking,
    /// It was woken by the source of its processor, and goes to work.
    Rising,
    /// It processes requests.
    Cycle,
    /// It found no request.
    Falling,
}

#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub(super) phase: Phase,
    /// Whether a call wakes it, so that no other does.
    pub(super) is_claimed: bool,
    /// When its phase ends, if it is not paused.
    pub(super) ends: f64,
    /// Nanoseconds of its phase that are left, and since when it is paused.
    pub(super) paused: Option<(f64, f64)>,
    /// It is awake, and its processor runs the source.
    pub(super) wants_cpu: bool,
    /// Woken while it fell asleep: what is to follow.
    pub(super) after_falling: AfterFalling,
    /// What idle time adds to its first cycle, and that idle time.
    pub(super) cold: f64,
    pub(super) idle: Idle,
    /// Processor time of waking up, and as much of falling asleep.
    pub(super) half_sleep: f64,
    /// When its cycle began; later by each pause.
    pub(super) began: f64,
    /// Nanoseconds of its cycle.
    pub(super) length: f64,
    /// The requests of its cycle.
    pub(super) batch: Vec<Request>,
    /// How many of them have their reply.
    pub(super) replied: usize,
}

/// What a worker does once it has fallen asleep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum AfterFalling {
    Sleep,
    /// It was woken from another processor, and can be there at this time.
    WakeAt(f64),
    /// Its processor's source woke it, and it takes this long.
    Rise(f64),
}

impl Worker {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Asleep,
            is_claimed: false,
            ends: 0.0,
            paused: None,
            wants_cpu: false,
            after_falling: AfterFalling::Sleep,
            cold: 0.0,
            idle: Idle::NONE,
            half_sleep: 0.0,
            began: 0.0,
            length: 0.0,
            batch: Vec::with_capacity(MOST_AT_ONCE),
            replied: 0,
        }
    }

    /// Whether a source must wake it.
    #[inline]
    pub(super) fn is_asleep(&self) -> bool {
        matches!(self.phase, Phase::Asleep | Phase::Falling) && !self.is_claimed
    }

    /// Whether it uses its processor, paused or not.
    #[inline]
    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Rising | Phase::Cycle | Phase::Falling)
    }

    /// When the reply to request `index` of its cycle leaves: one after another in the second half, a single one at the end.
    #[inline]
    pub(super) fn reply_at(&self, index: usize) -> f64 {
        let requests = self.batch.len() as f64;
        self.began
            + self.length
                * if self.batch.len() == 1 { 1.0 } else { 0.5 + (index + 1) as f64 / (2.0 * requests) }
    }

    /// The part of its cycle's requests that it has processed at `now`.
    pub(super) fn progress(&self, now: f64) -> f64 {
        if self.phase != Phase::Cycle || self.length <= 0.0 {
            return 0.0;
        }
        let now = self.paused.map_or(now, |(_, since)| since);
        ((now - self.began) / self.length).clamp(0.0, 1.0) * self.batch.len() as f64
    }
}
