//! A machine's profile: everything the execution-time model needs, measured or published, with
//! its provenance. It is stored as TOML, with all times in nanoseconds.

mod check;
mod provenance;

pub use provenance::{FrameLines, Kind, Packets, Provenance, Runs};

use crate::displacement::Intervening;
use crate::situation::{Approach, Experiment, Situation, ThreadStack};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use warmcore_topology::Geometry;
use warmcore_units::{Estimate, Nanos};

/// The costs of protocol processing on one machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the document, [`Profile::SCHEMA`].
    pub schema: u32,
    /// The machine's name in reports.
    pub name: String,
    /// Where the figures come from.
    pub provenance: Provenance,
    /// The cache levels of one processor, nearest first; the first with data and instructions
    /// counted as one unified cache (§4.2).
    pub levels: Vec<CacheLevel>,
    /// The work that displaces them.
    pub intervening: Intervening,
    /// Overheads of a free-memory pool whose lines were last written elsewhere (§4.3); `None` if only one
    /// processor could be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_memory: Option<FreeMemory>,
    /// Receive times.
    pub times: Times,
    /// t(x) as measured, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervened: Option<MeasuredCurve>,
}

/// One level of a processor's cache hierarchy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheLevel {
    /// `L1`, `L2`, …
    pub name: String,
    /// Size and organisation.
    pub geometry: Geometry,
    /// How many processors share it; 1 is private.
    pub shared_by: u32,
    /// How caches were made cold up to this level, and how that was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_reached: Option<String>,
}

/// One measured (or published) time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Mean over the runs.
    pub mean: Nanos,
    /// Half-width of its 95% confidence interval; `None` if the publication states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<Nanos>,
    /// How many runs the mean covers: undisturbed ones, unless [`Self::rests_on_disturbed`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runs: u32,
    /// How many runs were disturbed: the measuring thread was preempted or moved, or the processors were
    /// moved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disturbed: u32,
    /// Whether the mean includes disturbed runs, since too few were undisturbed.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub rests_on_disturbed: bool,
    /// Whether the time budget ended before the half-width reached its target.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub missed_target: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serializer passes a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Measured {
    /// A published time without an interval.
    #[must_use]
    pub const fn published(mean: Nanos) -> Self {
        Self {
            mean,
            half_width: None,
            runs: 0,
            disturbed: 0,
            rests_on_disturbed: false,
            missed_target: false,
        }
    }

    /// Mean and half-width.
    #[must_use]
    pub const fn estimate(&self) -> Estimate<Nanos> {
        Estimate { mean: self.mean, half_width: self.half_width }
    }
}

/// Overheads of a global free-memory pool.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreeMemory {
    /// Extra time of a packet that acquires memory from lines last written elsewhere.
    pub acquire: Measured,
    /// Extra time of a packet that releases memory to lines last written elsewhere.
    pub release: Measured,
}

/// Receive times by approach.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Times {
    /// Under Locking.
    pub locking: ApproachTimes,
    /// Under Independent Protocol Stacks.
    pub independent_stacks: ApproachTimes,
}

/// Receive times of one approach.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApproachTimes {
    /// With nothing of the protocol in any cache (`t_cold,cold`).
    pub fully_cold: Measured,
    /// With the thread stack cached.
    pub cached: BTreeMap<Experiment, ReceiveTimes>,
    /// With the thread stack migrating.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub migrates: BTreeMap<Experiment, ReceiveTimes>,
}

/// The receive times of one situation: hot, and cold up to each level but the last.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiveTimes {
    /// With everything else in the first level (`t_hot,hot`).
    pub hot: Measured,
    /// `cold[k]`: with levels 1 to k + 1 flushed (`t_cold,hot` for k = 0).
    pub cold: Vec<Measured>,
}

/// t(x) as measured: experiment A1 after `x` of intervening work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredCurve {
    /// What ran in between.
    pub workload: String,
    /// Under which approach the packet was received.
    pub approach: Approach,
    /// Whether `intervening` was fitted to these points; otherwise it is the published default.
    pub fitted: bool,
    /// The points, in order of `x`.
    pub points: Vec<CurvePoint>,
}

/// One point of t(x).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Duration of the intervening work.
    pub x: Nanos,
    /// Time of the packet after it.
    pub time: Measured,
}

impl Times {
    /// The times of `approach`.
    #[must_use]
    pub const fn get(&self, approach: Approach) -> &ApproachTimes {
        match approach {
            Approach::Locking => &self.locking,
            Approach::IndependentStacks => &self.independent_stacks,
        }
    }
}

impl ApproachTimes {
    /// The times for a given state of the thread's stack, by experiment.
    #[must_use]
    pub const fn with(&self, thread_stack: ThreadStack) -> &BTreeMap<Experiment, ReceiveTimes> {
        match thread_stack {
            ThreadStack::Cached => &self.cached,
            ThreadStack::Migrates => &self.migrates,
        }
    }

    /// The times of `situation`, if it could be measured.
    #[must_use]
    pub fn get(&self, situation: Situation) -> Option<&ReceiveTimes> {
        self.with(situation.thread_stack).get(&situation.experiment)
    }
}

impl Profile {
    /// The version of the document that this build reads and writes.
    pub const SCHEMA: u32 = 1;

    /// The machine of Salehi, Kurose & Towsley 1994: Table 2 and §5, with the intervening work of
    /// §4.1.
    #[must_use]
    pub fn sgi_challenge_xl() -> Self {
        toml::from_str(include_str!("../profiles/sgi-challenge-xl.toml"))
            .expect("the built-in profile is tested to parse")
    }

    /// The same machine, but with packets that always take `time`, whatever they find in cache.
    #[must_use]
    pub fn with_constant_time(&self, time: Nanos) -> Self {
        let constant = Measured::published(time);
        let mut profile = self.clone();
        let Times { locking, independent_stacks } = &mut profile.times;
        for times in [locking, independent_stacks] {
            times.fully_cold = constant;
            for receive in times.cached.values_mut().chain(times.migrates.values_mut()) {
                receive.hot = constant;
                receive.cold.fill(constant);
            }
        }
        let nothing = Measured::published(Nanos::ZERO);
        profile.free_memory = profile.free_memory.map(|_| FreeMemory { acquire: nothing, release: nothing });
        profile.intervened = None;
        profile
    }

    /// Whether every situation was measured, so that more than one processor can be modelled.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.free_memory.is_some()
            && Approach::ALL.into_iter().all(|approach| {
                Situation::all().all(|situation| self.times.get(approach).get(situation).is_some())
            })
    }
}
