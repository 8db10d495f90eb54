//! A dispatcher under drawn events, beside a plain ledger of who has which job: what the policy sees of
//! the processors is what the ledger has, after each of them.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::collections::BTreeSet;
use warmcore_policy::dispatch::{Change, Job, Layout, Next, PacketQueues};
use warmcore_policy::policies::{JoinShortestQueue, LeastRecentlyUsed, MostRecentlyUsed, Patient};
use warmcore_policy::{Dispatcher, Policy, Queues, View};
use warmcore_units::{CpuId, Nanos, StreamId};

/// As many processors as are told apart by an array, and one more.
const PROCESSORS: [u32; 4] = [1, 2, 5, 17];
const STREAMS: u32 = 3;

/// A packet, known by its number.
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

/// Who has what, by way of nothing but what the dispatcher said.
struct Ledger<P> {
    dispatcher: Dispatcher<P, PacketQueues<Numbered>>,
    random: Xoshiro256PlusPlus,
    /// By processor: the job in its hand.
    hands: Vec<Option<Numbered>>,
    /// The idle processors, those that ran least recently first.
    idle: Vec<usize>,
    waiting: BTreeSet<u32>,
    arrived: u32,
}

impl<P: Policy> Ledger<P> {
    fn new(policy: P, processors: u32) -> Self {
        let layout = Layout { processors, streams: STREAMS, stacks: 1, stack_each: false, hashed: false };
        Self {
            dispatcher: Dispatcher::new(policy, &layout),
            random: Xoshiro256PlusPlus::seed_from_u64(1),
            hands: vec![None; processors as usize],
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
            self.take_up(cpu.index(), first);
        }
    }

    /// The processor has finished what it has in hand, if it has anything.
    fn finish(&mut self, cpu: usize) {
        let Some(job) = self.hands[cpu].take() else { return };
        let here = CpuId(u32::try_from(cpu).expect("few processors"));
        match self.dispatcher.finish(here, &job, Nanos(f64::from(self.arrived))) {
            Next::Continue(next, change) => {
                self.take_up(cpu, next);
                change.into_iter().for_each(|change| self.dispatcher.observe(here, change));
            }
            Next::Stop => {
                self.idle.push(cpu);
                self.dispatcher.observe(here, Change::Idle);
            }
        }
    }

    fn take_up(&mut self, cpu: usize, job: Numbered) {
        assert!(self.waiting.remove(&job.0), "{job:?} was in one line");
        assert_eq!(self.hands[cpu].replace(job), None);
    }

    fn check(&self) {
        let view = self.dispatcher.view();
        let count = |of: usize| u32::try_from(of).expect("few of them");
        let in_hand = self.hands.iter().flatten().count();
        assert_eq!(view.processors(), count(self.hands.len()));
        assert_eq!(view.busy(), count(in_hand));
        assert_eq!(view.waiting(), count(self.waiting.len()));
        let seen = [view.least_recent(), view.most_recent()].map(|cpu| cpu.map(CpuId::index));
        assert_eq!(seen, [self.idle.first().copied(), self.idle.last().copied()]);
        let cpus = || (0..count(self.hands.len())).map(CpuId);
        for cpu in cpus() {
            assert_eq!(view.is_idle(cpu), self.hands[cpu.index()].is_none(), "{cpu:?}");
        }
        if P::USES_LOAD {
            let loads: u32 = cpus().map(|cpu| view.load(cpu)).sum();
            let queued = if P::QUEUES == Queues::PerProcessor { self.waiting.len() } else { 0 };
            assert_eq!(loads, count(in_hand + queued));
        }
    }

    /// Each event is the number of the processor that has finished, or else an arrival.
    fn follow(mut self, events: &[usize]) {
        self.check();
        for &event in events {
            if event < self.hands.len() {
                self.finish(event);
            } else {
                self.arrive();
            }
            self.check();
        }
        while let Some(cpu) = self.hands.iter().position(Option::is_some) {
            self.finish(cpu);
            self.check();
        }
        let rest = self.waiting.len();
        assert!(rest == 0 || self.idle.len() == self.hands.len(), "{rest} wait beside those that work");
    }
}

proptest! {
    #[test]
    fn a_policy_sees_what_the_ledger_has(
        processors in prop::sample::select(&PROCESSORS[..]),
        events in prop::collection::vec(0_usize..40, 0..200),
    ) {
        Ledger::new(MostRecentlyUsed, processors).follow(&events);
        Ledger::new(LeastRecentlyUsed, processors).follow(&events);
        Ledger::new(JoinShortestQueue::new(processors), processors).follow(&events);
        Ledger::new(Patient::new(2.0), processors).follow(&events);
    }
}

/// What waits beside idle processors is served in the order in which it came.
#[test]
fn whoever_starts_serves_the_longest_waiting() {
    let mut ledger = Ledger::new(Patient::new(3.0), 2);
    // One goes into service at once, three wait for it, and with the fourth the line is too long.
    (0..4).for_each(|_| ledger.arrive());
    assert_eq!(ledger.hands, [None, Some(Numbered(0))]);
    ledger.arrive();
    assert_eq!(ledger.hands, [Some(Numbered(1)), Some(Numbered(0))]);
    ledger.check();
}
