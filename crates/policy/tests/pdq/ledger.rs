//! A queue under drawn events beside a plain ledger of what waits and runs, from which each answer follows; and what
//! happened before the judge of all parallel dispatch queues.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeSet;
use warmcore_policy::pdq::judge::{Broken, Event as Arrival, Judge};
use warmcore_policy::pdq::rules::{compared_bits, queue_of};
use warmcore_policy::pdq::{Counts, Design, Label, Pdq};
use warmcore_units::ThreadId;

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive(Label),
    Poll(usize),
    /// Ends the event that the thread runs.
    Finish(usize),
}

/// An event: its label and its place in the order of arrival.
type Event = (Label, usize);

/// What happened to an event.
#[derive(Clone, Copy, Debug)]
enum Happened {
    Arrived(Label),
    /// It, and on which thread.
    Began(usize, usize),
    Ended(usize),
}

/// Holds what happened to the rules. Partitions that the design does not tell apart are one: it is to order their events too.
fn judge(design: Design, threads: usize, happened: &[Happened]) -> Result<(), Broken> {
    let is_bound = design == Design::StaticBinding;
    let mut judge = Judge::new(|queue| is_bound.then_some(queue as usize));
    let told_apart = |label| match (label, design) {
        (Label::Partition(id), Design::StaticBinding) => Label::Partition(queue_of(id, threads) as u64),
        (Label::Partition(id), Design::DynamicBinding { queues }) => {
            Label::Partition(queue_of(id, queues as usize) as u64)
        }
        (Label::Partition(id), Design::DynamicDemultiplexing { id_bits, .. }) => {
            Label::Partition(id & compared_bits(id_bits))
        }
        (label, _) => label,
    };
    for what in happened {
        match *what {
            Happened::Arrived(label) => drop(judge.arrive(Arrival::new(0, told_apart(label).touches()))),
            Happened::Began(event, thread) => judge.begin(event, Some(thread))?,
            Happened::Ended(event) => judge.end(event)?,
        }
    }
    Ok(())
}

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
    happened: Vec<Happened>,
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
            happened: Vec::new(),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Arrive(label) => {
                self.pdq.arrive(label, (label, self.arrived));
                self.waiting.push((label, self.arrived));
                self.happened.push(Happened::Arrived(label));
                self.arrived += 1;
            }
            Step::Poll(thread) => self.poll(thread % self.running.len()),
            Step::Finish(thread) => self.finish(thread % self.running.len()),
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
        match found {
            Some(event) => self.start(thread, event),
            None => self.counts.blocked += u64::from(!self.waiting.is_empty()),
        }
    }

    fn start(&mut self, thread: usize, event: Event) {
        let place = self.waiting.iter().position(|&other| other == event).expect("it waits, once");
        self.waiting.remove(place);
        self.running[thread] = Some(event);
        self.happened.push(Happened::Began(event.1, thread));
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
        if let Some((_, event)) = self.running[thread].take() {
            self.pdq.finish(ThreadId::from(thread));
            self.happened.push(Happened::Ended(event));
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
        assert_eq!(judge(self.design, self.running.len(), &self.happened), Ok(()));
    }

    /// Two of what arrived that must not change places: they touch the same, or one touches everything.
    fn ordered_pairs(&self) -> Vec<[usize; 2]> {
        let arrivals = self.happened.iter().filter_map(|what| match what {
            Happened::Arrived(label) => Some(*label),
            _ => None,
        });
        let labels: Vec<Label> = arrivals.collect();
        let is_ordered = |&[a, b]: &[usize; 2]| match (labels[a], labels[b]) {
            (Label::Sequential, _) | (_, Label::Sequential) => true,
            (Label::Partition(a), Label::Partition(b)) => a == b,
            _ => false,
        };
        let pairs = (0..labels.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
        pairs.filter(is_ordered).collect()
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

    #[test]
    fn the_judge_finds_two_events_that_change_places(
        threads in 1..6_u32,
        design in design(),
        steps in vec(step(), 0..60),
    ) {
        let mut ledger = Ledger::new(threads, design);
        steps.into_iter().for_each(|step| ledger.step(step));
        ledger.drain();
        for [a, b] in ledger.ordered_pairs() {
            let other = |event| if event == a { b } else if event == b { a } else { event };
            let exchanged: Vec<Happened> = ledger.happened.iter().map(|what| match *what {
                Happened::Began(event, thread) => Happened::Began(other(event), thread),
                Happened::Ended(event) => Happened::Ended(other(event)),
                arrived @ Happened::Arrived(_) => arrived,
            }).collect();
            assert!(judge(design, threads as usize, &exchanged).is_err(), "{a} and {b} of {exchanged:?}");
        }
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
