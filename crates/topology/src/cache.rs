//! One cache: its level, its geometry, and the cpus that share it.

use crate::CpuSet;
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_units::{Bytes, CpuId};

/// What a cache holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

impl fmt::Display for CacheKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Data => "data",
            Self::Instruction => "instruction",
            Self::Unified => "unified",
        })
    }
}

/// Size and organisation of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// Capacity.
    pub size: Bytes,
    /// Bytes in one line.
    pub line: Bytes,
    /// Lines in one set; 1 is direct-mapped.
    pub ways: u32,
}

impl Geometry {
    /// How many lines the cache holds.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.size.0 / self.line.0
    }

    /// How many sets the lines are organised in (`S` in the papers).
    #[must_use]
    pub const fn sets(&self) -> u64 {
        self.lines() / self.ways as u64
    }
}

/// One cache of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size and organisation.
    pub geometry: Geometry,
    /// The cpus that share it, restricted to those this process can see.
    pub shared_by: CpuSet,
}

impl Cache {
    /// The sort key of a [`Machine`](crate::Machine)'s caches: level, kind, first cpu.
    #[must_use]
    pub fn sort_key(&self) -> (u32, CacheKind, Option<CpuId>) {
        (self.level, self.kind, self.shared_by.first())
    }
}
