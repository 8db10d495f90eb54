//! The yardstick: the event loop one writes first, with the standard library's binary heap; and
//! the same with the one improvement that such a heap invites.

use crate::draws::Draws;
use crate::peer::{Peer, PeerError, Run};
use crate::queue::{Queue, SERVERS};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::time::Instant;

/// An event loop over a [`BinaryHeap`].
pub(crate) enum HeapLoop {
    /// Takes the next event out and puts what follows from it in.
    Plain,
    /// Replaces the next event by what follows from it, where it stands.
    InPlace,
}

impl Peer for HeapLoop {
    fn name(&self) -> String {
        match self {
            Self::Plain => "plain binary-heap event loop".to_owned(),
            Self::InPlace => "the same, events replaced in place".to_owned(),
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

/// The servers, the line before them, and what is going to happen.
struct Bank {
    draws: Draws,
    events: BinaryHeap<Event>,
    waiting: VecDeque<f64>,
    idle: u32,
}

/// Something that happens at a time.
struct Event {
    at: f64,
    what: What,
}

enum What {
    Arrival,
    /// Of the customer that arrived then.
    Departure {
        arrived: f64,
    },
}

impl Bank {
    /// All servers are idle, and the first customer is on its way.
    fn new(mut draws: Draws) -> Self {
        let first = Event { at: draws.interval(), what: What::Arrival };
        Self { draws, events: BinaryHeap::from([first]), waiting: VecDeque::new(), idle: SERVERS }
    }

    /// The mean sojourn time of the first `customers` customers to leave.
    fn serve(mut self, customers: u64) -> f64 {
        let (mut served, mut sojourn) = (0, 0.0);
        while served < customers
            && let Some(Event { at: now, what }) = self.events.pop()
        {
            match what {
                What::Arrival => self.arrive(now),
                What::Departure { arrived } => {
                    served += 1;
                    sojourn += now - arrived;
                    self.depart(now);
                }
            }
        }
        sojourn / served as f64
    }

    /// What [`Self::serve`] does.
    fn serve_in_place(mut self, customers: u64) -> f64 {
        let (mut served, mut sojourn) = (0, 0.0);
        while served < customers {
            let Some(mut next) = self.events.peek_mut() else { break };
            let now = next.at;
            match next.what {
                What::Arrival => {
                    next.at = now + self.draws.interval();
                    drop(next);
                    self.seat(now);
                }
                What::Departure { arrived } => {
                    served += 1;
                    sojourn += now - arrived;
                    if let Some(arrived) = self.waiting.pop_front() {
                        *next = Event { at: now + self.draws.service(), what: What::Departure { arrived } };
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
        self.events.push(Event { at, what: What::Arrival });
        self.seat(now);
    }

    /// Whoever arrives now is served if a server is idle, and waits otherwise.
    fn seat(&mut self, now: f64) {
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
        self.events.push(Event { at, what: What::Departure { arrived } });
    }
}

impl Ord for Event {
    /// The greatest event is the earliest, since the heap yields the greatest first.
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
