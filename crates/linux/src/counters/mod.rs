//! The processor's own counters: cycles, instructions and cache misses on cpus, whoever runs there.
//!
//! They are counted for each cpu as a whole and in the kernel too, as the time is in which cpus are busy
//! ([`Meter`](crate::Meter)): packets are worked off in softirqs, which belong to no program. A cpu that
//! halts counts no cycles.
//!
//! ```text
//! Processor ──────► Code ──────► Source ───────► Counters ───► Readings ───► EventCounts
//! (/proc/cpuinfo)   (which       (the kernel,    (open on      (before and   (the difference, or why
//!                    event)       or a fake)      every cpu)    after a run)  an event has no count)
//! ```
//!
//! | module | knows |
//! |---|---|
//! | [`code`] | which event of which processor counts what, and from which manual that is known |
//! | [`kernel`] | to open a counter, by `perf_event_open` |
//! | [`error`] | why something was not counted |
//!
//! Many machines have none: hypervisors keep them to themselves, and kernels ask for a privilege. What the
//! system answers is then in the place of a count.
//!
//! ```
//! use warmcore_linux::counters::{Counters, Event, Kernel};
//! use warmcore_units::CpuId;
//!
//! let mut counters = Counters::open(&Kernel::default(), &[CpuId(0)]);
//! let before = counters.read();
//! match counters.read().since(&before).get(Event::Cycles) {
//!     Ok(tally) => println!("{} cycles", tally.count),
//!     Err(why) => println!("no counters here: {why}"),
//! }
//! ```

pub mod code;
pub mod error;
pub mod kernel;

pub use code::{Code, Processor};
pub use error::CounterError;
pub use kernel::Kernel;

use std::fmt;
use std::io;
use warmcore_units::{CpuId, Nanos};

/// Something that processors count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// Cycles in which the cpu was not halted.
    Cycles,
    /// Instructions that were retired.
    Instructions,
    /// Requests that missed the second level of caches; which of them, the [`Code`] says.
    L2Misses,
    /// Requests that missed the third, or the last, level; which of them, the [`Code`] says.
    L3Misses,
}

impl Event {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cycles, Self::Instructions, Self::L2Misses, Self::L3Misses];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
            Self::L2Misses => "L2 misses",
            Self::L3Misses => "L3 misses",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where counters come from: the [`Kernel`], or a [made-up machine](crate::fake::counters).
pub trait Source: fmt::Debug {
    /// What is counted on.
    fn processor(&self) -> &Processor;

    /// Begins to count on a cpu.
    ///
    /// # Errors
    /// What the system answers.
    fn open(&self, code: Code, cpu: CpuId) -> io::Result<Box<dyn Counter>>;
}

/// What counts one event on one cpu, until it is dropped.
pub trait Counter: fmt::Debug {
    /// How far it is.
    ///
    /// # Errors
    /// What the system answers.
    fn read(&mut self) -> io::Result<Reading>;
}

/// How far a counter is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reading {
    /// What was counted.
    pub count: u64,
    /// For how long it was to be counted.
    pub enabled: Nanos,
    /// For how long it was. A processor has few counters, which more events than that take in turn.
    pub running: Nanos,
}

/// Counters of every [`Event`] on some cpus.
#[derive(Debug)]
pub struct Counters {
    cpus: Vec<CpuId>,
    events: [Result<Open, CounterError>; Event::ALL.len()],
}

/// One event, on every cpu.
#[derive(Debug)]
struct Open {
    code: Code,
    on: Vec<(CpuId, Box<dyn Counter>)>,
}

impl Counters {
    /// Begins to count every event that can be counted on every one of `cpus`.
    #[must_use]
    pub fn open(source: &dyn Source, cpus: &[CpuId]) -> Self {
        Self { cpus: cpus.to_vec(), events: Event::ALL.map(|event| Open::new(source, event, cpus)) }
    }

    /// Where it is counted.
    #[must_use]
    pub fn cpus(&self) -> &[CpuId] {
        &self.cpus
    }

    /// As what an event is counted.
    ///
    /// # Errors
    /// Why it is not.
    pub fn code(&self, event: Event) -> Result<Code, &CounterError> {
        self.events[event as usize].as_ref().map(|open| open.code)
    }

    /// How far all are.
    #[must_use]
    pub fn read(&mut self) -> Readings {
        let mut read = |event: Event| match &mut self.events[event as usize] {
            Ok(open) => open.read(),
            Err(why) => Err(why.clone()),
        };
        Readings(Event::ALL.map(&mut read))
    }
}

impl Open {
    fn new(source: &dyn Source, event: Event, cpus: &[CpuId]) -> Result<Self, CounterError> {
        let code = source.processor().code(event)?;
        let open = |&cpu: &CpuId| match source.open(code, cpu) {
            Ok(counter) => Ok((cpu, counter)),
            Err(answer) => Err(CounterError::refused(code, cpu, &answer)),
        };
        Ok(Self { code, on: cpus.iter().map(open).collect::<Result<_, _>>()? })
    }

    fn read(&mut self) -> Result<Vec<Reading>, CounterError> {
        let code = self.code;
        let read = |(cpu, counter): &mut (CpuId, Box<dyn Counter>)| {
            counter.read().map_err(|answer| CounterError::refused(code, *cpu, &answer))
        };
        self.on.iter_mut().map(read).collect()
    }
}

/// How far every counter is, event by event and cpu by cpu.
#[derive(Clone, PartialEq, Debug)]
pub struct Readings([Result<Vec<Reading>, CounterError>; Event::ALL.len()]);

impl Readings {
    /// What was counted between `earlier`, of the same counters, and this.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> EventCounts {
        EventCounts(Event::ALL.map(|event| {
            let [now, before] = [self, earlier].map(|readings| readings.0[event as usize].as_ref());
            EventCount::between(before.map_err(Clone::clone)?, now.map_err(Clone::clone)?)
        }))
    }
}

/// What was counted in a run, on all cpus together.
#[derive(Clone, PartialEq, Debug)]
pub struct EventCounts([Result<EventCount, CounterError>; Event::ALL.len()]);

impl EventCounts {
    /// What was counted of an event.
    ///
    /// # Errors
    /// Why nothing was.
    pub fn get(&self, event: Event) -> Result<EventCount, &CounterError> {
        self.0[event as usize].as_ref().copied()
    }
}

/// What was counted of one event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EventCount {
    /// How many; scaled to the whole time where the counter was running in a part of it.
    pub count: f64,
    /// The part of the time in which it was counted, on the cpu where that was least: 1 is all of it.
    pub running: f64,
}

/// With less of the time counted than this, a count scaled to all of it is rather a guess.
const LEAST_RUNNING: f64 = 0.5;

impl EventCount {
    fn between(before: &[Reading], now: &[Reading]) -> Result<Self, CounterError> {
        let mut tally = Self { count: 0.0, running: 1.0 };
        for (now, before) in now.iter().zip(before) {
            let (running, enabled) = (now.running - before.running, now.enabled - before.enabled);
            let share = if enabled.0 > 0.0 { running / enabled } else { 0.0 };
            if share < LEAST_RUNNING {
                return Err(CounterError::Shared { running: share, least: LEAST_RUNNING });
            }
            tally.count += now.count.saturating_sub(before.count) as f64 / share;
            tally.running = tally.running.min(share);
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests;
