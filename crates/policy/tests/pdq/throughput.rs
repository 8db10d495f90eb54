//! Backlogs with handlers of drawn lengths on simulated threads, and the bounds that theory gives for them.

use proptest::collection::vec;
use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use warmcore_policy::pdq::{Design, Label, Pdq};
use warmcore_units::ThreadId;

const SEARCH_ALL: Design = Design::DynamicDemultiplexing { window: None, id_bits: None };

/// A partition and how long the event's handler takes.
type Event = (u64, u64);

/// The time that `threads` threads take for `events`, all of which wait at the start.
fn makespan(threads: u32, design: Design, events: &[Event]) -> u64 {
    let mut pdq = Pdq::new(threads, design);
    events.iter().for_each(|&(id, length)| pdq.arrive(Label::Partition(id), length));
    let mut now = 0;
    // When each thread ends its event.
    let mut ends: Vec<Option<u64>> = vec![None; threads as usize];
    loop {
        for (thread, end) in ends.iter_mut().enumerate().filter(|(_, end)| end.is_none()) {
            *end = pdq.dispatch(ThreadId::from(thread)).map(|length| now + length);
        }
        let next = ends.iter().enumerate().filter_map(|(thread, end)| Some(((*end)?, thread))).min();
        let Some((end, thread)) = next else { break };
        now = end;
        ends[thread] = None;
        pdq.finish(ThreadId::from(thread));
    }
    assert_eq!(pdq.waiting(), 0);
    now
}

/// The length of all handlers together, and of those that `group` puts together, for the longest such group.
fn lengths(events: &[Event], group: impl Fn(u64) -> u64) -> (u64, u64) {
    let mut groups = BTreeMap::new();
    events.iter().for_each(|&(id, length)| *groups.entry(group(id)).or_insert(0) += length);
    (groups.values().sum(), groups.into_values().max().unwrap_or(0))
}

/// What greedy scheduling takes at most for chains of work, of which each runs in order (Graham 1969): the last chain
/// to end always either runs or finds all threads busy.
fn graham(threads: u32, (total, chain): (u64, u64)) -> f64 {
    let threads = f64::from(threads);
    total as f64 / threads + (1.0 - 1.0 / threads) * chain as f64
}

/// What nothing can beat: all threads busy to the end, or one chain from start to end.
fn ideal(threads: u32, (total, chain): (u64, u64)) -> u64 {
    total.div_ceil(threads.into()).max(chain)
}

proptest! {
    #[test]
    fn makespans_keep_to_their_bounds(
        threads in 1..6_u32,
        queues in 1..12_u32,
        events in vec((0..12_u64, 1..100_u64), 0..200),
    ) {
        let each = lengths(&events, |id| id);
        let of_threads = lengths(&events, |id| id % u64::from(threads));
        prop_assert_eq!(makespan(threads, Design::StaticBinding, &events), of_threads.1);

        let of_queues = lengths(&events, |id| id % u64::from(queues));
        let bound = makespan(threads, Design::DynamicBinding { queues }, &events);
        prop_assert!(bound >= ideal(threads, of_queues) && bound as f64 <= graham(threads, of_queues) + 1e-6);

        let searched = makespan(threads, SEARCH_ALL, &events);
        prop_assert!(searched >= ideal(threads, each) && searched as f64 <= graham(threads, each) + 1e-6);
    }

    /// Whatever is searched less, every partition's events are handled one after the other.
    #[test]
    fn no_search_beats_the_ideal(
        threads in 1..6_u32,
        window in 1..20_u32,
        bits in 0..4_u32,
        events in vec((0..12_u64, 1..100_u64), 0..200),
    ) {
        let design = Design::DynamicDemultiplexing { window: Some(window), id_bits: Some(bits) };
        let alike = lengths(&events, |id| id % (1 << bits));
        let taken = makespan(threads, design, &events);
        prop_assert!((ideal(threads, alike)..=alike.0).contains(&taken));
    }
}

/// Threads kept busy on average by 4,000 events with exponential handlers on four threads, beside bounds from the
/// very lengths drawn. Of the skewed events, half are for every fourth partition only, as well as a quarter of the rest.
#[test]
fn dynamic_demultiplexing_has_no_load_imbalance() {
    const SEED: u64 = 1998;
    const THREADS: u32 = 4;
    const PARTITIONS: u64 = 64;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    for skewed in [false, true] {
        let mut event = || {
            let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            let id = random.next_u64() % PARTITIONS;
            let id = if skewed && random.next_u64() % 2 == 0 { id - id % 4 } else { id };
            (id, 1 + (-1e6 * (1.0 - uniform).ln()) as u64)
        };
        let events: Vec<Event> = (0..4_000).map(|_| event()).collect();
        let each = lengths(&events, |id| id);
        let busy = |design| each.0 as f64 / makespan(THREADS, design, &events) as f64;
        let at_least = each.0 as f64 / graham(THREADS, each);

        let table = [
            ("static binding", Design::StaticBinding),
            ("dynamic binding, 16 queues", Design::DynamicBinding { queues: 16 }),
            ("dynamic binding, 64 queues", Design::DynamicBinding { queues: 64 }),
            (
                "dynamic demultiplexing, window 4",
                Design::DynamicDemultiplexing { window: Some(4), id_bits: None },
            ),
            (
                "dynamic demultiplexing, 2 bits",
                Design::DynamicDemultiplexing { window: None, id_bits: Some(2) },
            ),
            ("dynamic demultiplexing", SEARCH_ALL),
        ];
        let table = table.map(|(name, design)| (name, busy(design)));
        println!("seed {SEED}, skewed: {skewed}, at least {at_least:.3}\n{table:.3?}");
        let [fixed, _, many_queues, _, two_bits, all] = table.map(|(_, busy)| busy);
        assert!(all >= at_least && many_queues >= at_least, "seed {SEED}");
        let of_threads = lengths(&events, |id| id % u64::from(THREADS));
        assert_eq!(
            fixed,
            each.0 as f64 / of_threads.1 as f64,
            "the busiest thread never pauses; seed {SEED}"
        );
        assert_eq!(two_bits, fixed, "two bits make four chains, one for each thread; seed {SEED}");
        assert!(!skewed || fixed < 2.0, "more than half of the work is thread 0's; seed {SEED}");
    }
}
