//! A queue under drawn events beside a plain ledger of what waits and runs, from which each answer follows.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeSet;
use warmcore_policy::pdq::{Counts, Design, Label, Pdq};
use warmcore_units::ThreadId;

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive(Label),
    Poll(usize),
    /// Ends the event that the thread runs.
    Finish(usize),
    /// Takes its queue from the thread.
    Release(usize),
}

/// An event: its label and its place in the order of arrival.
type Event = (Label, usize);

struct Ledger {
    pdq: Pdq<Event>,
    design: Design,
    /// In the order of arrival.
    waiting: Vec<Event>,
    running: Vec<Option<Event>>,
    /// The queue that each thread is bound to, under static demultiplexing.
    bound: Vec<Option<u64>>,
    mistaken: BTreeSet<usize>,
    arrived: usize,
    counts: Counts,
}

impl Ledger {
    fn new(threads: u32, design: Design) -> Self {
        let for_good = |thread: u32| (design == Design::StaticBinding).then_some(u64::from(thread));
        Self {
            pdq: Pdq::new(threads, design),
            design,
            waiting: Vec::new(),
            running: vec![None; threads as usize],
            bound: (0..threads).map(for_good).collect(),
            mistaken: BTreeSet::new(),
            arrived: 0,
            counts: Counts::default(),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Arrive(label) => {
                self.pdq.arrive(label, (label, self.arrived));
                self.waiting.push((label, self.arrived));
                self.arrived += 1;
            }
            Step::Poll(thread) => self.poll(thread % self.running.len()),
            Step::Finish(thread) => self.finish(thread % self.running.len()),
            Step::Release(thread) => self.release(thread % self.running.len()),
        }
        assert_eq!(self.pdq.waiting(), self.waiting.len());
        assert_eq!(self.pdq.counts(), self.counts);
    }

    fn poll(&mut self, thread: usize) {
        if self.running[thread].is_some() {
            return;
        }
        let expected = self.next(thread);
        let found = self.pdq.dispatch(ThreadId::from(thread));
        assert_eq!(found, expected, "thread {thread} polls; {:?} run, {:?} wait", self.running, self.waiting);
        assert_eq!(self.pdq.running(ThreadId::from(thread)), found.map(|(label, _)| label));
        match found {
            Some(event) => self.start(thread, event),
            None => self.counts.blocked += u64::from(!self.waiting.is_empty()),
        }
    }

    /// The rules that hold under every design.
    fn start(&mut self, thread: usize, event @ (label, arrived): Event) {
        let place = self.waiting.iter().position(|&other| other == event).expect("it waits, once");
        let mut running = self.running.iter().flatten().map(|&(label, _)| label);
        assert!(running.all(|other| match label {
            Label::Sequential => false,
            Label::Partition(_) => other != label && other != Label::Sequential,
            Label::Unrestricted => other != Label::Sequential,
        }));
        assert!(self.waiting[..place].iter().all(|&(other, earlier)| {
            assert!(earlier < arrived);
            match label {
                Label::Sequential => false,
                Label::Partition(_) => other != label && other != Label::Sequential,
                Label::Unrestricted => other != Label::Sequential,
            }
        }));
        self.waiting.remove(place);
        self.running[thread] = Some(event);
        self.counts.dispatched += 1;
    }

    /// What the idle `thread` has to find.
    fn next(&mut self, thread: usize) -> Option<Event> {
        let all_ended = self.running.iter().all(Option::is_none);
        let open = self.open();
        let found = match self.design {
            Design::StaticBinding => self.next_of_queue(&open, thread, self.running.len() as u64),
            Design::DynamicBinding { queues } => self.next_of_queue(&open, thread, queues.into()),
            Design::DynamicDemultiplexing { window, id_bits } => self.search(&open, window, id_bits),
        };
        found.or_else(|| self.waiting.first().copied().filter(|_| all_ended && open.is_empty()))
    }

    /// What waits for no sequential event.
    fn open(&self) -> Vec<Event> {
        if self.running.iter().flatten().any(|&(label, _)| label == Label::Sequential) {
            return Vec::new();
        }
        self.waiting.iter().copied().take_while(|&(label, _)| label != Label::Sequential).collect()
    }

    fn search(&mut self, open: &[Event], window: Option<u32>, id_bits: Option<u32>) -> Option<Event> {
        let kept = |id: u64| id_bits.filter(|&bits| bits < 64).map_or(id, |bits| id % (1 << bits));
        for &(label, arrived) in &open[..open.len().min(window.map_or(usize::MAX, |window| window as usize))]
        {
            self.counts.searched += 1;
            let Label::Partition(id) = label else { return Some((label, arrived)) };
            let alike = self.running.iter().flatten().find_map(|&(running, _)| match running {
                Label::Partition(other) if kept(other) == kept(id) => Some(other),
                _ => None,
            });
            let Some(alike) = alike else { return Some((label, arrived)) };
            if alike != id && self.mistaken.insert(arrived) {
                self.counts.false_conflicts += 1;
            }
        }
        None
    }

    fn next_of_queue(&mut self, open: &[Event], thread: usize, queues: u64) -> Option<Event> {
        let queue = |&(label, _): &Event| match label {
            Label::Partition(id) => Some(id % queues),
            _ => None,
        };
        let first_of = |wanted: u64| open.iter().copied().find(|event| queue(event) == Some(wanted));
        if self.design != Design::StaticBinding && self.bound[thread].and_then(first_of).is_none() {
            self.bound[thread] = None;
        }
        if let Some(&unrestricted) = open.iter().find(|(label, _)| *label == Label::Unrestricted) {
            return Some(unrestricted);
        }
        if let Some(bound) = self.bound[thread] {
            return first_of(bound);
        }
        let others = self.bound.clone();
        let mut ready = open.iter().filter(|event| !others.contains(&queue(event)));
        ready.next()?;
        // Some ready queue: which one depends on when each became ready, and the queue itself is asked for that.
        let event = self.pdq.clone().dispatch(ThreadId::from(thread)).expect("a queue is ready");
        assert!(!others.contains(&queue(&event)), "{event:?} is of a queue that is bound");
        assert_eq!(queue(&event).and_then(first_of), Some(event), "the first of its queue");
        self.bound[thread] = queue(&event);
        self.counts.bindings += 1;
        Some(event)
    }

    fn finish(&mut self, thread: usize) {
        if self.running[thread].take().is_some() {
            self.pdq.finish(ThreadId::from(thread));
        }
    }

    fn release(&mut self, thread: usize) {
        if self.running[thread].is_none() {
            self.pdq.release(ThreadId::from(thread));
            if self.design != Design::StaticBinding {
                self.bound[thread] = None;
            }
        }
    }

    /// Ends all events, those that wait included.
    fn drain(&mut self) {
        for _ in 0..=self.waiting.len() {
            (0..self.running.len()).for_each(|thread| self.step(Step::Poll(thread)));
            (0..self.running.len()).for_each(|thread| self.step(Step::Finish(thread)));
        }
        assert_eq!(self.waiting, [], "each round ends an event at least");
        assert_eq!(self.counts.dispatched, self.arrived as u64);
    }
}

fn label() -> impl Strategy<Value = Label> {
    prop_oneof![
        10 => (0..8_u64).prop_map(Label::Partition),
        2 => any::<u64>().prop_map(Label::Partition),
        1 => Just(Label::Sequential),
        1 => Just(Label::Unrestricted),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => label().prop_map(Step::Arrive),
        4 => any::<usize>().prop_map(Step::Poll),
        3 => any::<usize>().prop_map(Step::Finish),
        1 => any::<usize>().prop_map(Step::Release),
    ]
}

fn design() -> impl Strategy<Value = Design> {
    prop_oneof![
        Just(Design::StaticBinding),
        (1..12_u32).prop_map(|queues| Design::DynamicBinding { queues }),
        (option::of(1..10_u32), option::of(0..70_u32))
            .prop_map(|(window, id_bits)| Design::DynamicDemultiplexing { window, id_bits }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_follows_from_the_rules(threads in 1..6_u32, design in design(), steps in vec(step(), 0..150)) {
        let mut ledger = Ledger::new(threads, design);
        steps.into_iter().for_each(|step| ledger.step(step));
        ledger.drain();
    }

    /// With every id compared whole and no window, a poll finds nothing only if nothing may run.
    #[test]
    fn an_unlimited_search_is_work_conserving(threads in 1..6_u32, steps in vec(step(), 0..150)) {
        let mut ledger = Ledger::new(threads, Design::DynamicDemultiplexing { window: None, id_bits: None });
        for step in steps {
            let blocked = ledger.counts.blocked;
            ledger.step(step);
            if ledger.counts.blocked > blocked {
                let runs = |label| ledger.running.iter().flatten().any(|&(running, _)| running == label);
                let open = ledger.open();
                assert!(open.iter().all(|&(label, _)| label != Label::Unrestricted && runs(label)));
            }
        }
    }
}
