//! What is dispatched by whom, under which settings, and how it ends.

mod shape;

use super::Event;
use crate::{Binding, Builder, Dispatcher, Idle, OnPanic, Overload};
use core::ops::RangeInclusive;
use core::time::Duration;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use shape::Shape;

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) workers: usize,
    pub(super) binding: Binding,
    pub(super) strands: usize,
    pub(super) capacity: usize,
    pub(super) overload: Overload,
    pub(super) on_panic: OnPanic,
    pub(super) idle: Idle,
    pub(super) key_limit: Option<u64>,
    pub(super) follow_ups: usize,
    /// Whether futures handle events.
    pub(super) asynchronous: bool,
    pub(super) keys: u64,
    /// All events there may be, by number.
    pub(super) events: Vec<Planned>,
    /// What each producer does.
    pub(super) scripts: Vec<Vec<Step>>,
    pub(super) producers: usize,
    /// Those who dispatch: producers, and events whose handler does.
    pub(super) sources: usize,
    pub(super) end: End,
}

/// An event.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) touches: Touches,
    /// Whether it is dispatched by a task.
    pub(super) awaits: bool,
    /// Who dispatches it.
    pub(super) source: usize,
    /// As which of those that this one dispatches, from 1.
    pub(super) number: u64,
    /// Whether its handler panics.
    pub(super) panics: bool,
    /// What its handler dispatches.
    pub(super) follows: Vec<usize>,
}

/// What an event touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Touches {
    Key(u64),
    Freshest(u64),
    /// Some of them may be named twice.
    Keys(Vec<u64>),
    Nothing,
    All,
}

/// What a producer does.
#[derive(Debug)]
pub(super) enum Step {
    One(usize),
    Batch { size: usize, ids: Vec<usize> },
    WaitIdle,
    Close,
    Drain(Duration),
}

/// What is done when all producers have ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Drop,
    Drain(Duration),
    Abort,
}

/// How much there is of everything.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub(super) workers: RangeInclusive<usize>,
    pub(super) producers: RangeInclusive<usize>,
    /// That each producer dispatches.
    pub(super) events: RangeInclusive<u64>,
    pub(super) keys: RangeInclusive<u64>,
    pub(super) capacity: RangeInclusive<usize>,
    pub(super) strands: RangeInclusive<usize>,
    /// The part of events whose handler panics, at most.
    pub(super) panics: f64,
    /// Whether producers close, or wait until all is quiet, in between.
    pub(super) interludes: bool,
}

/// Longer than anything takes.
const PATIENT: Duration = Duration::from_secs(3_600);

/// Whether whoever waits so long waits until all is done.
pub(super) fn is_patient(longest: Duration) -> bool {
    longest == PATIENT
}

impl Plan {
    /// The plan that `seed` stands for.
    pub(super) fn draw(seed: u64, size: &Size) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut plan = Self::settings(&mut random, size);
        let shape = Shape::draw(&mut random, size, &plan);
        for source in 0..plan.producers {
            let events = random.random_range(size.events.clone());
            let script = plan.script(&mut random, &shape, source, events);
            plan.scripts.push(script);
        }
        if size.interludes {
            plan.interlude(&mut random);
        }
        plan
    }

    fn settings(random: &mut impl Rng, size: &Size) -> Self {
        let producers = random.random_range(size.producers.clone());
        let overloads = [Overload::Block, Overload::Block, Overload::Reject, Overload::Shed];
        let ends = [End::Drop, End::Drain(drain(random)), End::Abort];
        Self {
            workers: random.random_range(size.workers.clone()),
            binding: one(random, &[Binding::Dynamic, Binding::Dynamic, Binding::Static]),
            strands: random.random_range(size.strands.clone()),
            capacity: random.random_range(size.capacity.clone()),
            overload: one(random, &overloads),
            on_panic: one(random, &[OnPanic::Skip, OnPanic::Poison, OnPanic::Stop]),
            idle: if random.random_bool(0.1) { Idle::Spin } else { Idle::Sleep },
            key_limit: random.random_bool(0.2).then(|| random.random_range(1..=4)),
            follow_ups: if random.random_bool(0.2) { random.random_range(0..=2) } else { usize::MAX },
            asynchronous: random.random_bool(0.3),
            keys: random.random_range(size.keys.clone()),
            events: Vec::new(),
            scripts: Vec::new(),
            producers,
            sources: producers,
            end: one(random, &ends),
        }
    }

    /// What `source` does, to dispatch so many events.
    fn script(&mut self, random: &mut impl Rng, shape: &Shape, source: usize, events: u64) -> Vec<Step> {
        let (mut script, mut number) = (Vec::new(), 0);
        while number < events {
            if random.random_bool(shape.batches) {
                let together = random.random_range(1..=(events - number).min(shape.longest_batch));
                let ids = (0..together).map(|_| {
                    number += 1;
                    let key = Touches::Key(random.random_range(0..self.keys));
                    self.event(random, shape, key, (source, number))
                });
                let ids = ids.collect();
                script.push(Step::Batch { size: random.random_range(1..=4), ids });
            } else {
                number += 1;
                let touches = shape.touches(random, self.keys);
                script.push(Step::One(self.event(random, shape, touches, (source, number))));
            }
        }
        script
    }

    /// Another event, and with it those that its handler dispatches.
    fn event(&mut self, random: &mut impl Rng, shape: &Shape, touches: Touches, by: (usize, u64)) -> usize {
        let id = self.add(random, shape, touches, by);
        if random.random_bool(shape.follows) {
            let me = self.sources;
            self.sources += 1;
            let follow = |number| {
                let touches = shape.touches(random, self.keys);
                self.add(random, shape, touches, (me, number))
            };
            self.events[id].follows = (1..=shape.following).map(follow).collect();
        }
        id
    }

    fn add(
        &mut self,
        random: &mut impl Rng,
        shape: &Shape,
        touches: Touches,
        (source, number): (usize, u64),
    ) -> usize {
        // A handler never waits.
        let awaits = source < self.producers && random.random_bool(shape.awaits);
        let panics = random.random_bool(shape.panics);
        self.events.push(Planned { touches, awaits, source, number, panics, follows: Vec::new() });
        self.events.len() - 1
    }

    /// Lets one of the producers wait until all is quiet, or end everything, somewhere in between.
    fn interlude(&mut self, random: &mut impl Rng) {
        if random.random_bool(0.5) {
            return;
        }
        let producer = random.random_range(0..self.scripts.len());
        let at = random.random_range(0..=self.scripts[producer].len());
        let step = match random.random_range(0..4) {
            0 | 1 => Step::WaitIdle,
            2 => Step::Close,
            _ => Step::Drain(drain(random)),
        };
        self.scripts[producer].insert(at, step);
    }

    /// What a dispatcher for it is built with.
    pub(super) fn builder(&self) -> Builder<u64, Event> {
        let builder = Dispatcher::builder()
            .workers(self.workers)
            .binding(self.binding)
            .strands(self.strands)
            .capacity(self.capacity)
            .overload(self.overload)
            .on_panic(self.on_panic)
            .idle(self.idle)
            .follow_ups(self.follow_ups);
        match self.key_limit {
            Some(events) => builder.key_limit(events),
            None => builder,
        }
    }
}

impl Planned {
    /// The keys that it touches, each once; none if it touches all.
    pub(super) fn keys(&self) -> Vec<u64> {
        let mut keys = match &self.touches {
            Touches::Key(key) | Touches::Freshest(key) => vec![*key],
            Touches::Keys(keys) => keys.clone(),
            Touches::Nothing | Touches::All => vec![],
        };
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// How long a drain is to take. Under shuttle, what takes some time takes another when it is repeated.
fn drain(random: &mut impl Rng) -> Duration {
    let some = if cfg!(shuttle) { 0 } else { random.random_range(0..300) };
    one(random, &[Duration::from_micros(some), PATIENT])
}

fn one<T: Copy>(random: &mut impl Rng, of: &[T]) -> T {
    *of.choose(random).expect("there are some")
}
