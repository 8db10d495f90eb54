//! Reads the caches. Every cpu describes its own caches; shared ones are merged into one.

use super::claims::{Claim, Groups};
use super::{Malformed, Shortfall, Warnings};
use crate::tree::Tree;
use std::collections::BTreeMap;
use warmcore_topology::{Cache, CacheKind, Cpu, CpuSet, Geometry};
use warmcore_units::Bytes;

/// Reads every cache of `cpus` (given in order of number), in order of level, kind and first cpu.
pub(super) fn read(tree: &Tree, cpus: &[Cpu], warnings: &mut Warnings) -> Result<Vec<Cache>, Malformed> {
    let online: CpuSet = cpus.iter().map(|cpu| cpu.id).collect();
    let mut found: BTreeMap<(u32, CacheKind), Groups<Geometry>> = BTreeMap::new();
    for cpu in cpus {
        let indices = tree.numbered(directory(cpu), "index");
        if indices.is_empty() {
            warnings.add_at(Shortfall::Caches, cpu.id);
        }
        for index in indices {
            let entry = CacheDirectory { tree, cpu, directory: format!("{}/index{index}", directory(cpu)) };
            let Some(cache) = entry.cache(warnings)? else { continue };
            let sharing = cache.shared_by.intersection(&online);
            let groups = found.entry((cache.level, cache.kind)).or_insert_with(Groups::new);
            if groups.claim(cpu.id, &sharing, cache.geometry) == Claim::Disagrees {
                warnings.add_at(Shortfall::CacheSharingDisagrees, cpu.id);
            }
        }
    }
    let caches = found.into_iter().flat_map(|((level, kind), groups)| {
        let cache = move |(shared_by, geometry)| Cache { level, kind, geometry, shared_by };
        groups.into_groups().into_iter().map(cache)
    });
    let mut caches: Vec<Cache> = caches.collect();
    caches.sort_by_key(Cache::sort_key);
    Ok(caches)
}

fn directory(cpu: &Cpu) -> String {
    format!("sys/devices/system/cpu/cpu{}/cache", cpu.id.0)
}

/// One `indexK` directory of one cpu.
struct CacheDirectory<'a> {
    tree: &'a Tree,
    cpu: &'a Cpu,
    directory: String,
}

impl CacheDirectory<'_> {
    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    /// Reads the cache as this cpu describes it; `None`, with a warning, if the description is
    /// incomplete.
    fn cache(&self, warnings: &mut Warnings) -> Result<Option<Cache>, Malformed> {
        let level = self.tree.value::<u32>(self.file("level"), "a level from 1")?.filter(|&level| level > 0);
        let (Some(level), Some(kind), Some(size), Some(line)) =
            (level, self.kind()?, self.size()?, self.line()?)
        else {
            warnings.add_at(Shortfall::CacheGeometry, self.cpu.id);
            return Ok(None);
        };
        if size < line {
            warnings.add_at(Shortfall::CacheGeometry, self.cpu.id);
            return Ok(None);
        }
        let ways = self.ways(size, line, warnings)?;
        let shared_by = self.tree.cpus(self.file("shared_cpu_list"))?.unwrap_or_else(|| {
            warnings.add_at(Shortfall::CacheSharing, self.cpu.id);
            self.cpu.smt_siblings.clone()
        });
        Ok(Some(Cache { level, kind, geometry: Geometry { size, line, ways }, shared_by }))
    }

    fn kind(&self) -> Result<Option<CacheKind>, Malformed> {
        let file = self.file("type");
        match self.tree.text(&file).as_deref() {
            None => Ok(None),
            Some("Data") => Ok(Some(CacheKind::Data)),
            Some("Instruction") => Ok(Some(CacheKind::Instruction)),
            Some("Unified") => Ok(Some(CacheKind::Unified)),
            Some(other) => Err(self.tree.malformed(file, other, "`Data`, `Instruction` or `Unified`")),
        }
    }

    /// Reads the size, which the kernel writes in binary kilobytes: `32K`.
    fn size(&self) -> Result<Option<Bytes>, Malformed> {
        let file = self.file("size");
        let Some(text) = self.tree.text(&file) else { return Ok(None) };
        let (digits, shift) = match text.as_bytes().last() {
            Some(b'K') => (&text[..text.len() - 1], 10),
            Some(b'M') => (&text[..text.len() - 1], 20),
            _ => (text.as_str(), 0),
        };
        let size = digits.parse::<u32>().map(|number| Bytes(u64::from(number) << shift));
        let size = size.map_err(|_| self.tree.malformed(file, &text, "a size such as `32K`"))?;
        Ok(Some(size).filter(|size| !size.is_empty()))
    }

    fn line(&self) -> Result<Option<Bytes>, Malformed> {
        let line = self.tree.value::<u32>(self.file("coherency_line_size"), "a number of bytes")?;
        Ok(line.filter(|&line| line > 0).map(|line| Bytes(u64::from(line))))
    }

    /// Reads the number of ways, or computes it from the number of sets. The kernel writes 0 for a fully
    /// associative cache and for an unknown number.
    fn ways(&self, size: Bytes, line: Bytes, warnings: &mut Warnings) -> Result<u32, Malformed> {
        let lines = size.0 / line.0;
        let plausible = |ways: &u64| (1..=lines).contains(ways);
        let ways = self.tree.value::<u64>(self.file("ways_of_associativity"), "a number of ways")?;
        let sets = self.tree.value::<u64>(self.file("number_of_sets"), "a number of sets")?;
        let by_sets = || lines.checked_div(sets?);
        let ways = ways.filter(plausible).or_else(|| by_sets().filter(plausible)).unwrap_or_else(|| {
            warnings.add_at(Shortfall::CacheWays, self.cpu.id);
            lines
        });
        Ok(u32::try_from(ways).unwrap_or(u32::MAX))
    }
}
