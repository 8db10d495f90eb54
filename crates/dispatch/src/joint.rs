//! Events that stand in several queues at once, and run when they have come to the front of all.
//!
//! They are put into the queues one after the other under a lock that only they take, so that any
//! two of them are in the same order in every queue where both are: they cannot wait for each other
//! in a circle. The last queue in which one comes to the front is where it runs; the others hold
//! what it touches until it has.

use crate::label::Touched;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, Ordering};

/// An event that touches several partitions.
#[derive(Debug)]
pub(crate) struct KeySet<K, E> {
    pub(crate) touched: Touched<K>,
    /// The queues it stands in, and where.
    pub(crate) parts: Box<[Part]>,
    meeting: Meeting<E>,
}

/// One queue that a joint event stands in.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) queue: usize,
    position: AtomicU64,
}

/// An event that runs alone: it stands in all queues.
#[derive(Debug)]
pub(crate) struct Barrier<E> {
    meeting: Meeting<E>,
}

#[derive(Debug)]
struct Meeting<E> {
    expected: u32,
    arrived: AtomicU32,
    /// Whether it never runs.
    withdrawn: AtomicBool,
    event: Mutex<Option<E>>,
}

impl<E> Meeting<E> {
    fn new(expected: usize, event: E) -> Self {
        Self {
            expected: expected as u32,
            arrived: AtomicU32::new(0),
            withdrawn: AtomicBool::new(false),
            event: Mutex::new(Some(event)),
        }
    }

    /// It has come to the front of one more queue; whether that was the last one.
    fn arrive(&self) -> bool {
        // Whoever comes last sees what was done before the others came.
        self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.expected
    }

    fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Ordering::Acquire)
    }

    fn withdraw(&self) -> Option<E> {
        self.withdrawn.store(true, Ordering::Release);
        self.take()
    }

    fn take(&self) -> Option<E> {
        crate::lock(&self.event).take()
    }
}

impl<K, E> KeySet<K, E> {
    /// `queues` are those of the keys, each once.
    pub(crate) fn new(touched: Touched<K>, queues: impl Iterator<Item = usize>, event: E) -> Self {
        let part = |queue| Part { queue, position: AtomicU64::new(0) };
        let parts: Box<[Part]> = queues.map(part).collect();
        let meeting = Meeting::new(parts.len(), event);
        Self { touched, parts, meeting }
    }

    /// In `queue`, at `position`, none of its keys is touched by anyone before it; whether that is
    /// so everywhere now.
    pub(crate) fn arrive(&self, queue: usize, position: u64) -> bool {
        if let Some(part) = self.parts.iter().find(|part| part.queue == queue) {
            part.position.store(position, Ordering::Relaxed);
        }
        self.meeting.arrive()
    }

    /// The event; `None` if it was withdrawn.
    pub(crate) fn take(&self) -> Option<E> {
        self.meeting.take()
    }

    /// It could not be put into all its queues: it never runs.
    pub(crate) fn withdraw(&self) -> Option<E> {
        self.meeting.withdraw()
    }

    pub(crate) fn is_withdrawn(&self) -> bool {
        self.meeting.is_withdrawn()
    }
}

impl Part {
    /// Where it stands, once it has arrived.
    pub(crate) fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }
}

impl<E> Barrier<E> {
    pub(crate) fn new(queues: usize, event: E) -> Self {
        Self { meeting: Meeting::new(queues, event) }
    }

    /// Everything before it in one more queue has finished; whether that is so everywhere now.
    pub(crate) fn arrive(&self) -> bool {
        self.meeting.arrive()
    }

    /// Whether it never runs.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.meeting.is_withdrawn()
    }

    /// The event; `None` if it was withdrawn.
    pub(crate) fn take(&self) -> Option<E> {
        self.meeting.take()
    }

    /// It could not be put into all queues: it never runs.
    pub(crate) fn withdraw(&self) -> Option<E> {
        self.meeting.withdraw()
    }
}
