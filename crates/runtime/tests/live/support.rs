//! Shared by the tests: processors, options, and a handler that records deliveries.

use super::numbered::{LINK, Numbered, Packet};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_runtime::{Context, Idle, Memory, OnStuck, Options, Overload, Report, RunHandle, Shutdown};
use warmcore_scenario::{Organisation, Parallelism, ProcessorPolicy, Scheduling};
use warmcore_stack::{Delivery, Flow};
use warmcore_units::{CpuId, Nanos, StreamId};

/// Longer than any of these tests needs.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Reserves the processors for one test at a time.
pub(crate) fn lock_processors() -> MutexGuard<'static, ()> {
    static PROCESSORS: Mutex<()> = Mutex::new(());
    PROCESSORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Two processors, or the only one.
pub(crate) fn cpus() -> Vec<CpuId> {
    warmcore_linux::affinity::mask().unwrap().iter().take(2).collect()
}

pub(crate) fn options(scheduling: Scheduling, streams: u32) -> Options {
    let cpus = cpus();
    let workers = cpus.len() as u32;
    let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), scheduling.approach.costs(), workers);
    Options {
        cpus,
        scheduling,
        model: Arc::new(model.unwrap()),
        streams,
        stacks: streams.min(3),
        link: LINK,
        verify_udp_checksum: true,
        conversations: None,
        idle: Idle::Sleep,
        overload: Overload::HoldBack,
        capacity: 64,
        shutdown: Shutdown::Drain,
        drain_limit: Options::DRAIN_LIMIT,
        on_stuck: OnStuck::default(),
        stopwatch: None,
        stall: Nanos::from_micros(50.0),
        seed: 1,
    }
}

pub(crate) fn flows(streams: u32) -> Vec<Flow> {
    (0..streams).map(|stream| Memory::flow(StreamId(stream))).collect()
}

/// Every approach, policy and organisation of pools.
pub(crate) fn every_scheduling() -> impl Iterator<Item = Scheduling> {
    let approaches = [Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid];
    let each = |approach| {
        ProcessorPolicy::ALL.into_iter().flat_map(move |policy| {
            Organisation::ALL.into_iter().flat_map(move |threads| {
                Organisation::ALL.map(|memory| Scheduling {
                    approach,
                    policy,
                    threads,
                    memory,
                    ..Scheduling::default()
                })
            })
        })
    };
    approaches.into_iter().flat_map(each)
}

/// Whether packets of a stream are handled in order. With independent stacks they are, because a stack
/// is used by one processor at a time and takes its packets in turn. With the other approaches they are
/// if a stream never leaves its processor, as under hashing or with wired streams. Under all other
/// policies two packets of a stream may be on two processors at once, and the second may finish first.
pub(crate) const fn promises_order(scheduling: &Scheduling) -> bool {
    matches!(
        (scheduling.approach, scheduling.policy),
        (Parallelism::Ips, _)
            | (_, ProcessorPolicy::Hash)
            | (Parallelism::Locking, ProcessorPolicy::WiredStreams)
    )
}

/// Records which packets were delivered.
pub(crate) struct DeliveryLog {
    /// By stream, by number: how often it was delivered.
    seen: Vec<Vec<AtomicU8>>,
    /// By stream: one more than the last number.
    next: Vec<AtomicU64>,
    delivered: AtomicU64,
    overtaken: AtomicU64,
    /// Payloads that were never sent.
    damaged: AtomicU64,
}

impl DeliveryLog {
    pub(crate) fn new(driver: &Numbered) -> Self {
        let each = || (0..driver.each).map(|_| AtomicU8::new(0)).collect();
        Self {
            seen: (0..driver.streams).map(|_| each()).collect(),
            next: (0..driver.streams).map(|_| AtomicU64::new(0)).collect(),
            delivered: AtomicU64::new(0),
            overtaken: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
        }
    }

    pub(crate) fn deliver(&self, delivery: &Delivery<'_>) {
        self.delivered.fetch_add(1, Ordering::Relaxed);
        let seen = Packet::parse(delivery.payload).filter(|packet| packet.stream == delivery.stream.0);
        let times = seen.and_then(|Packet { stream, number }| {
            self.seen.get(stream as usize)?.get(usize::try_from(number).ok()?)
        });
        let (Some(Packet { stream, number }), Some(times)) = (seen, times) else {
            self.damaged.fetch_add(1, Ordering::Relaxed);
            return;
        };
        times.fetch_add(1, Ordering::Relaxed);
        let before = self.next[stream as usize].swap(number + 1, Ordering::Relaxed);
        self.overtaken.fetch_add(u64::from(before > number), Ordering::Relaxed);
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Packets delivered after a later one of their stream.
    pub(crate) fn overtaken(&self) -> u64 {
        self.overtaken.load(Ordering::Relaxed)
    }

    pub(crate) fn damaged(&self) -> u64 {
        self.damaged.load(Ordering::Relaxed)
    }

    fn count(&self, which: impl Fn(u8) -> bool) -> u64 {
        let all = self.seen.iter().flatten();
        all.filter(|times| which(times.load(Ordering::Relaxed))).count() as u64
    }

    /// Packets that were never delivered.
    pub(crate) fn missing(&self) -> u64 {
        self.count(|times| times == 0)
    }

    /// Packets that were delivered more than once.
    pub(crate) fn doubled(&self) -> u64 {
        self.count(|times| times > 1)
    }
}

/// A handler that only records deliveries in `log`.
pub(crate) fn recording(log: &DeliveryLog) -> impl Fn(&Delivery<'_>, &mut Context<'_>) + Sync + '_ {
    |delivery, _| log.deliver(delivery)
}

/// A handler that does nothing.
pub(crate) fn ignoring(_: &Delivery<'_>, _: &mut Context<'_>) {}

/// Waits until `done` returns true.
///
/// # Panics
/// If that takes too long, or the run ends first.
pub(crate) fn wait_until(watch: &RunHandle<'_>, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(!watch.has_ended(), "the run ended early");
        assert!(begun.elapsed() < TIMEOUT, "no progress: {:?}", watch.streams());
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// The packets that the report accounts for: all that workers received.
pub(crate) fn accounted(report: &Report) -> u64 {
    let total = report.total();
    let refused: u64 = total.refused.values().sum();
    total.packets() + refused + total.overflowed + total.failed + report.given_up
}
