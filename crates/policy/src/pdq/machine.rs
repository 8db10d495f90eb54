//! The state machine around the dispatch queues: which thread runs what, and when a sequential event may.

use super::event_queue::EventQueue;
use super::static_queues::StaticQueues;
use super::{Counts, Design, Label};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use warmcore_units::ThreadId;

/// A parallel dispatch queue of events `E`.
///
/// Under dynamic demultiplexing, a poll takes time proportional at most to the window, times the logarithm of the number
/// of threads; entries that were blocked at the last poll are compared again only after a handler has ended. Beside
/// that, it moves a word for each thread at most. All else takes constant time, except that the end of a sequential
/// event demultiplexes what waited behind it.
///
/// Invariant: no two events [conflict](super::rules::Partitions::conflict) that run at the same time.
#[derive(Clone, Debug)]
pub struct Pdq<E> {
    queues: Queues<E>,
    /// How many events are in `queues`.
    demultiplexed: usize,
    /// What waits for a sequential event's turn or end: unless a sequential event runs, the first is sequential.
    deferred: VecDeque<(Label, E)>,
    /// The protocol dispatch register of each thread: what it runs (§5.1).
    registers: Vec<Option<Label>>,
    busy: usize,
    sequential_runs: bool,
    counts: Counts,
}

#[derive(Clone, Debug)]
enum Queues<E> {
    Static(StaticQueues<E>),
    Searched(EventQueue<E>),
}

impl<E> Pdq<E> {
    /// An empty queue for `threads` idle threads.
    ///
    /// # Panics
    /// If there are no threads, the design has no queues, or its window is empty.
    #[must_use]
    pub fn new(threads: u32, design: Design) -> Self {
        assert!(threads > 0, "a parallel dispatch queue needs a thread");
        let queues = match design {
            Design::StaticBinding => Queues::Static(StaticQueues::bound_for_good(threads)),
            Design::DynamicBinding { queues } => {
                assert!(queues > 0, "dynamic binding needs a queue");
                Queues::Static(StaticQueues::unbound(threads, queues))
            }
            Design::DynamicDemultiplexing { window, id_bits } => {
                assert!(window != Some(0), "a window must have room for an entry");
                Queues::Searched(EventQueue::new(window, id_bits))
            }
        };
        Self {
            queues,
            demultiplexed: 0,
            deferred: VecDeque::new(),
            registers: vec![None; threads as usize],
            busy: 0,
            sequential_runs: false,
            counts: Counts::default(),
        }
    }

    /// Handles the arrival of `event`. An idle thread may now find something to do.
    pub fn arrive(&mut self, label: Label, event: E) {
        if label == Label::Sequential || !self.deferred.is_empty() || self.sequential_runs {
            self.deferred.push_back((label, event));
        } else {
            self.demultiplex(label, event);
        }
    }

    /// The event that the idle `thread` runs next, or `None` if it finds none that may run. It polls again when
    /// an event has arrived or finished.
    ///
    /// Under dynamic demultiplexing, a poll that finds nothing speaks for all threads: none would find anything.
    /// Under static demultiplexing, unrestricted events go before those of the thread's queue: they are to be
    /// dispatched immediately (§5.1). A sequential event is run by the thread that polls first.
    ///
    /// # Panics
    /// If `thread` runs an event, or there is no such thread.
    pub fn dispatch(&mut self, thread: ThreadId) -> Option<E> {
        self.assert_idle(thread);
        let found = match &mut self.queues {
            Queues::Static(queues) => queues.take(thread.index(), &mut self.counts),
            Queues::Searched(queue) => queue.take(&mut self.counts),
        };
        self.demultiplexed -= usize::from(found.is_some());
        let Some((label, event)) = found.or_else(|| self.take_sequential()) else {
            self.counts.blocked += u64::from(self.waiting() > 0);
            return None;
        };
        debug_assert!(
            self.registers.iter().flatten().all(|running| !running.touches().conflict(&label.touches())),
            "{label:?} may not run beside {:?}",
            self.registers
        );
        self.registers[thread.index()] = Some(label);
        self.busy += 1;
        self.counts.dispatched += 1;
        Some(event)
    }

    /// Handles the end of the event that `thread` runs. The thread then [polls](Self::dispatch).
    ///
    /// # Panics
    /// If `thread` runs no event, or there is no such thread.
    pub fn finish(&mut self, thread: ThreadId) {
        let Some(label) = self.register(thread).take() else { panic!("{thread} runs no event to finish") };
        self.busy -= 1;
        match (label, &mut self.queues) {
            (Label::Sequential, _) => self.end_sequential(),
            (Label::Partition(id), Queues::Searched(queue)) => queue.finish(id),
            _ => {}
        }
    }

    /// How many events wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.demultiplexed + self.deferred.len()
    }

    /// What has happened since the start.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn demultiplex(&mut self, label: Label, event: E) {
        self.demultiplexed += 1;
        match &mut self.queues {
            Queues::Static(queues) => queues.push(label, event),
            Queues::Searched(queue) => queue.push(label, event),
        }
    }

    /// The sequential event whose turn it is: all before it have ended.
    fn take_sequential(&mut self) -> Option<(Label, E)> {
        if self.busy > 0 || self.demultiplexed > 0 {
            return None;
        }
        let first = self.deferred.pop_front()?;
        self.sequential_runs = true;
        Some(first)
    }

    /// Demultiplexes what has waited for the end of a sequential event, up to the next of them.
    fn end_sequential(&mut self) {
        self.sequential_runs = false;
        while let Some((label, event)) = self.deferred.pop_front_if(|(label, _)| *label != Label::Sequential)
        {
            self.demultiplex(label, event);
        }
    }

    fn assert_idle(&mut self, thread: ThreadId) {
        assert!(self.register(thread).is_none(), "{thread} still runs an event");
    }

    fn register(&mut self, thread: ThreadId) -> &mut Option<Label> {
        let threads = self.registers.len();
        let register = self.registers.get_mut(thread.index());
        register.unwrap_or_else(|| panic!("there is no {thread} among {threads}"))
    }
}
