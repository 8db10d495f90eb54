//! The simulated caches of a run-queue machine: those of a machine that is known, or levels written out.

use super::within;
use serde::{Deserialize, Serialize};
use warmcore_cachesim::{CacheDescription, Description, Replacement, Writes, machines};
use warmcore_topology::{Cache, CacheKind, CpuSet, Geometry};
use warmcore_units::{Bytes, CpuId, Cycles, Fault};

/// The caches of every processor, through which [`References`](super::References) go.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineCaches {
    /// The machine whose caches these are, instead of `levels`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<KnownMachine>,
    /// The clock of the processors, in MHz. Of a known machine, its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mhz: Option<f64>,
    /// What a reference takes that no cache answers, in cycles. Of a known machine, its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_cycles: Option<u64>,
    /// The caches on a processor's way to memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<CacheLevel>,
}

/// A machine whose caches are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum KnownMachine {
    /// [`machines::sgi_4d_340`], at 33 MHz.
    #[serde(rename = "sgi-4d-340")]
    Sgi4d340,
    /// [`machines::dec_3000_600`], at 175 MHz. How far its memory is, its source does not say.
    #[serde(rename = "dec-3000-600")]
    Dec3000600,
    /// [`machines::three_levels`], which has no clock of its own.
    #[serde(rename = "three-levels")]
    ThreeLevels,
}

/// The caches of one level and kind, one for each processor unless they share it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheLevel {
    /// 1 is nearest to the processor.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size in KiB.
    pub kib: u64,
    /// Bytes of a line.
    pub line_bytes: u64,
    /// Lines of a set; 1 is direct-mapped.
    pub ways: u32,
    /// What a reference takes that it answers, in cycles.
    pub cycles: u64,
    /// Whether all processors share one.
    #[serde(default)]
    pub shared: bool,
    /// Which line of a set makes way.
    #[serde(default)]
    pub replacement: Replacement,
    /// What a store does.
    #[serde(default)]
    pub writes: Writes,
}

impl MachineCaches {
    /// The clock of the processors, in MHz; not above zero if it is not known.
    #[must_use]
    pub fn clock_mhz(&self) -> f64 {
        let own = match self.of {
            Some(KnownMachine::Sgi4d340) => 33.0,
            Some(KnownMachine::Dec3000600) => 175.0,
            Some(KnownMachine::ThreeLevels) | None => 0.0,
        };
        self.mhz.unwrap_or(own)
    }

    /// The caches of `cpus` processors. Those of one level and kind follow each other, by cpu.
    #[must_use]
    pub fn description(&self, cpus: u32) -> Description {
        let memory = Cycles(self.memory_cycles.unwrap_or(0));
        let known = match self.of {
            Some(KnownMachine::Sgi4d340) => machines::sgi_4d_340(),
            Some(KnownMachine::Dec3000600) => machines::dec_3000_600(memory),
            // Two processors, to tell what they share.
            Some(KnownMachine::ThreeLevels) => machines::three_levels(2),
            None => Description {
                name: String::new(),
                caches: self.levels.iter().map(CacheLevel::of_two).collect(),
                memory,
                straddling: warmcore_cachesim::Straddling::default(),
                seed: 0,
            },
        };
        let of_first = known.caches.iter().filter(|cache| cache.shared_by.contains(CpuId(0)));
        let caches = of_first.flat_map(|cache| each(cache, cpus)).collect();
        Description { caches, memory: self.memory_cycles.map_or(known.memory, Cycles), ..known }
    }

    pub(super) fn check(&self, cpus: u32) -> Result<(), Fault> {
        let field = |name: &str| format!("machine.caches.{name}");
        match self.of {
            Some(_) if !self.levels.is_empty() => {
                let expected = "levels, or the name of a known machine, not both";
                return Err(Fault::new(field("levels"), "given beside `of`", expected));
            }
            None if self.levels.is_empty() => {
                let expected = "a known machine (`of`): sgi-4d-340, dec-3000-600, three-levels; or levels";
                return Err(Fault::new("machine.caches", "without caches", expected));
            }
            _ => {}
        }
        if self.clock_mhz() == 0.0 {
            let expected = "the clock of the processors in MHz";
            return Err(Fault::new(field("mhz"), "absent", expected));
        }
        within(field("mhz"), self.clock_mhz(), 0.001..=1e6, "MHz")?;
        let knows_memory = matches!(self.of, Some(KnownMachine::Sgi4d340 | KnownMachine::ThreeLevels));
        if self.memory_cycles.is_none() && !knows_memory {
            let expected = "the cycles of a reference that memory answers";
            return Err(Fault::new(field("memory_cycles"), "absent", expected));
        }
        // Of one processor, the caches are numbered like the levels.
        let renamed = |fault: Fault| Fault { field: in_document(&fault.field), ..fault };
        self.description(1).check().map_err(renamed)?;
        self.description(cpus).check().map_err(|fault| Fault { field: "machine.caches".to_owned(), ..fault })
    }
}

/// The field of a scenario that a field of a [`Description`] comes from.
fn in_document(field: &str) -> String {
    let renamed = field.strip_prefix("caches[").and_then(|rest| {
        let (index, of_level) = rest.split_once(']')?;
        let name = match of_level.trim_start_matches('.') {
            "geometry.line" => "line_bytes",
            "geometry.ways" => "ways",
            "geometry.size" => "kib",
            "latency" => "cycles",
            other => other,
        };
        Some(format!("machine.caches.levels.{index}.{name}").trim_end_matches('.').to_owned())
    });
    let whole = if field == "memory" { "machine.caches.memory_cycles" } else { "machine.caches" };
    renamed.unwrap_or_else(|| whole.to_owned())
}

/// `cache` for each of `cpus`, or one for all if it is shared.
fn each(cache: &CacheDescription, cpus: u32) -> Vec<CacheDescription> {
    let of = |shared_by: CpuSet| CacheDescription { shared_by, ..cache.clone() };
    if cache.shared_by.len() > 1 {
        vec![of((0..cpus).map(CpuId).collect())]
    } else {
        (0..cpus).map(|cpu| of([CpuId(cpu)].into_iter().collect())).collect()
    }
}

impl CacheLevel {
    /// The cache of the first of two processors.
    fn of_two(&self) -> CacheDescription {
        let size = Bytes(self.kib.saturating_mul(1024));
        let cache = Cache {
            level: self.level,
            kind: self.kind,
            geometry: Geometry { size, line: Bytes(self.line_bytes), ways: self.ways },
            shared_by: (0..if self.shared { 2 } else { 1 }).map(CpuId).collect(),
        };
        let (replacement, writes) = (self.replacement, self.writes);
        CacheDescription { replacement, writes, ..CacheDescription::new(&cache, Cycles(self.cycles)) }
    }
}
