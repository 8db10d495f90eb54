//! The processor's counters of a machine we made up, which count the same between any two looks.

use super::Tree;
use crate::Probe;
use crate::counters::{self, Code, Counter, Processor, Reading};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;
use warmcore_units::{CpuId, Nanos};

/// A processor with some counters.
#[derive(Clone, PartialEq, Debug)]
pub struct FakeSource {
    processor: Processor,
    made: BTreeMap<&'static str, FakeCounter>,
}

/// One event, on every cpu.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FakeCounter {
    /// What is counted between two looks.
    pub step: u64,
    /// The part of the time in which it is counted, from 0 to 1.
    pub running: f64,
}

impl FakeCounter {
    /// Counted all the time.
    #[must_use]
    pub const fn always_running(step: u64) -> Self {
        Self { step, running: 1.0 }
    }
}

impl FakeSource {
    /// A processor of AMD's family 19h, for which no counter was made yet.
    #[must_use]
    pub fn zen() -> Self {
        let mut tree = Tree::default();
        tree.put("proc/cpuinfo", "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 17");
        Self { processor: Probe::fake(tree).processor(), made: BTreeMap::new() }
    }

    /// With a counter of the event of this [name](Code::name), instead of one that there was.
    #[must_use]
    pub fn with(mut self, code: &'static str, made: FakeCounter) -> Self {
        self.made.insert(code, made);
        self
    }
}

impl counters::Source for FakeSource {
    fn processor(&self) -> &Processor {
        &self.processor
    }

    /// What was not made is not there, as a kernel says it.
    fn open(&self, code: Code, _: CpuId) -> io::Result<Box<dyn Counter>> {
        let made = *self.made.get(code.name).ok_or(Errno::NOENT)?;
        Ok(Box::new(Stepping { made, read: Reading::default() }))
    }
}

/// A look takes a second here.
#[derive(Debug)]
struct Stepping {
    made: FakeCounter,
    read: Reading,
}

impl Counter for Stepping {
    fn read(&mut self) -> io::Result<Reading> {
        let Reading { count, enabled, running } = self.read;
        let second = Nanos::from_secs(1.0);
        self.read = Reading {
            count: count + self.made.step,
            enabled: enabled + second,
            running: running + second * self.made.running,
        };
        Ok(self.read)
    }
}
