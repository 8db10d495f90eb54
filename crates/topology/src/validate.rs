//! Checks that every [`Machine`] must pass, whether read or synthetic.

use crate::{Cache, CacheKind, Cpu, CpuSet, Machine};
use std::collections::BTreeMap;
use warmcore_units::{CpuId, Fault};

impl Machine {
    /// Checks that the machine is consistent, so that a model can divide by its sets and use its cpu numbers
    /// without further checks.
    ///
    /// # Errors
    /// The first field that contradicts another or is impossible: no cpus, cpus out of order,
    /// hardware threads that disagree on who their siblings are or which core they are, a cache
    /// without lines or with more ways than lines, a cpu behind two caches of one level and kind,
    /// a set that names a cpu the machine lacks, no usable cpu, or a quota that is not positive.
    pub fn validate(&self) -> Result<(), Fault> {
        if self.cpus.is_empty() {
            return Err(Fault::new("cpus", "empty", "at least one cpu"));
        }
        self.validate_cpus()?;
        self.validate_caches()?;
        self.validate_limits()
    }

    fn validate_cpus(&self) -> Result<(), Fault> {
        if let Some(at) = self.cpus.windows(2).position(|pair| pair[0].id >= pair[1].id) {
            let expected = format!("more than {}, its predecessor", self.cpus[at].id.0);
            return Err(Fault::new(format!("cpus[{}].id", at + 1), self.cpus[at + 1].id.0, expected));
        }
        let online = self.online();
        let by_id: BTreeMap<CpuId, &Cpu> = self.cpus.iter().map(|cpu| (cpu.id, cpu)).collect();
        let mut cores: BTreeMap<(u32, u32), &CpuSet> = BTreeMap::new();
        for (index, cpu) in self.cpus.iter().enumerate() {
            let field = format!("cpus[{index}].smt_siblings");
            subset(&field, &cpu.smt_siblings, &online)?;
            if !cpu.smt_siblings.contains(cpu.id) {
                return Err(Fault::new(field, &cpu.smt_siblings, format!("a set with {} in it", cpu.id.0)));
            }
            let place = |cpu: &Cpu| (cpu.package, cpu.core);
            let differs = |id: &CpuId| {
                by_id.get(id).is_none_or(|s| s.smt_siblings != cpu.smt_siblings || place(s) != place(cpu))
            };
            if let Some(other) = cpu.smt_siblings.iter().find(differs) {
                let expected = format!("what {other} says of core, package and siblings");
                return Err(Fault::new(field, &cpu.smt_siblings, expected));
            }
            if cores.insert(place(cpu), &cpu.smt_siblings).is_some_and(|seen| *seen != cpu.smt_siblings) {
                let expected = format!("a number no other core of package {} has", cpu.package);
                return Err(Fault::new(format!("cpus[{index}].core"), cpu.core, expected));
            }
        }
        Ok(())
    }

    fn validate_caches(&self) -> Result<(), Fault> {
        let online = self.online();
        let mut behind: BTreeMap<(u32, CacheKind), CpuSet> = BTreeMap::new();
        let mut nearest = 1;
        for (index, cache) in self.caches.iter().enumerate() {
            let field = |name: &str| format!("caches[{index}].{name}");
            validate_geometry(cache, field)?;
            if cache.level < nearest {
                return Err(Fault::new(field("level"), cache.level, format!("{nearest} or more")));
            }
            nearest = cache.level;
            subset(&field("shared_by"), &cache.shared_by, &online)?;
            if cache.shared_by.is_empty() {
                return Err(Fault::new(field("shared_by"), "empty", "at least one cpu"));
            }
            let taken = behind.entry((cache.level, cache.kind)).or_default();
            if cache.shared_by.iter().any(|cpu| taken.contains(cpu)) {
                let expected = format!("cpus without another {} cache of level {}", cache.kind, cache.level);
                return Err(Fault::new(field("shared_by"), &cache.shared_by, expected));
            }
            taken.extend(cache.shared_by.iter());
        }
        Ok(())
    }

    fn validate_limits(&self) -> Result<(), Fault> {
        subset("limits.allowed", &self.limits.allowed, &self.online())?;
        if self.limits.allowed.is_empty() {
            return Err(Fault::new("limits.allowed", "empty", "at least one cpu"));
        }
        match self.limits.cpu_quota {
            Some(quota) if !(quota > 0.0 && quota.is_finite()) => {
                Err(Fault::new("limits.cpu_quota", quota, "a positive number of cpus"))
            }
            _ => Ok(()),
        }
    }
}

fn validate_geometry(cache: &Cache, field: impl Fn(&str) -> String) -> Result<(), Fault> {
    let geometry = cache.geometry;
    if geometry.line.is_empty() {
        return Err(Fault::new(field("geometry.line"), geometry.line, "at least one byte"));
    }
    if geometry.lines() == 0 {
        return Err(Fault::new(field("geometry.size"), geometry.size, format!("at least {}", geometry.line)));
    }
    if geometry.ways == 0 || u64::from(geometry.ways) > geometry.lines() {
        let expected = format!("1 to {}, the number of lines", geometry.lines());
        return Err(Fault::new(field("geometry.ways"), geometry.ways, expected));
    }
    Ok(())
}

fn subset(field: &str, cpus: &CpuSet, online: &CpuSet) -> Result<(), Fault> {
    match cpus.iter().find(|cpu| !online.contains(*cpu)) {
        None => Ok(()),
        Some(absent) => {
            Err(Fault::new(field, cpus, format!("only cpus out of {online}, which do not include {absent}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;
    use warmcore_units::Bytes;

    /// The field found invalid after `spoil` has changed a valid machine.
    fn fault_after(spoil: impl FnOnce(&mut Machine)) -> String {
        let mut machine = synthetic::hybrid_laptop();
        assert_eq!(machine.validate(), Ok(()));
        spoil(&mut machine);
        machine.validate().expect_err("a spoilt machine is refused").field
    }

    #[test]
    fn impossible_machines_are_refused_with_the_field() {
        let only = |cpu| CpuSet::from_iter([CpuId(cpu)]);
        assert_eq!(fault_after(|m| m.cpus.clear()), "cpus");
        assert_eq!(fault_after(|m| m.cpus.swap(3, 4)), "cpus[4].id");
        assert_eq!(fault_after(|m| m.cpus[1].smt_siblings = only(0)), "cpus[0].smt_siblings");
        assert_eq!(fault_after(|m| m.cpus[1].core = 7), "cpus[0].smt_siblings");
        assert_eq!(fault_after(|m| m.cpus[9].core = m.cpus[8].core), "cpus[9].core");
        assert_eq!(fault_after(|m| m.caches[2].geometry.line = Bytes(0)), "caches[2].geometry.line");
        assert_eq!(fault_after(|m| m.caches[2].geometry.size = Bytes(63)), "caches[2].geometry.size");
        assert_eq!(fault_after(|m| m.caches[2].geometry.ways = 0), "caches[2].geometry.ways");
        assert_eq!(fault_after(|m| m.caches[0].level = 9), "caches[1].level");
        assert_eq!(fault_after(|m| m.caches[1].shared_by = only(0)), "caches[1].shared_by");
        assert_eq!(fault_after(|m| m.caches[1].shared_by = only(99)), "caches[1].shared_by");
        assert_eq!(fault_after(|m| m.limits.allowed = only(99)), "limits.allowed");
        assert_eq!(fault_after(|m| m.limits.allowed = CpuSet::default()), "limits.allowed");
        assert_eq!(fault_after(|m| m.limits.cpu_quota = Some(f64::NAN)), "limits.cpu_quota");
    }
}
