//! One log of events through the dispatcher that the simulator drives, with a stack for each key, and
//! through this crate: both obey the same partial order.

use crate::{RULES, builder};
use core::cmp::Reverse;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BinaryHeap;
use std::sync::Mutex;
use warmcore_dispatch::Turn;
use warmcore_policy::dispatch::{Change, Job, Layout, Next, StackLines};
use warmcore_policy::policies::{LeastRecentlyUsed, MostRecentlyUsed};
use warmcore_policy::{Dispatcher, Policy};
use warmcore_units::{CpuId, Nanos, StreamId};

const KEYS: u32 = 7;
const PROCESSORS: u32 = 3;

/// The `number`-th event of the log.
#[derive(Clone, Copy, Debug)]
struct Event {
    number: usize,
    key: u32,
    arrived: Nanos,
    takes: f64,
}

impl Job for Event {
    fn arrived(&self) -> Nanos {
        self.arrived
    }

    fn stream(&self) -> StreamId {
        StreamId(self.key)
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
            Event { number, key: (random.next_u64() % u64::from(KEYS)) as u32, arrived: Nanos(now), takes }
        })
        .collect()
}

/// Every event began and ended once, and of two with the same key the first ended before the second
/// began.
fn check(log: &[Event], happened: &[Happened]) {
    let mut at = vec![[usize::MAX; 2]; log.len()];
    for (time, what) in happened.iter().enumerate() {
        let place = match *what {
            Happened::Began(number) => &mut at[number][0],
            Happened::Ended(number) => &mut at[number][1],
        };
        assert_eq!(*place, usize::MAX, "{what:?} twice");
        *place = time;
    }
    let mut last = [None::<usize>; KEYS as usize];
    for event in log {
        let [began, ended] = at[event.number];
        assert!(began < ended && ended < usize::MAX, "{event:?} was not handled");
        if let Some(before) = last[event.key as usize].replace(event.number) {
            assert!(at[before][1] < began, "{event:?} began before event {before} had ended");
        }
    }
}

/// The log by the dispatcher of the simulator, in virtual time.
fn simulated<P: Policy>(policy: P, log: &[Event], random: &mut Xoshiro256PlusPlus) -> Vec<Happened> {
    let layout =
        Layout { processors: PROCESSORS, streams: KEYS, stacks: KEYS, stack_each: false, hashed: false };
    let mut dispatcher = Dispatcher::<P, StackLines<Event>>::new(policy, &layout);
    let mut happened = Vec::new();
    // By when they end, in whole nanoseconds.
    let mut running = BinaryHeap::<Reverse<(u64, usize, u32)>>::new();
    let begin = |event: Event, cpu: CpuId, now: f64, happened: &mut Vec<Happened>| {
        happened.push(Happened::Began(event.number));
        Reverse(((now + event.takes) as u64, event.number, cpu.0))
    };
    let mut arrivals = log.iter().peekable();
    loop {
        let ends = running.peek().map(|Reverse((ends, ..))| *ends as f64);
        let comes = arrivals.peek().map(|event| event.arrived.0);
        if comes.is_some_and(|comes| ends.is_none_or(|ends| comes < ends)) {
            let event = *arrivals.next().expect("it was there");
            if let Some((cpu, first)) = dispatcher.arrive(event, None, random) {
                running.push(begin(first, cpu, event.arrived.0, &mut happened));
            }
        } else if let Some(Reverse((now, number, cpu))) = running.pop() {
            happened.push(Happened::Ended(number));
            match dispatcher.finish(CpuId(cpu), &log[number], Nanos(now as f64)) {
                Next::GoOn(next, change) => {
                    if let Some(change) = change {
                        dispatcher.see(CpuId(cpu), change);
                    }
                    running.push(begin(next, CpuId(cpu), now as f64, &mut happened));
                }
                Next::Stop => dispatcher.see(CpuId(cpu), Change::Idle),
            }
        } else {
            return happened;
        }
    }
}

#[test]
fn the_simulators_dispatcher_and_this_one_obey_the_same_partial_order() {
    let seed = 20_250_101;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let log = log(&mut random);
    check(&log, &simulated(MostRecentlyUsed, &log, &mut random));
    check(&log, &simulated(LeastRecentlyUsed, &log, &mut random));
    for rule in RULES {
        let happened = Mutex::new(Vec::new());
        let handle = |_: &Turn<'_, u32, usize>, number: usize| {
            happened.lock().unwrap().push(Happened::Began(number));
            (0..log[number].takes as u64 / 100).for_each(|_| core::hint::spin_loop());
            happened.lock().unwrap().push(Happened::Ended(number));
        };
        let workers = builder().workers(PROCESSORS as usize).rule(rule).capacity(64);
        workers
            .scope(handle, |dispatcher| {
                log.iter().for_each(|event| dispatcher.dispatch(event.key, event.number).unwrap());
            })
            .unwrap();
        check(&log, &happened.into_inner().unwrap());
    }
}
