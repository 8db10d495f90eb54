//! What was found of each build: traces through simulated caches, and round trips on this machine.

use core::fmt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use warmcore_layout::lab::Protocols;

/// A build of §4.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Build {
    /// As CLO, but placed so that functions displace each other.
    Bad,
    /// None of the techniques.
    Std,
    /// Exceptional code is outlined.
    Out,
    /// As OUT, and functions are cloned into a bipartite layout.
    Clo,
    /// As OUT, and the path is inlined.
    Pin,
    /// As PIN, and functions are cloned into a bipartite layout.
    All,
}

impl Build {
    /// All, in the source's order.
    pub const ALL: [Self; 6] = [Self::Bad, Self::Std, Self::Out, Self::Clo, Self::Pin, Self::All];

    /// Whether a technique says where functions lie. Otherwise their order is the linker's.
    #[must_use]
    pub const fn is_placed(self) -> bool {
        matches!(self, Self::Bad | Self::Clo | Self::All)
    }
}

/// A stack's build in words, as [`Measurements::by_memory`] names it: `TCP/IP STD`.
#[must_use]
pub fn name(stack: Protocols, build: Build) -> String {
    format!("{stack} {build}")
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bad => "BAD",
            Self::Std => "STD",
            Self::Out => "OUT",
            Self::Clo => "CLO",
            Self::Pin => "PIN",
            Self::All => "ALL",
        })
    }
}

/// A cache's columns in Table 6.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CacheCounts {
    /// Accesses that missed. Of the data cache with its write buffer: reads that missed, and writes that were not merged.
    pub misses: u64,
    /// All accesses.
    pub accesses: u64,
    /// Misses of lines that had been there before.
    pub replacements: u64,
}

/// One request and response of the client, traced and run through the simulated hierarchy, from cold caches.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Instructions executed.
    pub instructions: u64,
    /// Cycles that they take with a perfect memory.
    pub issue_cycles: u64,
    /// Cycles that they wait for memory.
    pub stall_cycles: u64,
    /// The cache of instructions.
    pub instruction_cache: CacheCounts,
    /// The cache of data, and the write buffer.
    pub data_cache: CacheCounts,
    /// The board's cache.
    pub board_cache: CacheCounts,
    /// The part of the instructions in fetched cache blocks that are never executed, 0 to 1.
    pub unused: f64,
    /// Instructions on the path's main line: of each function that is executed, up to its last executed block.
    pub main_line: u64,
    /// Calls that are executed.
    pub calls: u64,
}

impl Run {
    /// Cycles that an instruction waits for memory, on average.
    #[must_use]
    pub fn memory_cpi(&self) -> f64 {
        self.stall_cycles as f64 / self.instructions as f64
    }

    /// Cycles that an instruction takes with a perfect memory, on average.
    #[must_use]
    pub fn instruction_cpi(&self) -> f64 {
        self.issue_cycles as f64 / self.instructions as f64
    }

    /// All cycles.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.issue_cycles + self.stall_cycles
    }
}

/// What was found of one stack in one build.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// The stack.
    pub stack: Protocols,
    /// The build.
    pub build: Build,
    /// Simulated runs. Where functions are placed by a technique there is one. Where their order is left to the linker
    /// (STD, OUT, PIN) there is one with its own order first, and one for each of some random orders of all functions of the
    /// program: what luck decides.
    pub runs: Vec<Run>,
    /// The same under other assumptions, where the text leaves a choice; empty if they change nothing.
    pub assumed: Vec<Assumed>,
    /// Round trips of both hosts on this machine, in nanoseconds, one for each block of the interleaved measurement;
    /// empty if they were not measured. Both hosts have the build.
    pub round_trips: Vec<f64>,
}

/// A build under assumptions of which the text says nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Assumed {
    /// How many functions of BAD are at one place of the board's cache.
    pub hottest: u32,
    /// How many cycles memory is away.
    pub memory_cycles: u64,
    /// The runs, in the orders of [`Point::runs`].
    pub runs: Vec<Run>,
}

impl Point {
    /// The runs under an assumption: 0 is the one that is taken, the others are those of [`assumed`](Self::assumed). A
    /// point that depends on none has the same runs under all.
    #[must_use]
    pub fn runs_under(&self, assumption: usize) -> &[Run] {
        let other = assumption.checked_sub(1).and_then(|at| self.assumed.get(at));
        other.map_or(&self.runs, |other| &other.runs)
    }

    /// How many assumptions it depends on; at least 1.
    #[must_use]
    pub const fn assumptions(&self) -> usize {
        1 + self.assumed.len()
    }
}

/// A change of §2.2, and what it saves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Saving {
    /// Which change, as Table 1 names it ([`TABLE_1`](super::tables::TABLE_1)).
    pub technique: String,
    /// Instructions that the path has more without this change alone; `None` if it is not there to be taken back.
    pub instructions: Option<i64>,
    /// What a reader must know of it; may be empty.
    pub note: String,
}

/// The TCP/IP stack before or after the changes of §2.2 (Table 2), in build STD.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Improvement {
    /// Without any of them.
    pub original: Run,
    /// With all of them.
    pub improved: Run,
}

/// Instructions from one point of the path to another, on the way up (Table 3), in build STD.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stages {
    /// From IP's `pop` to TCP's `pop`.
    pub ip_to_tcp: u64,
    /// From TCP's `pop` to the user's.
    pub tcp_to_user: u64,
}

/// The same path with a packet classifier in front (§4.2).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Classified {
    /// The stack.
    pub stack: Protocols,
    /// Instructions that the classifier adds.
    pub instructions: u64,
    /// Cycles that it adds, from cold caches.
    pub cycles: i64,
}

/// mCPI of every stack and build ([`name`]) with memory so many cycles away.
pub type AtDistance = (u64, BTreeMap<String, f64>);

/// Everything that was found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measurements {
    /// The machine of the round trips, in words.
    pub machine: String,
    /// How many cycles memory is away in the simulated hierarchy.
    pub memory_cycles: u64,
    /// Every stack in every build.
    pub points: Vec<Point>,
    /// Table 1.
    pub savings: Vec<Saving>,
    /// Table 2.
    pub improvement: Option<Improvement>,
    /// Table 3.
    pub stages: Option<Stages>,
    /// What the classifier costs in build ALL.
    pub classified: Vec<Classified>,
    /// mCPI of builds at other distances of memory: by cycles, then stack and build ([`name`]).
    pub by_memory: Vec<AtDistance>,
    /// What was not measured, and why.
    pub missing: Vec<String>,
}
