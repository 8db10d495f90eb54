//! Performance counters: cycles, instructions and cache misses on cpus, for everything that runs there.
//!
//! Each cpu is counted as a whole, the kernel included, like the busy time of [`Meter`](crate::Meter):
//! packets are processed in softirqs, which belong to no program. A halted cpu counts no cycles.
//!
//! ```text
//! Processor ──────► Code ──────► Source ───────► Counters ───► Readings ───► EventCounts
//! (/proc/cpuinfo)   (which       (the kernel,    (open on      (before and   (the difference, or why
//!                    event)       or a fake)      every cpu)    after a run)  an event has no count)
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`code`] | which event counts what on each processor, with the manual it is from |
//! | [`kernel`] | opens a counter with `perf_event_open` |
//! | [`error`] | why something was not counted |
//!
//! Many machines offer no counters: hypervisors hide them, and kernels require a privilege. The result then
//! holds the system's error instead of a count.
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

/// An event that processors count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// Cycles in which the cpu was not halted.
    Cycles,
    /// Instructions that were retired.
    Instructions,
    /// Requests that missed the second-level cache. The [`Code`] says which requests are counted.
    L2Misses,
    /// Requests that missed the third-level, or the last-level, cache. The [`Code`] says which requests are
    /// counted.
    L3Misses,
}

impl Event {
    /// All events.
    pub const ALL: [Self; 4] = [Self::Cycles, Self::Instructions, Self::L2Misses, Self::L3Misses];

    /// Its name.
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

/// Where counters come from: the [`Kernel`], or a [fake machine](crate::fake::counters).
pub trait Source: fmt::Debug {
    /// The processor whose events are counted.
    fn processor(&self) -> &Processor;

    /// Opens a counter of one event on a cpu and starts it.
    ///
    /// # Errors
    /// The error of the system.
    fn open(&self, code: Code, cpu: CpuId) -> io::Result<Box<dyn Counter>>;
}

/// A running counter of one event on one cpu. It stops when dropped.
pub trait Counter: fmt::Debug {
    /// Reads the counter.
    ///
    /// # Errors
    /// The error of the system.
    fn read(&mut self) -> io::Result<Reading>;
}

/// One reading of a counter.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reading {
    /// The number of events.
    pub count: u64,
    /// How long the counter has been enabled.
    pub enabled: Nanos,
    /// How long it really counted. A processor has few counters; more events than that share them in turn.
    pub running: Nanos,
}

/// Counters of every [`Event`] on a set of cpus.
#[derive(Debug)]
pub struct Counters {
    cpus: Vec<CpuId>,
    events: [Result<Open, CounterError>; Event::ALL.len()],
}

/// The counters of one event, on every cpu.
#[derive(Debug)]
struct Open {
    code: Code,
    on: Vec<(CpuId, Box<dyn Counter>)>,
}

impl Counters {
    /// Opens counters for every event that can be counted on all of `cpus`.
    #[must_use]
    pub fn open(source: &dyn Source, cpus: &[CpuId]) -> Self {
        Self { cpus: cpus.to_vec(), events: Event::ALL.map(|event| Open::new(source, event, cpus)) }
    }

    /// The cpus that are counted.
    #[must_use]
    pub fn cpus(&self) -> &[CpuId] {
        &self.cpus
    }

    /// The processor event by which `event` is counted.
    ///
    /// # Errors
    /// Why it is not counted.
    pub fn code(&self, event: Event) -> Result<Code, &CounterError> {
        self.events[event as usize].as_ref().map(|open| open.code)
    }

    /// Reads all counters.
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
            Err(answer) => Err(CounterError::refused(code.name, cpu, &answer)),
        };
        Ok(Self { code, on: cpus.iter().map(open).collect::<Result<_, _>>()? })
    }

    fn read(&mut self) -> Result<Vec<Reading>, CounterError> {
        let code = self.code;
        let read = |(cpu, counter): &mut (CpuId, Box<dyn Counter>)| {
            counter.read().map_err(|answer| CounterError::refused(code.name, *cpu, &answer))
        };
        self.on.iter_mut().map(read).collect()
    }
}

/// One reading of every counter, by event and cpu.
#[derive(Clone, PartialEq, Debug)]
pub struct Readings([Result<Vec<Reading>, CounterError>; Event::ALL.len()]);

impl Readings {
    /// Returns what was counted since `earlier`, a reading of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> EventCounts {
        EventCounts(Event::ALL.map(|event| {
            let [now, before] = [self, earlier].map(|readings| readings.0[event as usize].as_ref());
            EventCount::between(before.map_err(Clone::clone)?, now.map_err(Clone::clone)?)
        }))
    }
}

/// The event counts of a run, summed over all cpus.
#[derive(Clone, PartialEq, Debug)]
pub struct EventCounts([Result<EventCount, CounterError>; Event::ALL.len()]);

impl EventCounts {
    /// The count of one event.
    ///
    /// # Errors
    /// Why it was not counted.
    pub fn get(&self, event: Event) -> Result<EventCount, &CounterError> {
        self.0[event as usize].as_ref().copied()
    }
}

/// The count of one event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EventCount {
    /// The number of events, scaled to the whole time where the counter ran for only part of it.
    pub count: f64,
    /// The share of the time in which the counter ran, from 0 to 1: the smallest over all cpus.
    pub running: f64,
}

/// The least share of the time a counter must have run. Below it, scaling to the whole time would be a guess.
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
