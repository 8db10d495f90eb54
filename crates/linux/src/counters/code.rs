//! The performance events that count L2 and L3 misses on each processor.
//!
//! The kernel has names for cycles and instructions on every processor. Its names for cache misses
//! beyond the first level mean different things on different makes, so there we use the processor's
//! own events.
//!
//! | processor | L2 misses | L3 misses |
//! |---|---|---|
//! | Intel Core, from Haswell to Granite Rapids | `L2_RQSTS.MISS`, event 24H, umask 3FH | `cache-misses`, which is the architectural event `LONGEST_LAT_CACHE.MISS`, 2EH and 41H |
//! | AMD Zen, family 17h | `l2_cache_req_stat.ic_dc_miss_in_l2`, PMCx064, umask 09h | only outside the cores |
//! | AMD Zen, from family 19h | the same | `ls_any_fills_from_sys.dram_io_all`, PMCx044, umask 48h |
//! | ARM with PMUv3 | `l2d_cache_refill`, 17H, where the kernel shows it | `LLC-load-misses` |
//! | others | unknown | `LLC-load-misses` |
//!
//! From: Intel, *Software Developer's Manual*, volume 3B, "Pre-defined Architectural Performance Events",
//! and the event lists at perfmon-events.intel.com; AMD, *Processor Programming Reference* for families
//! 17h and 19h, "Core Performance Monitor Counters"; Arm, *Architecture Reference Manual* for A-profile,
//! "Common event numbers". Processors with two kinds of cores are not in the table, because one code
//! would mean different events on them.

use super::{CounterError, Event};
use crate::Probe;
use crate::tree::{Tree, field_of};
use perf_event::events::{Hardware, Software};
use std::fmt;

/// A performance event, as requested from the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// Its name in manuals and in `perf`.
    pub name: &'static str,
    /// What it counts.
    pub counts: &'static str,
    pub(super) selector: EventSelector,
}

/// How the kernel is told which event to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EventSelector {
    /// A generic hardware event, which the kernel translates for this processor.
    Hardware(Hardware),
    /// An event that the kernel counts in software.
    Software(Software),
    /// Loads that miss the last-level cache, translated by the kernel.
    LastLevel,
    /// The processor's own event code: `umask << 8 | event`.
    Raw(u64),
}

impl Code {
    /// Cycles in which a cpu is not halted.
    pub const CYCLES: Self = Self::new(
        "cycles",
        "cycles in which a cpu was not halted",
        EventSelector::Hardware(Hardware::CPU_CYCLES),
    );
    /// Instructions.
    pub const INSTRUCTIONS: Self =
        Self::new("instructions", "retired instructions", EventSelector::Hardware(Hardware::INSTRUCTIONS));
    /// Context switches on a cpu. Counted by the kernel, on every machine.
    pub const CONTEXT_SWITCHES: Self = Self::new(
        "context-switches",
        "threads that came to a cpu",
        EventSelector::Software(Software::CONTEXT_SWITCHES),
    );
    /// Nanoseconds. Counted by the kernel, on every machine.
    pub const CPU_CLOCK: Self =
        Self::new("cpu-clock", "nanoseconds", EventSelector::Software(Software::CPU_CLOCK));
    /// Threads that migrated to a cpu. Counted by the kernel, on every machine.
    pub const CPU_MIGRATIONS: Self = Self::new(
        "cpu-migrations",
        "threads that moved to a cpu",
        EventSelector::Software(Software::CPU_MIGRATIONS),
    );
    /// Page faults. Counted by the kernel, on every machine.
    pub const PAGE_FAULTS: Self =
        Self::new("page-faults", "page faults", EventSelector::Software(Software::PAGE_FAULTS));

    const INTEL_L2: Self =
        Self::new("L2_RQSTS.MISS", "requests of any kind that missed L2", EventSelector::Raw(0x3f24));
    const INTEL_LAST: Self = Self::new(
        "cache-misses",
        "requests of cores that missed the last level (LONGEST_LAT_CACHE.MISS)",
        EventSelector::Hardware(Hardware::CACHE_MISSES),
    );
    const AMD_L2: Self = Self::new(
        "l2_cache_req_stat.ic_dc_miss_in_l2",
        "instruction and data requests that missed L2, prefetches by L2 not among them",
        EventSelector::Raw(0x0964),
    );
    const AMD_MEMORY: Self = Self::new(
        "ls_any_fills_from_sys.dram_io_all",
        "data-cache fills from memory or a device, which no cache had",
        EventSelector::Raw(0x4844),
    );
    const ARM_L2: Self = Self::new("l2d_cache_refill", "refills of L2", EventSelector::Raw(0x17));
    const LAST_LEVEL: Self =
        Self::new("LLC-load-misses", "loads that missed the last level", EventSelector::LastLevel);

    const fn new(name: &'static str, counts: &'static str, selector: EventSelector) -> Self {
        Self { name, counts, selector }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.name, self.counts)
    }
}

/// Models of family 6 with one kind of cores, from Haswell to Granite Rapids (Intel, *Software Developer's
/// Manual*, volume 4, table 2-1).
const INTEL_CORES: [u32; 27] = [
    0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56, 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x66, 0x6a,
    0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7, 0x8f, 0xcf, 0xad, 0xae,
];

/// The make of a processor, which determines its performance events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Processor {
    make: Make,
    /// Vendor, family and model, for messages.
    name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Make {
    IntelCore,
    Intel,
    Zen,
    /// Zen from family 19h, which counts fills by where they came from.
    LaterZen,
    /// ARM that has an event for L2 refills.
    Arm,
    Other,
}

impl Probe {
    /// Identifies the processor from `/proc/cpuinfo`.
    #[must_use]
    pub fn processor(&self) -> Processor {
        let tree = self.tree();
        let text = tree.text("proc/cpuinfo").unwrap_or_default();
        let number = |key| field_of(&text, key).and_then(|number| number.parse::<u32>().ok());
        let vendor = field_of(&text, "vendor_id").unwrap_or_else(|| "an unnamed vendor".to_owned());
        let (family, model) = (number("cpu family"), number("model"));
        let make = match (vendor.as_str(), family) {
            ("GenuineIntel", Some(6)) if model.is_some_and(|model| INTEL_CORES.contains(&model)) => {
                Make::IntelCore
            }
            ("GenuineIntel", _) => Make::Intel,
            ("AuthenticAMD", Some(0x17)) => Make::Zen,
            ("AuthenticAMD", Some(0x19..)) => Make::LaterZen,
            _ if has_arm_events(tree) => Make::Arm,
            _ => Make::Other,
        };
        let shown =
            |number: Option<u32>| number.map_or_else(|| "?".to_owned(), |number| format!("{number:#x}"));
        Processor { make, name: format!("{vendor}, family {}, model {}", shown(family), shown(model)) }
    }
}

/// Whether there is one kind of core and it counts L2 refills.
fn has_arm_events(tree: &Tree) -> bool {
    const DEVICES: &str = "sys/bus/event_source/devices";
    let kinds = tree.entries(DEVICES, &|name| name.starts_with("armv8_").then(|| name.to_owned()));
    kinds.len() == 1 && kinds.iter().all(|kind| tree.has(format!("{DEVICES}/{kind}/events/l2d_cache_refill")))
}

impl Processor {
    /// Returns the code of an event on this processor.
    ///
    /// # Errors
    /// If no code is known.
    pub fn code(&self, event: Event) -> Result<Code, CounterError> {
        match (event, self.make) {
            (Event::Cycles, _) => Ok(Code::CYCLES),
            (Event::Instructions, _) => Ok(Code::INSTRUCTIONS),
            (Event::L2Misses, Make::IntelCore) => Ok(Code::INTEL_L2),
            (Event::L2Misses, Make::Zen | Make::LaterZen) => Ok(Code::AMD_L2),
            (Event::L2Misses, Make::Arm) => Ok(Code::ARM_L2),
            (Event::L3Misses, Make::IntelCore | Make::Intel) => Ok(Code::INTEL_LAST),
            (Event::L3Misses, Make::LaterZen) => Ok(Code::AMD_MEMORY),
            (Event::L3Misses, Make::Arm | Make::Other) => Ok(Code::LAST_LEVEL),
            (Event::L2Misses, Make::Intel | Make::Other) | (Event::L3Misses, Make::Zen) => {
                Err(CounterError::Unknown { processor: self.name.clone() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    fn codes(tree: fake::Tree) -> [Option<&'static str>; 4] {
        let processor = Probe::fake(tree).processor();
        Event::ALL.map(|event| processor.code(event).ok().map(|code| code.name))
    }

    fn x86(vendor: &str, family: u32, model: u32) -> fake::Tree {
        let mut tree = fake::Tree::default();
        let text = format!("vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n");
        tree.put("proc/cpuinfo", text);
        tree
    }

    #[test]
    fn each_make_has_its_own_cache_miss_events() {
        let zen = "l2_cache_req_stat.ic_dc_miss_in_l2";
        for (tree, beyond) in [
            (x86("GenuineIntel", 6, 0x55), [Some("L2_RQSTS.MISS"), Some("cache-misses")]),
            (x86("GenuineIntel", 6, 0x97), [None, Some("cache-misses")]),
            (x86("AuthenticAMD", 0x17, 0x31), [Some(zen), None]),
            (x86("AuthenticAMD", 0x19, 0x11), [Some(zen), Some("ls_any_fills_from_sys.dram_io_all")]),
            (x86("AuthenticAMD", 0x1a, 2), [Some(zen), Some("ls_any_fills_from_sys.dram_io_all")]),
            (fake::Tree::default(), [None, Some("LLC-load-misses")]),
        ] {
            let [l2, l3] = beyond;
            assert_eq!(codes(tree), [Some("cycles"), Some("instructions"), l2, l3]);
        }
        let unknown = Probe::fake(x86("GenuineIntel", 6, 0x97)).processor().code(Event::L2Misses);
        let message = unknown.expect_err("two kinds of cores").to_string();
        assert_eq!(message, "no event for this is known on GenuineIntel, family 0x6, model 0x97");
    }

    #[test]
    fn arm_uses_the_events_that_its_kernel_lists() {
        let mut tree = fake::Tree::default();
        tree.put("sys/bus/event_source/devices/armv8_pmuv3_0/events/l2d_cache_refill", "event=0x0017");
        assert_eq!(codes(tree.clone())[2..], [Some("l2d_cache_refill"), Some("LLC-load-misses")]);
        tree.put("sys/bus/event_source/devices/armv8_cortex_a53/events/l2d_cache_refill", "event=0x0017");
        assert_eq!(codes(tree)[2], None, "two kinds of cores");
    }
}
