//! The parallel dispatch queue, PDQ (Falsafi, *Fine-Grain Protocol Execution Mechanisms & Scheduling Policies on
//! SMP Clusters*, 1998, §2.3), for simulators.
//!
//! Protocol events carry the id of the *partition* of the protocol's data that their handler touches, such as a
//! memory block. Handlers of one partition run one at a time and in order, those of different
//! partitions in parallel, so that none needs a lock. Two further [labels](Label) are for handlers that touch
//! everything and for those that conflict with nothing.
//!
//! To get an event to a protocol thread, the PDQ *demultiplexes* it into a dispatch queue and *binds* the queue to
//! the thread. Each is done statically or dynamically; the thesis describes three combinations:
//!
//! ```text
//! StaticBinding (§2.3.2,           DynamicBinding (§2.3.2,            DynamicDemultiplexing (§2.3.3,
//! Figure 2-3, left)                Figure 2-3, right)                 Figure 2-4)
//!
//!          events                           events                            events
//!             │                                │                                 │
//!         id mod 2                         id mod 4                       ┌──────▼──────┐
//!       ┌─────┴─────┐               ┌──────┬───┴──┬──────┐                │ a b a c ... │
//!    ┌──▼──┐     ┌──▼──┐          ┌─▼─┐  ┌─▼─┐  ┌─▼─┐  ┌─▼─┐              └─▲─────────▲─┘
//!    │     │     │     │          │   │  │   │  │   │  │   │          search│         │search
//!    └──┬──┘     └──┬──┘          └─┬─┘  └───┘  └─┬─┘  └───┘          ┌─────┴──┐   ┌──┴─────┐
//!       │           │               └─ ─ ┐    ┌ ─ ┘                   │ PDR: a │   │ PDR: b │
//!    thread 0    thread 1            thread 0  thread 1               └────────┘   └────────┘
//!                                                                      thread 0     thread 1
//! each queue has its thread        an idle thread binds to a          the first event whose id
//! for good                         queue until that is empty          no register holds
//! ```
//!
//! - *Static binding* is cheap and keeps a partition's data in one processor's cache, but when many events are for
//!   the partitions of one queue, its thread is busy while others idle.
//! - *Dynamic binding* evens that out as far as events spread over queues, at the price of binding.
//! - *Dynamic demultiplexing* keeps no thread idle while any event may run, if it searches all that waits. A short
//!   window or few bits of each id make the search cheaper, and it may miss such an event. The thesis's Hurricane
//!   devices have a PDQ of this kind (§5.2).
//!
//! [`Pdq`] is a state machine: a simulator reports that an event [arrives](Pdq::arrive), lets idle threads
//! [poll](Pdq::dispatch) and reports that a handler has [finished](Pdq::finish). Time passes only in the simulator,
//! which may charge it for what the [`Counts`] say: searches, bindings, fruitless polls.
//!
//! Eight events, a round for each handler, two threads:
//!
//! ```
//! use warmcore_policy::pdq::{Design, Label, Pdq};
//! use warmcore_units::ThreadId;
//!
//! fn rounds(design: Design) -> u32 {
//!     let mut pdq = Pdq::new(2, design);
//!     for id in [0, 0, 0, 2, 2, 2, 4, 5] {
//!         pdq.arrive(Label::Partition(id), ());
//!     }
//!     let mut rounds = 0;
//!     while pdq.waiting() > 0 {
//!         let busy: Vec<_> = (0..2).map(ThreadId).filter(|&thread| pdq.dispatch(thread).is_some()).collect();
//!         busy.into_iter().for_each(|thread| pdq.finish(thread));
//!         rounds += 1;
//!     }
//!     rounds
//! }
//!
//! // Seven of the ids are even, and thread 0 has the queue of those.
//! assert_eq!(rounds(Design::StaticBinding), 7);
//! // Of four queues, 0 and 4 go into the first, 2 into the third, and 5 into the second.
//! assert_eq!(rounds(Design::DynamicBinding { queues: 4 }), 4);
//! let search = |window, id_bits| rounds(Design::DynamicDemultiplexing { window, id_bits });
//! assert_eq!(search(None, None), 4);
//! // While an event of partition 0 runs, a window of two sees only others of it, until it reaches 2.
//! assert_eq!(search(Some(2), None), 5);
//! // With one bit kept, 0, 2 and 4 look the same.
//! assert_eq!(search(None, Some(1)), 7);
//! ```
//!
//! The crate `warmcore-dispatch` is a parallel dispatch queue for live programs, of a different design. What both must keep
//! to is stated once, in [`rules`], and a [`judge`] holds what either did to it.

mod event_queue;
pub mod judge;
mod machine;
pub mod rules;
mod static_queues;

pub use machine::Pdq;
pub use rules::Label;

/// How events are demultiplexed into dispatch queues, and queues bound to threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Design {
    /// Static demultiplexing and binding (§2.3.2): a queue for each thread; events go to queue `id mod threads`.
    StaticBinding,
    /// Static demultiplexing, dynamic binding (§2.3.2): events go to queue `id mod queues`. A thread binds to the
    /// queue that has waited longest for one, and to another when that is empty.
    DynamicBinding {
        /// How many queues; there should be more of them than threads.
        queues: u32,
    },
    /// Dynamic demultiplexing (§2.3.3): a polling thread searches one queue for the first event that may run.
    ///
    /// The thesis does not say whether a dispatched event still takes a place in the window. Here it does not.
    DynamicDemultiplexing {
        /// How many waiting entries a search compares at most, from the head; `None`: all. Unrestricted events
        /// are found only within it, too.
        window: Option<u32>,
        /// How many low bits of an id are compared; `None`: all. Partitions that agree in them look the same, and
        /// their events are dispatched one at a time.
        id_bits: Option<u32>,
    },
}

/// What has happened since the start. The difference between two readings is what happened in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Events that threads have got.
    pub dispatched: u64,
    /// Entries of the event queue that searches have compared, each from the head.
    pub searched: u64,
    /// Events that a search passed over because their id only looked like that of a running event, counted once
    /// each. Other partitions' waiting events count even if an earlier one of their own would have held them up.
    pub false_conflicts: u64,
    /// How often a thread was bound to a queue, other than for good.
    pub bindings: u64,
    /// Polls that found nothing although events waited.
    pub blocked: u64,
}
