//! What a line of a plan gains.

use super::cpu_pool::Distance;
use super::layout::Crossing;
use core::fmt;
use serde::Serialize;
use warmcore_units::Estimate;

/// A saving below this is reported as none, as a fraction.
const NEGLIGIBLE: f64 = 0.0005;

/// What a line gains.
#[derive(Clone, PartialEq, Debug)]
pub enum Gain {
    /// The part of the cost of these packets that is saved, negative if they cost more; and whether distances
    /// without a price in the profile are left out.
    Saves(Packets, Estimate<f64>, Unpriced),
    /// The part of a cpu's time that is given back to the target threads.
    Frees(Estimate<f64>),
    /// Nothing: the setting has this value already.
    Already,
    /// It cannot be computed, for this reason.
    Unknown(String),
}

/// The packets that a line is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Packets {
    /// All that arrive.
    All,
    /// Those of the queue that the line names, under the whole plan.
    OfQueue,
}

/// Whether lines cross, now or under the plan, longer distances than the one that a profile prices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Unpriced {
    /// In neither.
    Neither,
    /// Only now: the true gain is larger.
    Now,
    /// Only under the plan: the true gain is smaller.
    Then,
    /// In both.
    Both,
}

impl Unpriced {
    pub(super) fn new(now: Crossing, then: Crossing) -> Self {
        let is_far = |it: Crossing| it.session + it.frame > 0.0 && it.farthest > Some(Distance::Cache);
        match (is_far(now), is_far(then)) {
            (false, false) => Self::Neither,
            (true, false) => Self::Now,
            (false, true) => Self::Then,
            (true, true) => Self::Both,
        }
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Saves(packets, saving, unpriced) if saving.mean.abs() < NEGLIGIBLE => {
                write!(f, "none: {packets} costs as much{unpriced}; it is one part of the placement")
            }
            Self::Saves(packets, saving, unpriced) => {
                let word = if saving.mean < 0.0 { "more" } else { "less" };
                let size = Estimate { mean: saving.mean.abs(), ..*saving };
                write!(f, "{packets} costs {} {word}{unpriced}", percent(size))
            }
            Self::Frees(part) => write!(f, "gives back {} of a cpu", percent(*part)),
            Self::Already => f.write_str("none: it is so already"),
            Self::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "a packet",
            Self::OfQueue => "a packet of this queue",
        })
    }
}

impl fmt::Display for Unpriced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Neither => "",
            Self::Now => ", and what the way to another node costs now besides",
            Self::Then => ", the way to another node not counted",
            Self::Both => ", ways to another node not counted",
        })
    }
}

/// `12.3 ± 0.4%`.
pub(super) fn percent(part: Estimate<f64>) -> String {
    let half = part.half_width.map_or_else(String::new, |half| format!(" ± {:.1}", half * 100.0));
    format!("{:.1}{half}%", part.mean * 100.0)
}

/// `1.23 ± 0.04`.
pub(super) fn plain(factor: Estimate<f64>) -> String {
    let half = factor.half_width.map_or_else(String::new, |half| format!(" ± {half:.2}"));
    format!("{:.2}{half}", factor.mean)
}
