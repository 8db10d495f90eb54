//! Fake performance counters that advance by a fixed step at each reading.

use super::Tree;
use crate::Probe;
use crate::counters::{self, Code, Counter, Processor, Reading};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;
use warmcore_units::{CpuId, Nanos};

/// A fake processor and its counters.
#[derive(Clone, PartialEq, Debug)]
pub struct FakeSource {
    processor: Processor,
    counters: BTreeMap<&'static str, FakeCounter>,
}

/// A counter of one event, the same on every cpu.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FakeCounter {
    /// How much it advances between two readings.
    pub step: u64,
    /// The share of the time in which it runs, from 0 to 1.
    pub running: f64,
}

impl FakeCounter {
    /// A counter that runs all the time.
    #[must_use]
    pub const fn always_running(step: u64) -> Self {
        Self { step, running: 1.0 }
    }
}

impl FakeSource {
    /// An AMD processor of family 19h, without counters so far.
    #[must_use]
    pub fn zen() -> Self {
        let mut tree = Tree::default();
        tree.put("proc/cpuinfo", "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 17");
        Self { processor: Probe::fake(tree).processor(), counters: BTreeMap::new() }
    }

    /// Adds a counter of the event with this [name](Code::name), or replaces it.
    #[must_use]
    pub fn with(mut self, code: &'static str, counter: FakeCounter) -> Self {
        self.counters.insert(code, counter);
        self
    }
}

impl counters::Source for FakeSource {
    fn processor(&self) -> &Processor {
        &self.processor
    }

    /// Fails with `ENOENT` for a counter that was not added, as a kernel does.
    fn open(&self, code: Code, _: CpuId) -> io::Result<Box<dyn Counter>> {
        let counter = *self.counters.get(code.name).ok_or(Errno::NOENT)?;
        Ok(Box::new(OpenCounter { counter, last: Reading::default() }))
    }
}

/// An open fake counter. One second passes between two readings.
#[derive(Debug)]
struct OpenCounter {
    counter: FakeCounter,
    last: Reading,
}

impl Counter for OpenCounter {
    fn read(&mut self) -> io::Result<Reading> {
        let Reading { count, enabled, running } = self.last;
        let second = Nanos::from_secs(1.0);
        self.last = Reading {
            count: count + self.counter.step,
            enabled: enabled + second,
            running: running + second * self.counter.running,
        };
        Ok(self.last)
    }
}
