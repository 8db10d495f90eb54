//! A dispatcher under random events, beside a plain ledger of which processor holds which job. After each
//! event, the policy's view must equal the ledger.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::collections::BTreeSet;
use warmcore_policy::dispatch::{Change, Job, Layout, Next, PacketQueues};
use warmcore_policy::policies::{JoinShortestQueue, LeastRecentlyUsed, MostRecentlyUsed, Patient};
use warmcore_policy::{Dispatcher, Policy, Queues, View};
use warmcore_units::{CpuId, Nanos, StreamId};

/// Numbers of processors that cover both representations of recency, packed and linked.
const PROCESSORS: [u32; 4] = [1, 2, 5, 17];
const STREAMS: u32 = 3;

/// A packet, identified by its number.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Numbered(u32);

impl Job for Numbered {
    fn arrived(&self) -> Nanos {
        Nanos(f64::from(self.0))
    }

    fn stream(&self) -> StreamId {
        StreamId(self.0 % STREAMS)
    }
}

/// Which processor holds which job, derived only from the dispatcher's answers.
struct Ledger<P> {
    dispatcher: Dispatcher<P, PacketQueues<Numbered>>,
    random: Xoshiro256PlusPlus,
    /// The job that each processor holds.
    held: Vec<Option<Numbered>>,
    /// Idle processors, least recently used first.
    idle: Vec<usize>,
    waiting: BTreeSet<u32>,
    arrived: u32,
}

impl<P: Policy> Ledger<P> {
    fn new(policy: P, processors: u32) -> Self {
        let layout =
            Layout { processors, streams: STREAMS, stacks: 1, stack_per_processor: false, hashed: false };
        Self {
            dispatcher: Dispatcher::new(policy, &layout),
            random: Xoshiro256PlusPlus::seed_from_u64(1),
            held: vec![None; processors as usize],
            idle: (0..processors as usize).collect(),
            waiting: BTreeSet::new(),
            arrived: 0,
        }
    }

    fn arrive(&mut self) {
        let job = Numbered(self.arrived);
        self.arrived += 1;
        self.waiting.insert(job.0);
        if let Some((cpu, first)) = self.dispatcher.arrive(job, None, &mut self.random) {
            let place = self.idle.iter().position(|&idle| idle == cpu.index()).expect("it was idle");
            self.idle.remove(place);
            self.start(cpu.index(), first);
        }
    }

    /// Finishes the job that `cpu` holds, if it holds one.
    fn finish(&mut self, cpu: usize) {
        let Some(job) = self.held[cpu].take() else { return };
        let here = CpuId(u32::try_from(cpu).expect("few processors"));
        match self.dispatcher.finish(here, &job, Nanos(f64::from(self.arrived))) {
            Next::Continue(next, change) => {
                self.start(cpu, next);
                change.into_iter().for_each(|change| self.dispatcher.observe(here, change));
            }
            Next::Stop => {
                self.idle.push(cpu);
                self.dispatcher.observe(here, Change::Idle);
            }
        }
    }

    fn start(&mut self, cpu: usize, job: Numbered) {
        assert!(self.waiting.remove(&job.0), "{job:?} was waiting");
        assert_eq!(self.held[cpu].replace(job), None);
    }

    fn check(&self) {
        let view = self.dispatcher.view();
        let count = |of: usize| u32::try_from(of).expect("few of them");
        let in_service = self.held.iter().flatten().count();
        assert_eq!(view.processors(), count(self.held.len()));
        assert_eq!(view.busy(), count(in_service));
        assert_eq!(view.waiting(), count(self.waiting.len()));
        let seen = [view.least_recent(), view.most_recent()].map(|cpu| cpu.map(CpuId::index));
        assert_eq!(seen, [self.idle.first().copied(), self.idle.last().copied()]);
        let cpus = || (0..count(self.held.len())).map(CpuId);
        for cpu in cpus() {
            assert_eq!(view.is_idle(cpu), self.held[cpu.index()].is_none(), "{cpu:?}");
        }
        if P::USES_LOAD {
            let loads: u32 = cpus().map(|cpu| view.load(cpu)).sum();
            let queued = if P::QUEUES == Queues::PerProcessor { self.waiting.len() } else { 0 };
            assert_eq!(loads, count(in_service + queued));
        }
    }

    /// Runs events: the number of a processor that finishes, or any other number for an arrival.
    fn run(mut self, events: &[usize]) {
        self.check();
        for &event in events {
            if event < self.held.len() {
                self.finish(event);
            } else {
                self.arrive();
            }
            self.check();
        }
        while let Some(cpu) = self.held.iter().position(Option::is_some) {
            self.finish(cpu);
            self.check();
        }
        let rest = self.waiting.len();
        assert!(
            rest == 0 || self.idle.len() == self.held.len(),
            "{rest} packets wait although some processors are busy"
        );
    }
}

proptest! {
    #[test]
    fn the_policys_view_equals_the_ledger(
        processors in prop::sample::select(&PROCESSORS[..]),
        events in prop::collection::vec(0_usize..40, 0..200),
    ) {
        Ledger::new(MostRecentlyUsed, processors).run(&events);
        Ledger::new(LeastRecentlyUsed, processors).run(&events);
        Ledger::new(JoinShortestQueue::new(processors), processors).run(&events);
        Ledger::new(Patient::new(2.0), processors).run(&events);
    }
}

/// Packets that wait although processors are idle are served in the order of arrival.
#[test]
fn a_starting_processor_serves_the_longest_waiting_packet() {
    let mut ledger = Ledger::new(Patient::new(3.0), 2);
    // One packet starts at once, three wait for its processor, and with the fourth the queue is too long.
    (0..4).for_each(|_| ledger.arrive());
    assert_eq!(ledger.held, [None, Some(Numbered(0))]);
    ledger.arrive();
    assert_eq!(ledger.held, [Some(Numbered(1)), Some(Numbered(0))]);
    ledger.check();
}
