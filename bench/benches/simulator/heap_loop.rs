//! The baseline: a plain event loop on the standard library's binary heap; and a variant that replaces events
//! in place.

use crate::draws::Draws;
use crate::peer::{Peer, PeerError, Run};
use crate::queue::{Queue, SERVERS};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::time::Instant;

/// An event loop over a [`BinaryHeap`].
pub(crate) enum HeapLoop {
    /// Pops the next event and pushes the one that follows from it.
    Plain,
    /// Overwrites the next event at the top of the heap with the one that follows from it.
    InPlace,
}

impl Peer for HeapLoop {
    fn name(&self) -> String {
        match self {
            Self::Plain => "plain binary-heap event loop".to_owned(),
            Self::InPlace => "the same, replacing events in place".to_owned(),
        }
    }

    fn customers(&self) -> u64 {
        3_000_000
    }

    fn simulate(&mut self, queue: Queue, customers: u64, seed: u64) -> Result<Run, PeerError> {
        let start = Instant::now();
        let bank = Bank::new(Draws::new(queue, seed));
        let mean_sojourn = match self {
            Self::Plain => bank.serve(customers),
            Self::InPlace => bank.serve_in_place(customers),
        };
        Ok(Run { customers, seconds: start.elapsed().as_secs_f64(), mean_sojourn })
    }
}

/// The servers, their queue, and the pending events.
struct Bank {
    draws: Draws,
    events: BinaryHeap<Event>,
    waiting: VecDeque<f64>,
    idle: u32,
}

/// An event and its time.
struct Event {
    at: f64,
    kind: EventKind,
}

enum EventKind {
    Arrival,
    /// The departure of the customer that arrived at `arrived`.
    Departure {
        arrived: f64,
    },
}

impl Bank {
    /// An empty system with the first arrival scheduled.
    fn new(mut draws: Draws) -> Self {
        let first = Event { at: draws.interval(), kind: EventKind::Arrival };
        Self { draws, events: BinaryHeap::from([first]), waiting: VecDeque::new(), idle: SERVERS }
    }

    /// The mean sojourn time of the first `customers` customers to leave.
    fn serve(mut self, customers: u64) -> f64 {
        let (mut served, mut sojourn) = (0, 0.0);
        while served < customers
            && let Some(Event { at: now, kind }) = self.events.pop()
        {
            match kind {
                EventKind::Arrival => self.arrive(now),
                EventKind::Departure { arrived } => {
                    served += 1;
                    sojourn += now - arrived;
                    self.depart(now);
                }
            }
        }
        sojourn / served as f64
    }

    /// Does the same as [`Self::serve`], replacing events in place.
    fn serve_in_place(mut self, customers: u64) -> f64 {
        let (mut served, mut sojourn) = (0, 0.0);
        while served < customers {
            let Some(mut next) = self.events.peek_mut() else { break };
            let now = next.at;
            match next.kind {
                EventKind::Arrival => {
                    next.at = now + self.draws.interval();
                    drop(next);
                    self.admit(now);
                }
                EventKind::Departure { arrived } => {
                    served += 1;
                    sojourn += now - arrived;
                    if let Some(arrived) = self.waiting.pop_front() {
                        *next =
                            Event { at: now + self.draws.service(), kind: EventKind::Departure { arrived } };
                    } else {
                        PeekMut::pop(next);
                        self.idle += 1;
                    }
                }
            }
        }
        sojourn / served as f64
    }

    fn arrive(&mut self, now: f64) {
        let at = now + self.draws.interval();
        self.events.push(Event { at, kind: EventKind::Arrival });
        self.admit(now);
    }

    /// Serves the customer that arrives now if a server is idle; queues it otherwise.
    fn admit(&mut self, now: f64) {
        if self.idle > 0 {
            self.idle -= 1;
            self.start(now, now);
        } else {
            self.waiting.push_back(now);
        }
    }

    fn depart(&mut self, now: f64) {
        match self.waiting.pop_front() {
            Some(arrived) => self.start(now, arrived),
            None => self.idle += 1,
        }
    }

    fn start(&mut self, now: f64, arrived: f64) {
        let at = now + self.draws.service();
        self.events.push(Event { at, kind: EventKind::Departure { arrived } });
    }
}

impl Ord for Event {
    /// Earlier events compare greater, because the heap pops the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at)
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Event {}
