//! The kernel's performance counters: `perf_event_open`, through the crate `perf-event`.

use super::code::{Code, EventSelector, Processor};
use super::{Counter, Reading, Source};
use crate::Probe;
use perf_event::Builder;
use perf_event::events::{Cache, CacheOp, CacheResult, WhichCache};
use std::io;
use warmcore_units::{CpuId, Nanos};

/// The event type for the processor's own codes: `PERF_TYPE_RAW` in the kernel's
/// `include/uapi/linux/perf_event.h`. The crate has no name for it.
const RAW: u32 = 4;

/// Load misses in the last-level cache. The kernel's tables have this event for most processors.
const LAST_LEVEL: Cache =
    Cache { which: WhichCache::LL, operation: CacheOp::READ, result: CacheResult::MISS };

/// The counters of this machine.
#[derive(Clone, Debug)]
pub struct Kernel {
    processor: Processor,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { processor: Probe::new().processor() }
    }
}

impl Source for Kernel {
    fn processor(&self) -> &Processor {
        &self.processor
    }

    fn open(&self, code: Code, cpu: CpuId) -> io::Result<Box<dyn Counter>> {
        let mut builder = Builder::new().any_pid().one_cpu(cpu.0 as usize);
        builder.include_kernel().include_hv();
        let builder = match code.selector {
            EventSelector::Hardware(event) => builder.kind(event),
            EventSelector::Software(event) => builder.kind(event),
            EventSelector::LastLevel => builder.kind(LAST_LEVEL),
            EventSelector::Raw(config) => {
                let attributes = builder.attrs_mut();
                (attributes.type_, attributes.config) = (RAW, config);
                builder
            }
        };
        let mut counter = builder.build()?;
        counter.enable()?;
        Ok(Box::new(counter))
    }
}

impl Counter for perf_event::Counter {
    fn read(&mut self) -> io::Result<Reading> {
        let read = self.read_count_and_time()?;
        let [enabled, running] = [read.time_enabled, read.time_running].map(|time| Nanos(time as f64));
        Ok(Reading { count: read.count, enabled, running })
    }
}
