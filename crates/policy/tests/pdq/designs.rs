//! What Falsafi 1998, §2.3, says of its designs, in cases small enough to be worked out by hand.

use warmcore_policy::pdq::{Counts, Design, Label, Pdq};
use warmcore_units::ThreadId;

const ALL: Design = Design::DynamicDemultiplexing { window: None, id_bits: None };

/// Runs a backlog on four threads, where every handler takes a round; returns the number of rounds.
fn rounds(design: Design, ids: impl IntoIterator<Item = u64>) -> (usize, Counts) {
    let mut pdq = Pdq::new(4, design);
    ids.into_iter().for_each(|id| pdq.arrive(Label::Partition(id), ()));
    let mut rounds = 0;
    while pdq.waiting() > 0 {
        let started: Vec<_> = (0..4).map(ThreadId).filter(|&thread| pdq.dispatch(thread).is_some()).collect();
        started.into_iter().for_each(|thread| pdq.finish(thread));
        rounds += 1;
        assert!(rounds < 1_000, "{} events wait for ever", pdq.waiting());
    }
    (rounds, pdq.counts())
}

/// `each` events of every partition below `partitions`, taking turns.
fn in_turn(partitions: u64, each: u64) -> impl Iterator<Item = u64> {
    (0..partitions * each).map(move |n| n % partitions)
}

/// The same, but one partition after the other.
fn in_bursts(partitions: u64, each: u64) -> impl Iterator<Item = u64> {
    (0..partitions * each).map(move |n| n / each)
}

/// §2.3.2: a skewed distribution leaves threads idle under static binding.
#[test]
fn static_binding_suffers_from_skew() {
    let spread = || in_turn(16, 4);
    let skewed = || spread().map(|id| 4 * id);
    assert_eq!(rounds(Design::StaticBinding, spread()).0, 64 / 4);
    assert_eq!(rounds(Design::StaticBinding, skewed()).0, 64, "all are in one thread's queue");
    for design in [ALL, Design::DynamicBinding { queues: 64 }] {
        assert_eq!(rounds(design, skewed()).0, 64 / 4, "{design:?}");
    }
}

/// §2.3.2: more queues hold smaller partitions, which spread better.
#[test]
fn dynamic_binding_needs_queues() {
    let parallel = [(1, 1), (2, 2), (4, 4), (8, 4)];
    for (queues, expected) in parallel {
        let (rounds, counts) = rounds(Design::DynamicBinding { queues }, in_turn(8, 8));
        assert_eq!(rounds, 64 / expected, "{queues} queues");
        assert_eq!(counts.bindings, queues.into(), "a thread keeps its queue until that is empty");
    }
}

/// §2.3.2: without queueing, every event has to be bound; static binding and dynamic demultiplexing bind none.
#[test]
fn dynamic_binding_costs_most_without_queueing() {
    for (design, bindings) in
        [(Design::StaticBinding, 0), (ALL, 0), (Design::DynamicBinding { queues: 8 }, 40)]
    {
        let mut pdq = Pdq::new(4, design);
        for id in in_turn(8, 5) {
            pdq.arrive(Label::Partition(id), id);
            let thread = (0..4).map(ThreadId).find(|&thread| pdq.dispatch(thread) == Some(id));
            pdq.finish(thread.expect("all threads are idle"));
            (0..4).for_each(|thread| assert_eq!(pdq.dispatch(ThreadId(thread)), None));
        }
        assert_eq!(pdq.counts().bindings, bindings, "{design:?}");
    }
}

/// Queues wait for threads in order: one that gets an event again waits behind those that were there before.
#[test]
fn a_thread_binds_to_the_queue_that_waits_longest() {
    let mut pdq = Pdq::new(1, Design::DynamicBinding { queues: 4 });
    let thread = ThreadId(0);
    [3, 1, 2, 1].into_iter().for_each(|id| pdq.arrive(Label::Partition(id), id));
    assert_eq!(pdq.dispatch(thread), Some(3));
    pdq.finish(thread);
    assert_eq!(pdq.dispatch(thread), Some(1));
    pdq.arrive(Label::Partition(3), 3);
    pdq.finish(thread);
    let rest = std::iter::from_fn(|| pdq.dispatch(thread).inspect(|_| pdq.finish(thread)));
    assert_eq!(rest.collect::<Vec<_>>(), [1, 2, 3]);
}

/// §2.3.3: limiting the search may limit parallelism. Four bursts of eight events: unless a search sees past a
/// burst, the next one begins only as the last event of a burst runs.
#[test]
fn a_short_window_limits_parallelism() {
    let windowed = |window| {
        let (rounds, counts) =
            rounds(Design::DynamicDemultiplexing { window, id_bits: None }, in_bursts(4, 8));
        (rounds, counts.searched)
    };
    assert_eq!(windowed(Some(1)).0, 8 + 3 * 7);
    assert_eq!(windowed(None).0, 8, "as many as the longest burst");
    // Three bursts of which one event each runs, and the first of the fourth.
    assert_eq!(windowed(Some(3 * 7 + 1)).0, 8);
    assert!(windowed(Some(8)).0 < windowed(Some(1)).0);
    assert!(windowed(Some(8)).0 > 8, "two bursts at a time");
    assert!(windowed(Some(1)).1 < windowed(None).1, "a short search is what is gained");
}

/// §2.3.3: with few bits of each id, different partitions look identical and are dispatched serially.
#[test]
fn few_id_bits_serialise_partitions() {
    let compared =
        |bits| rounds(Design::DynamicDemultiplexing { window: None, id_bits: Some(bits) }, in_turn(4, 8));
    let rounds = [64, 2, 1, 0].map(|bits| compared(bits).0);
    assert_eq!(rounds, [8, 8, 16, 32]);
    assert_eq!(compared(2).1.false_conflicts, 0);
    assert!(compared(1).1.false_conflicts > 0);
}

/// §2.3: a sequential handler runs alone and in order; unrestricted ones run beside each other and all others.
#[test]
fn labels_say_what_may_run_together() {
    // Under static binding, thread 0 takes what is unrestricted before the event in its queue.
    for (design, expected) in
        [(Design::StaticBinding, 4), (Design::DynamicBinding { queues: 8 }, 3), (ALL, 3)]
    {
        let mut pdq = Pdq::new(4, design);
        pdq.arrive(Label::Partition(0), "first");
        pdq.arrive(Label::Unrestricted, "read");
        pdq.arrive(Label::Unrestricted, "read");
        pdq.arrive(Label::Sequential, "map a page");
        pdq.arrive(Label::Partition(1), "last");
        let mut rounds = Vec::new();
        while rounds.len() < expected {
            let found = |thread| Some((thread, pdq.dispatch(thread)?));
            let (threads, names): (Vec<_>, Vec<_>) = (0..4).map(ThreadId).filter_map(found).unzip();
            threads.into_iter().for_each(|thread| pdq.finish(thread));
            rounds.push(names);
        }
        let mut before = rounds[..expected - 2].concat();
        before.sort_unstable();
        assert_eq!(before, ["first", "read", "read"], "{design:?}");
        assert_eq!(rounds[expected - 2..], [["map a page"], ["last"]], "{design:?}");
        assert_eq!(pdq.waiting(), 0);
    }
}
