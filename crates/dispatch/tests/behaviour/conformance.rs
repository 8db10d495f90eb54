//! One log of events through the dispatcher that the simulator drives, with a stack for each key, and
//! through this crate: what happens is in a partial order that the log allows.
//!
//! The simulator's rules know events of one key. For an event of several or of all, their driver here waits until
//! everything has ended, and lets it run before the next arrives: the log allows that too.

use crate::{BINDINGS, builder};
use core::cmp::Reverse;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BinaryHeap;
use std::sync::Mutex;
use warmcore_dispatch::{Handle, Turn};
use warmcore_policy::dispatch::{Change, Job, Layout, Next, StackQueues};
use warmcore_policy::pdq::judge::Judge;
use warmcore_policy::pdq::{self, rules::Partitions};
use warmcore_policy::policies::{HomeStealing, LeastRecentlyUsed, MostRecentlyUsed, WiredStreams};
use warmcore_policy::{Dispatcher, Policy};
use warmcore_units::{CpuId, Nanos, StreamId};

const KEYS: u32 = 7;
const PROCESSORS: u32 = 3;

/// The `number`-th event of the log.
#[derive(Clone, Copy, Debug)]
struct Event {
    number: usize,
    touches: Touches,
    arrived: Nanos,
    takes: f64,
}

/// What an event touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Touches {
    Key(u32),
    Keys([u32; 2]),
    Nothing,
    All,
}

impl Event {
    /// Whether it has other neighbours than those of one key.
    fn is_joint(&self) -> bool {
        matches!(self.touches, Touches::Keys(_) | Touches::All)
    }

    /// For the judge.
    fn arrival(&self) -> pdq::judge::Event {
        pdq::judge::Event::new(
            0,
            match self.touches {
                Touches::Key(key) => Partitions::Of(vec![key.into()]),
                Touches::Keys(keys) => Partitions::Of(keys.map(u64::from).into()),
                Touches::Nothing => Partitions::Of(vec![]),
                Touches::All => Partitions::All,
            },
        )
    }
}

impl Job for Event {
    fn arrived(&self) -> Nanos {
        self.arrived
    }

    fn stream(&self) -> StreamId {
        match self.touches {
            Touches::Key(key) | Touches::Keys([key, _]) => StreamId(key),
            Touches::Nothing | Touches::All => StreamId(KEYS),
        }
    }
}

/// What happened, in order of time: an event began, or ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Happened {
    Began(usize),
    Ended(usize),
}

fn log(random: &mut Xoshiro256PlusPlus) -> Vec<Event> {
    let mut now = 0.0;
    (0..5_000)
        .map(|number| {
            now += (random.next_u64() % 1_000) as f64;
            let takes = (random.next_u64() % 2_500) as f64 + 1.0;
            let [key, other] = [(); 2].map(|()| (random.next_u64() % u64::from(KEYS)) as u32);
            let touches = match random.next_u64() % 100 {
                0..85 => Touches::Key(key),
                85..95 => Touches::Keys([key, other]),
                95..98 => Touches::Nothing,
                _ => Touches::All,
            };
            Event { number, touches, arrived: Nanos(now), takes }
        })
        .collect()
}

/// Whether every event began and ended once, and after all before it in the log that touch what it does: by the rules of
/// parallel dispatch queues, where all of the log has arrived.
///
/// # Errors
/// With what is wrong.
fn check(log: &[Event], happened: &[Happened]) -> Result<(), String> {
    let mut judge = Judge::new(|_| None);
    for event in log {
        judge.arrive(event.arrival());
    }
    for what in happened {
        let told = match *what {
            Happened::Began(number) => judge.begin(number, None),
            Happened::Ended(number) => judge.end(number),
        };
        told.map_err(|broken| broken.to_string())?;
    }
    if judge.left() == 0 { Ok(()) } else { Err(format!("{} events were not handled", judge.left())) }
}

/// The dispatcher of the simulator, stepped in virtual time.
struct Simulated<'a, P> {
    dispatcher: Dispatcher<P, StackQueues<Event>>,
    log: &'a [Event],
    /// By when they end, in whole nanoseconds: which event, and where.
    running: BinaryHeap<Reverse<(u64, usize, u32)>>,
    happened: Vec<Happened>,
}

impl<P: Policy> Simulated<'_, P> {
    fn begin(&mut self, event: Event, cpu: CpuId, now: f64) {
        self.happened.push(Happened::Began(event.number));
        self.running.push(Reverse(((now + event.takes) as u64, event.number, cpu.0)));
    }

    fn arrive(&mut self, event: Event, random: &mut Xoshiro256PlusPlus) {
        if let Some((cpu, first)) = self.dispatcher.arrive(event, None, random) {
            self.begin(first, cpu, event.arrived.0);
        }
    }

    /// The next one ends, if any runs; when.
    fn end_one(&mut self) -> Option<f64> {
        let Reverse((now, number, cpu)) = self.running.pop()?;
        let (now, cpu) = (now as f64, CpuId(cpu));
        self.happened.push(Happened::Ended(number));
        match self.dispatcher.finish(cpu, &self.log[number], Nanos(now)) {
            Next::Continue(next, change) => {
                if let Some(change) = change {
                    self.dispatcher.observe(cpu, change);
                }
                self.begin(next, cpu, now);
            }
            Next::Stop => self.dispatcher.observe(cpu, Change::Idle),
        }
        Some(now)
    }

    /// Ends all that would end before `time`.
    fn run_until(&mut self, time: f64) {
        while self.running.peek().is_some_and(|Reverse((ends, ..))| *ends as f64 <= time) {
            self.end_one();
        }
    }

    /// Ends everything; when that was, if anything ran.
    fn run_out(&mut self) -> Option<f64> {
        core::iter::from_fn(|| self.end_one()).last()
    }
}

fn simulated<P: Policy>(policy: P, log: &[Event], random: &mut Xoshiro256PlusPlus) -> Vec<Happened> {
    let (streams, processors) = (KEYS + 1, PROCESSORS);
    let layout = Layout { processors, streams, stacks: streams, stack_per_processor: false, hashed: false };
    let dispatcher = Dispatcher::new(policy, &layout);
    let mut simulated = Simulated { dispatcher, log, running: BinaryHeap::new(), happened: Vec::new() };
    let mut now = 0.0_f64;
    for &event in log {
        now = now.max(event.arrived.0);
        if event.is_joint() {
            now = simulated.run_out().unwrap_or(now).max(now);
        }
        simulated.run_until(now);
        simulated.arrive(Event { arrived: Nanos(now), ..event }, random);
        if event.is_joint() {
            now = simulated.run_out().unwrap_or(now);
        }
    }
    simulated.run_out();
    simulated.happened
}

fn dispatch(handle: &Handle<u32, usize>, event: &Event) {
    let dispatched = match event.touches {
        Touches::Key(key) => handle.dispatch(key, event.number),
        Touches::Keys(keys) => handle.dispatch_keys(keys, event.number),
        Touches::Nothing => handle.dispatch_unordered(event.number),
        Touches::All => handle.dispatch_sequential(event.number),
    };
    dispatched.unwrap();
}

#[test]
fn the_simulators_dispatcher_and_this_one_obey_the_order_of_the_log() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_250_101);
    let log = log(&mut random);
    assert_eq!(check(&log, &simulated(MostRecentlyUsed, &log, &mut random)), Ok(()));
    assert_eq!(check(&log, &simulated(LeastRecentlyUsed, &log, &mut random)), Ok(()));
    assert_eq!(check(&log, &simulated(WiredStreams, &log, &mut random)), Ok(()));
    assert_eq!(check(&log, &simulated(HomeStealing::new(PROCESSORS), &log, &mut random)), Ok(()));
    for rule in BINDINGS {
        let happened = Mutex::new(Vec::new());
        let handle = |_: &Turn<'_, u32, usize>, number: usize| {
            happened.lock().unwrap().push(Happened::Began(number));
            (0..log[number].takes as u64 / 100).for_each(|_| core::hint::spin_loop());
            happened.lock().unwrap().push(Happened::Ended(number));
        };
        let workers = builder().workers(PROCESSORS as usize).binding(rule).capacity(64);
        workers.scope(handle, |handle| log.iter().for_each(|event| dispatch(handle, event))).unwrap();
        assert_eq!(check(&log, &happened.into_inner().unwrap()), Ok(()), "{rule:?}");
    }
}

#[test]
fn what_the_log_does_not_allow_is_found() {
    use Happened::{Began, Ended};
    use Touches::{All, Key, Keys, Nothing};
    let touches = [Key(1), Key(2), Keys([1, 2]), All, Nothing];
    let event = |(number, touches)| Event { number, touches, arrived: Nanos(0.0), takes: 1.0 };
    let log: Vec<Event> = touches.into_iter().enumerate().map(event).collect();
    let in_order: Vec<Happened> = (0..log.len()).flat_map(|number| [Began(number), Ended(number)]).collect();
    let exchanged = |one: Happened, other: Happened| {
        let at = |what| in_order.iter().position(|&happened| happened == what).unwrap();
        let mut happened = in_order.clone();
        happened.swap(at(one), at(other));
        check(&log, &happened)
    };
    assert_eq!(check(&log, &in_order), Ok(()));
    assert_eq!(exchanged(Ended(0), Began(1)), Ok(()), "two keys at once");
    for event in &log[2..] {
        let before = exchanged(Ended(event.number - 1), Began(event.number));
        assert!(before.is_err(), "{event:?} begins too early");
    }
    assert!(check(&log, &in_order[1..]).is_err(), "one never began");
    assert!(check(&log, &[&in_order[..], &[Ended(4)]].concat()).is_err(), "one ended twice");
}
