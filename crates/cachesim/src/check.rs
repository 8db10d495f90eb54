//! Checks that every [`Description`] must pass before caches are built of it.

use crate::{CacheDescription, Description, Replacement, Writes};
use std::collections::BTreeMap;
use warmcore_units::{Bytes, CpuId, Cycles, Fault};

/// The most lines of all caches together: half a gigabyte of bookkeeping.
const MAX_LINES: u64 = 1 << 26;

/// The most levels.
const MAX_LEVELS: usize = 8;

/// The largest block of a write buffer: a page.
const MAX_BLOCK: Bytes = Bytes::kib(4);

/// The longest latency: sums of two billion fit 64 bits.
const MAX_LATENCY: Cycles = Cycles(1 << 32);

/// The shortest line: a word.
const MIN_LINE: u64 = 4;

/// The longest line: a huge page, where a cache stands for a translation buffer.
pub(crate) const MAX_LINE: Bytes = Bytes(1 << 30);

/// The most cpus, and so the bound of their numbers: each may have to know every other's caches.
const MAX_CPUS: u32 = 4096;

impl Description {
    /// Checks that such a hierarchy can be built.
    ///
    /// # Errors
    /// The first field that is impossible: a line or number of sets that is no power of two, a size that is not
    /// ways times lines, too many ways for the policy, a write buffer where no store passes through, cpus that
    /// part ways and meet again, too many cpus, a line shorter than nearer ones, latencies that fall with distance.
    pub fn check(&self) -> Result<(), Fault> {
        if self.caches.is_empty() {
            return Err(Fault::new("caches", "empty", "at least one cache"));
        }
        for (index, cache) in self.caches.iter().enumerate() {
            cache.check(&|name| format!("caches[{index}].{name}"))?;
        }
        let lines = self.caches.iter().fold(0_u64, |sum, cache| sum.saturating_add(cache.geometry.lines()));
        if lines > MAX_LINES {
            return Err(Fault::new(
                "caches",
                format!("{lines} lines"),
                format!("at most {MAX_LINES} together"),
            ));
        }
        if self.memory > MAX_LATENCY {
            return Err(Fault::new("memory", self.memory, format!("at most {MAX_LATENCY}")));
        }
        self.check_paths()
    }

    fn check_paths(&self) -> Result<(), Fault> {
        let mut next_of: BTreeMap<usize, (String, Option<usize>)> = BTreeMap::new();
        for cpu in self.cpus().iter() {
            for instructions in [true, false] {
                let path = self.path(cpu, instructions);
                let what = format!("{} of {cpu}", if instructions { "instructions" } else { "data" });
                if path.len() > MAX_LEVELS {
                    let expected = format!("at most {MAX_LEVELS} on the way of the {what}");
                    return Err(Fault::new("caches", format!("{} caches", path.len()), expected));
                }
                let beyond = path.iter().skip(1).map(|&index| Some(index)).chain([None]);
                for (&near, far) in path.iter().zip(beyond) {
                    match far {
                        Some(far) => self.check_pair(near, far, cpu)?,
                        None if self.memory < self.caches[near].latency => {
                            let expected =
                                format!("at least {}, as the last cache", self.caches[near].latency);
                            return Err(Fault::new("memory", self.memory, expected));
                        }
                        None => (),
                    }
                    let (other, described) = next_of.entry(near).or_insert_with(|| (what.clone(), far));
                    if *described != far {
                        let field = format!("caches[{near}]");
                        let expected = "one that has one next cache for all that it is asked";
                        return Err(Fault::new(field, format!("where {other} and {what} part"), expected));
                    }
                }
                let mut buffers = path.iter().filter(|&&index| self.caches[index].write_buffer.is_some());
                if let Some(&second) = buffers.nth(1) {
                    let field = format!("caches[{second}].write_buffer");
                    return Err(Fault::new(field, "a second one", format!("one on the way of {cpu}")));
                }
            }
        }
        Ok(())
    }

    fn check_pair(&self, near: usize, far: usize, cpu: CpuId) -> Result<(), Fault> {
        let [nearer, further] = [near, far].map(|index| &self.caches[index]);
        let field = |name: &str| format!("caches[{far}].{name}");
        if nearer.level == further.level {
            let expected = format!("another than that of caches[{near}], which {cpu} reads through too");
            return Err(Fault::new(field("level"), further.level, expected));
        }
        if further.geometry.line < nearer.geometry.line {
            let expected = format!("at least {}, as in caches[{near}]", nearer.geometry.line);
            return Err(Fault::new(field("geometry.line"), further.geometry.line, expected));
        }
        if further.latency < nearer.latency {
            let expected = format!("at least {}, as of caches[{near}]", nearer.latency);
            return Err(Fault::new(field("latency"), further.latency, expected));
        }
        Ok(())
    }

    /// The caches through which `cpu` reaches memory, nearest first, as indices.
    pub(crate) fn path(&self, cpu: CpuId, instructions: bool) -> Vec<usize> {
        let on_it = |cache: &CacheDescription| cache.serves(instructions) && cache.shared_by.contains(cpu);
        let mut path: Vec<usize> =
            (0..self.caches.len()).filter(|&index| on_it(&self.caches[index])).collect();
        path.sort_by_key(|&index| self.caches[index].level);
        path
    }
}

impl CacheDescription {
    fn check(&self, field: &dyn Fn(&str) -> String) -> Result<(), Fault> {
        if self.shared_by.is_empty() {
            return Err(Fault::new(field("shared_by"), "empty", "at least one cpu"));
        }
        if let Some(cpu) = self.shared_by.iter().find(|cpu| cpu.0 >= MAX_CPUS) {
            return Err(Fault::new(field("shared_by"), cpu, format!("cpus below {MAX_CPUS}")));
        }
        let Bytes(line) = self.geometry.line;
        if !line.is_power_of_two() || !(MIN_LINE..=MAX_LINE.0).contains(&line) {
            let expected = format!("a power of two, {MIN_LINE} B to {MAX_LINE}");
            return Err(Fault::new(field("geometry.line"), self.geometry.line, expected));
        }
        let ways = u64::from(self.geometry.ways);
        if ways == 0 {
            return Err(Fault::new(field("geometry.ways"), 0, "at least 1, which is direct-mapped"));
        }
        let set = line * ways;
        let Bytes(size) = self.geometry.size;
        if size == 0 || size % set != 0 || !(size / set).is_power_of_two() {
            let expected = format!("{ways} ways of {} times a power of two", self.geometry.line);
            return Err(Fault::new(field("geometry.size"), self.geometry.size, expected));
        }
        if self.replacement == Replacement::TreePlru && !(ways.is_power_of_two() && ways <= 64) {
            let expected = "a power of two, at most 64, with `tree-plru`";
            return Err(Fault::new(field("geometry.ways"), ways, expected));
        }
        self.check_buffer(field)
    }

    fn check_buffer(&self, field: &dyn Fn(&str) -> String) -> Result<(), Fault> {
        let Some(buffer) = self.write_buffer else { return Ok(()) };
        if self.writes != Writes::Through {
            return Err(Fault::new(field("writes"), "back", "`through` before a write buffer"));
        }
        if buffer.depth == 0 || buffer.depth > 1 << 16 {
            return Err(Fault::new(field("write_buffer.depth"), buffer.depth, "1 to 65536 blocks"));
        }
        if !buffer.block.0.is_power_of_two() || buffer.block > MAX_BLOCK {
            let expected = format!("a power of two, at most {MAX_BLOCK}");
            return Err(Fault::new(field("write_buffer.block"), buffer.block, expected));
        }
        if buffer.retire_at == 0 || buffer.retire_at > buffer.depth {
            let expected = format!("1 to {}, its depth", buffer.depth);
            return Err(Fault::new(field("write_buffer.retire_at"), buffer.retire_at, expected));
        }
        Ok(())
    }
}
