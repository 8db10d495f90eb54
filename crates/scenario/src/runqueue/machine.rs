//! The machine of a run-queue scenario: its caches as the analytic model knows them, or simulated ones.

use super::{MachineCaches, within};
use crate::limits::MAX_PROCESSORS;
use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos};

/// Processors with private caches, and what the kernel costs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunQueueMachine {
    /// The number of processors.
    pub cpus: u32,
    /// What a cache miss costs, in nanoseconds.
    pub miss_ns: f64,
    /// How long a miss occupies the bus that all processors share, in nanoseconds. Misses of others then make a miss wait. Without
    /// it, every miss costs `miss_ns`.
    pub bus_ns: f64,
    /// How many misses displace all but 1/e of another process's cached state: the lines of the cache, if their
    /// addresses spread evenly.
    pub displacing_misses: f64,
    /// Searching the queue and switching to the process found, in microseconds.
    pub reschedule_us: f64,
    /// The processor that takes the interrupts by which processes wake up.
    pub interrupt_cpu: u32,
    /// What such an interrupt takes from the process that runs there, in microseconds.
    pub interrupt_us: f64,
    /// The misses of such an interrupt.
    pub interrupt_misses: f64,
    /// Its caches, if references go through simulated ones. What misses cost and displace comes from them then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caches: Option<MachineCaches>,
}

impl Default for RunQueueMachine {
    /// The SGI 4D/340 of Torrellas 1995, §2: four processors at 33 MHz, 35 cycles a miss, second-level caches of 256 KB with
    /// lines of 16 bytes. The text gives no cost of an interrupt.
    fn default() -> Self {
        Self {
            cpus: 4,
            miss_ns: 35.0 / 33.0 * 1e3,
            bus_ns: 0.0,
            displacing_misses: 16_384.0,
            reschedule_us: 50.0,
            interrupt_cpu: 0,
            interrupt_us: 100.0,
            interrupt_misses: 50.0,
            caches: None,
        }
    }
}

impl RunQueueMachine {
    /// What a cache miss costs.
    #[must_use]
    pub const fn miss(&self) -> Nanos {
        Nanos(self.miss_ns)
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        if !(1..=MAX_PROCESSORS).contains(&self.cpus) {
            let expected = format!("between 1 and {MAX_PROCESSORS}");
            return Err(Fault::new("machine.cpus", self.cpus, expected));
        }
        if self.interrupt_cpu >= self.cpus {
            let expected = format!("a cpu below {}", self.cpus);
            return Err(Fault::new("machine.interrupt_cpu", self.interrupt_cpu, expected));
        }
        within("machine.miss_ns", self.miss_ns, 0.0..=1e6, "nanoseconds")?;
        within("machine.bus_ns", self.bus_ns, 0.0..=1e6, "nanoseconds")?;
        within("machine.displacing_misses", self.displacing_misses, 1.0..=1e12, "misses")?;
        within("machine.reschedule_us", self.reschedule_us, 0.0..=1e6, "microseconds")?;
        within("machine.interrupt_us", self.interrupt_us, 0.0..=1e6, "microseconds")?;
        within("machine.interrupt_misses", self.interrupt_misses, 0.0..=1e9, "misses")?;
        self.caches.as_ref().map_or(Ok(()), |caches| self.check_caches(caches))
    }

    fn check_caches(&self, caches: &MachineCaches) -> Result<(), Fault> {
        let default = Self::default();
        let analytic = [
            ("miss_ns", self.miss_ns, default.miss_ns),
            ("displacing_misses", self.displacing_misses, default.displacing_misses),
        ];
        if let Some((name, value, _)) = analytic.into_iter().find(|(_, value, default)| value != default) {
            let expected = "nothing: it follows from `machine.caches`";
            return Err(Fault::new(format!("machine.{name}"), value, expected));
        }
        within("machine.interrupt_misses", self.interrupt_misses, 0.0..=1e6, "misses")?;
        caches.check(self.cpus)
    }
}
