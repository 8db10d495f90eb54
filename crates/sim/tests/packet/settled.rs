//! Hosts that need no event queue, packet by packet against the event queue.

use crate::cases::{self, Case};
use crate::listed::{Listed, finished};
use crate::machines::{model, one_time};
use crate::theory::coverage::{assert_covered, assert_unbiased};
use proptest::prelude::*;
use proptest::sample::select;
use rayon::prelude::*;
use warmcore_costs::Profile;
use warmcore_scenario::{
    Effects, Extensions, Organisation, Parallelism, ProcessorPolicy, QueueRule, Scheduling,
};
use warmcore_sim::packet::recursion::settle_all;
use warmcore_sim::packet::{Finished, Outcome, Precision, Shape, SimulatedHost, run};
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::{Key, Poisson};

/// What is settled without an event queue.
const SETTLED: [(Parallelism, ProcessorPolicy); 12] = [
    (Parallelism::Locking, ProcessorPolicy::Mru),
    (Parallelism::Locking, ProcessorPolicy::Lru),
    (Parallelism::Locking, ProcessorPolicy::WiredStreams),
    (Parallelism::Locking, ProcessorPolicy::Hash),
    (Parallelism::Hybrid, ProcessorPolicy::Mru),
    (Parallelism::Hybrid, ProcessorPolicy::Lru),
    (Parallelism::Hybrid, ProcessorPolicy::WiredStreams),
    (Parallelism::Hybrid, ProcessorPolicy::Hash),
    (Parallelism::Ips, ProcessorPolicy::Mru),
    (Parallelism::Ips, ProcessorPolicy::Lru),
    (Parallelism::Ips, ProcessorPolicy::WiredStreams),
    (Parallelism::Ips, ProcessorPolicy::Hash),
];

/// The packets of `case` as they are settled.
fn settled(case: &Case) -> Option<Vec<Finished>> {
    let (model, mut packets) = (case.model(), Vec::new());
    let known =
        settle_all(&case.host(&model), &mut Listed::new(&case.arrivals), &mut |packet| packets.push(packet));
    known.then_some(packets)
}

/// Without effects, and with pools and caches of the processors' own.
fn private(case: Case) -> Case {
    let mut case = case;
    case.effects = Effects::NONE;
    case.profile.levels.iter_mut().for_each(|level| level.shared_by = 1);
    case.scheduling.threads = Organisation::PerProcessor;
    case.scheduling.memory = Organisation::PerProcessor;
    case.scheduling.queue = QueueRule::Fifo;
    case
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Every packet has the same processor, situation and times, to the last bit. At most one of the packets that end
    /// at the same time ends at a processor.
    #[test]
    fn packets_are_settled_as_the_event_queue_finishes_them(
        case in prop_oneof![cases::whole(), cases::published()].prop_map(private),
        (approach, policy) in select(&SETTLED),
    ) {
        let mut case = case;
        case.scheduling.approach = approach;
        case.scheduling.policy = policy;
        let mut settled = settled(&case).expect("it needs no event queue");
        settled.sort_by(|a, b| a.ended.total_cmp(&b.ended).then(a.cpu.cmp(&b.cpu)));
        prop_assert_eq!(settled, finished(&case.host(&case.model()), &case.arrivals));
    }

    /// The same on more processors, whose starts are in a tournament.
    #[test]
    fn many_wired_processors_settle_the_same_packets(
        case in prop_oneof![cases::whole(), cases::published()].prop_map(private),
        (approach, policy) in select(&SETTLED[2..4]),
    ) {
        let mut case = case;
        case.scheduling.approach = approach;
        case.scheduling.policy = policy;
        case.shape.processors += 8;
        let mut settled = settled(&case).expect("it needs no event queue");
        settled.sort_by(|a, b| a.ended.total_cmp(&b.ended).then(a.cpu.cmp(&b.cpu)));
        prop_assert_eq!(settled, finished(&case.host(&case.model()), &case.arrivals));
    }

    /// Anything else that a scenario can ask for is left to the event queue.
    #[test]
    fn what_processors_share_needs_the_event_queue(case in cases::whole()) {
        let shares = case.effects != Effects::NONE
            || case.scheduling.threads == Organisation::Global
            || case.scheduling.memory == Organisation::Global
            || !case.model().is_private();
        prop_assert!(!shares || settled(&case).is_none());
    }
}

/// A host of [`SERVERS`] processors under Poisson arrivals, at this fraction of one packet for each [`SERVICE`] and
/// processor.
struct Point {
    approach: Parallelism,
    policy: ProcessorPolicy,
    streams: u32,
    profile: Profile,
    load: f64,
}

const SERVERS: u32 = 8;
/// About what a packet takes on the published machine.
const SERVICE: Nanos = Nanos(80_000.0);

impl Point {
    /// The outcome of `packets` packets, with an event queue or without.
    fn outcome(&self, queue: EventQueue, seed: u64, packets: u64) -> Outcome {
        let Self { approach, policy, streams, ref profile, load } = *self;
        let key = Key { seed, point: 0, replication: 0 };
        // No packet is sent, so this effect has none; but hosts with effects need the event queue.
        let effects = match queue {
            EventQueue::Used => Effects { send_path: 2.0, ..Effects::NONE },
            EventQueue::NotNeeded => Effects::NONE,
        };
        let own = Organisation::PerProcessor;
        let host = SimulatedHost {
            shape: Shape { processors: SERVERS, streams, stacks: streams },
            scheduling: Scheduling { approach, policy, threads: own, memory: own, ..Scheduling::default() },
            model: &model(profile, approach, SERVERS),
            effects,
            extensions: Extensions::NONE,
            key,
        };
        let rate = PerSecond::every(SERVICE) * (load * f64::from(SERVERS));
        let precision =
            Precision { relative: f64::MIN_POSITIVE, max_packets: packets, mean_gap: Some(rate.interval()) };
        run(&host, &mut Poisson::new(rate, streams, key).expect("a rate"), precision)
    }
}

#[derive(Clone, Copy)]
enum EventQueue {
    Used,
    NotNeeded,
}

/// On the same arrivals, the order of packets in the statistics hardly matters: neither for the means nor for
/// the widths of their intervals.
#[test]
fn the_order_of_packets_changes_no_interval() {
    const SEEDS: u64 = 60;
    let points = [
        (Parallelism::Ips, ProcessorPolicy::WiredStreams, 8, 0.8),
        (Parallelism::Ips, ProcessorPolicy::Mru, 40, 0.7),
        (Parallelism::Locking, ProcessorPolicy::WiredStreams, 8, 0.6),
        (Parallelism::Locking, ProcessorPolicy::Mru, 8, 0.5),
    ];
    for (approach, policy, streams, load) in points {
        let point = Point { approach, policy, streams, profile: Profile::sgi_challenge_xl(), load };
        let both =
            |seed| [EventQueue::Used, EventQueue::NotNeeded].map(|queue| point.outcome(queue, seed, 20_000));
        let outcomes: Vec<[Outcome; 2]> = (0..SEEDS).into_par_iter().map(both).collect();
        let mean = |of: &dyn Fn(&[Outcome; 2]) -> f64| outcomes.iter().map(of).sum::<f64>() / SEEDS as f64;
        let half = |outcome: &Outcome| outcome.delay.half_width.expect("a settled run").0;
        let difference = mean(&|[event, settled]| settled.delay.mean.0 - event.delay.mean.0);
        let (width, settled_width) = (mean(&|[event, _]| half(event)), mean(&|[_, settled]| half(settled)));
        println!("{approach}, {policy}: {difference} ns of a half-width of {width}, {settled_width} settled");
        assert!(difference.abs() < 0.2 * width, "{approach}, {policy}: {difference} of {width}");
        assert!(
            (0.85..1.18).contains(&(settled_width / width)),
            "{approach}, {policy}: {settled_width} of {width}"
        );
        for [event, settled] in &outcomes {
            let [p99, settled_p99] = [event, settled].map(|outcome| outcome.quantiles.p99.mean.0);
            assert!(
                (0.9..1.1).contains(&(settled_p99 / p99)),
                "{approach}, {policy}: {settled_p99} of {p99}"
            );
            assert_eq!(event.packets, settled.packets);
        }
    }
}

/// Eight processors whose packets all take as long, each M/D/1 (Pollaczek 1930, Khintchine 1932): the intervals contain the
/// exact mean as often as they say.
#[test]
fn intervals_of_settled_packets_cover() {
    for load in [0.5, 0.8] {
        let (approach, policy) = (Parallelism::Ips, ProcessorPolicy::WiredStreams);
        let point = Point { approach, policy, streams: SERVERS, profile: one_time(SERVICE), load };
        let outcome = |seed| point.outcome(EventQueue::NotNeeded, seed, 100_000);
        let outcomes: Vec<Outcome> = (0..100).into_par_iter().map(outcome).collect();
        let exact = SERVICE.0 * (1.0 + load / (2.0 * (1.0 - load)));
        assert_unbiased("the mean delay", &outcomes, |outcome| outcome.delay.mean.0, exact);
        assert_covered("the mean delay", &outcomes, |outcome| plain(outcome.delay), exact);
        assert_unbiased("the utilisation", &outcomes, |outcome| outcome.utilisation.mean, load);
    }
}

fn plain(of: Estimate<Nanos>) -> Estimate<f64> {
    of.map(|time| time.0)
}
