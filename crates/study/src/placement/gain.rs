//! What a line of a plan gains.

use super::cpu_pool::Distance;
use super::layout::Crossing;
use core::fmt;
use serde::Serialize;
use warmcore_units::{Estimate, Nanos};

/// A saving below this is reported as none, as a fraction.
const NEGLIGIBLE: f64 = 0.0005;

/// What a line gains.
#[derive(Clone, PartialEq, Debug)]
pub enum Gain {
    /// The part of the cost of these packets that is saved, negative if they cost more; and whether distances
    /// without a price in the profile are left out.
    Saves(Packets, Estimate<f64>, Unpriced),
    /// Processor time that is saved of each of these packets, below zero if they take more; and the part of their cost.
    SavesTime(Packets, Estimate<Nanos>, Estimate<f64>, Unpriced),
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

/// Whether lines cross, now or under the plan, longer distances than the one that a profile prices, and the longest of
/// these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Unpriced {
    /// In neither.
    Neither,
    /// Only now: the true gain is larger.
    Now(Way),
    /// Only under the plan: the true gain is smaller.
    Then(Way),
    /// In both.
    Both(Way),
}

/// A distance that no profile prices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Way {
    /// Between last-level caches of one node.
    OtherCache,
    /// Between nodes.
    OtherNode,
}

impl Unpriced {
    pub(super) fn new(now: Crossing, then: Crossing) -> Self {
        let farthest = |it: Crossing| it.farthest.filter(|_| it.session + it.frame > 0.0).and_then(way);
        match (farthest(now), farthest(then)) {
            (None, None) => Self::Neither,
            (Some(now), None) => Self::Now(now),
            (None, Some(then)) => Self::Then(then),
            (Some(Way::OtherCache), Some(Way::OtherCache)) => Self::Both(Way::OtherCache),
            (Some(_), Some(_)) => Self::Both(Way::OtherNode),
        }
    }
}

/// `distance`, if no profile prices it.
fn way(distance: Distance) -> Option<Way> {
    match distance {
        Distance::Core | Distance::Cache => None,
        Distance::Node => Some(Way::OtherCache),
        Distance::OtherNode => Some(Way::OtherNode),
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
            // An interval that holds both signs promises nothing.
            Self::SavesTime(packets, time, _, unpriced) if time.mean.0.abs() <= time.half() => {
                write!(f, "not visible: {packets} takes {time} less processor time{unpriced}")
            }
            Self::SavesTime(packets, time, part, unpriced) => {
                let word = if time.mean.0 < 0.0 { "more" } else { "less" };
                let size = Estimate { mean: Nanos(time.mean.0.abs()), ..*time };
                let part = percent(Estimate { mean: part.mean.abs(), ..*part });
                write!(f, "{packets} takes {size} ({part}) {word} processor time{unpriced}")
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
        match self {
            Self::Neither => Ok(()),
            Self::Now(way) => write!(f, ", and what the way to {way} costs now besides"),
            Self::Then(way) => write!(f, ", the way to {way} not counted"),
            Self::Both(way) => write!(f, ", ways to {way} not counted"),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherCache => "another cache of the node",
            Self::OtherNode => "another node",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_names_the_longest_way_without_a_price() {
        let crossing = |farthest| Crossing { session: 1.0, farthest: Some(farthest), ..Crossing::default() };
        for (now, then, expected) in [
            (Distance::Cache, Distance::Core, ""),
            (
                Distance::Node,
                Distance::Cache,
                ", and what the way to another cache of the node costs now besides",
            ),
            (Distance::Core, Distance::Node, ", the way to another cache of the node not counted"),
            (Distance::Node, Distance::Node, ", ways to another cache of the node not counted"),
            (Distance::OtherNode, Distance::Node, ", ways to another node not counted"),
        ] {
            assert_eq!(Unpriced::new(crossing(now), crossing(then)).to_string(), expected);
        }
        let nothing = Crossing { farthest: Some(Distance::OtherNode), ..Crossing::default() };
        assert_eq!(Unpriced::new(nothing, nothing), Unpriced::Neither);
    }
}
