//! Events: what a host does later. A wheel of lists, as the x-kernel's.

use alloc::vec::Vec;
use core::cell::RefCell;
use core::hint::cold_path;
use core::time::Duration;

const SLOTS: usize = 64;
/// Time between two slots: the wheel turns once in 6.4 s.
const TICK_MS: u64 = 100;
const NONE: u32 = u32::MAX;

/// An event that can be set, moved and cancelled. It is made once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventId(u32);

#[derive(Clone, Copy)]
struct Event {
    due: Option<Duration>,
    next: u32,
    before: u32,
}

/// All events of a host.
pub struct Events(RefCell<Wheel>);

struct Wheel {
    slots: [u32; SLOTS],
    events: Vec<Event>,
}

impl Default for Events {
    fn default() -> Self {
        Self(RefCell::new(Wheel { slots: [NONE; SLOTS], events: Vec::new() }))
    }
}

fn slot(due: Duration) -> usize {
    (due.as_secs() * (1000 / TICK_MS) + u64::from(due.subsec_nanos()) / (TICK_MS * 1_000_000)) as usize
        % SLOTS
}

impl Events {
    /// A new event that is not set.
    pub fn add(&self) -> EventId {
        let wheel = &mut *self.0.borrow_mut();
        wheel.events.push(Event { due: None, next: NONE, before: NONE });
        EventId(wheel.events.len() as u32 - 1)
    }

    /// Sets `event` to happen at `due`, or not at all.
    #[inline(never)]
    pub fn set(&self, event: EventId, due: Option<Duration>) {
        let wheel = &mut *self.0.borrow_mut();
        if wheel.events[event.0 as usize].due == due {
            return;
        }
        wheel.unlink(event.0);
        if let Some(due) = due {
            wheel.link(event.0, due);
        }
    }

    /// The next event that is due at `now`, which is not set then.
    pub fn expired(&self, now: Duration) -> Option<EventId> {
        let wheel = &mut *self.0.borrow_mut();
        let index = wheel.events.iter().position(|event| event.due.is_some_and(|due| due <= now))?;
        wheel.unlink(index as u32);
        Some(EventId(index as u32))
    }

    /// When the first event is due.
    pub fn earliest(&self) -> Option<Duration> {
        self.0.borrow().events.iter().filter_map(|event| event.due).min()
    }
}

impl Wheel {
    fn link(&mut self, index: u32, due: Duration) {
        let first = &mut self.slots[slot(due)];
        let next = core::mem::replace(first, index);
        self.events[index as usize] = Event { due: Some(due), next, before: NONE };
        if next != NONE {
            cold_path();
            self.events[next as usize].before = index;
        }
    }

    fn unlink(&mut self, index: u32) {
        let Event { due: Some(due), next, before } = self.events[index as usize] else { return };
        match before {
            NONE => self.slots[slot(due)] = next,
            before => {
                cold_path();
                self.events[before as usize].next = next;
            }
        }
        if next != NONE {
            cold_path();
            self.events[next as usize].before = before;
        }
        self.events[index as usize].due = None;
    }
}
