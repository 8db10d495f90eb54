//! What a ratio says.

use core::fmt;
use serde::Serialize;
use warmcore_stats::Spread;

/// By how much the median of the rounds' ratios must be above one for a win, or the reciprocal's for a
/// loss. Chosen before anything was looked at, and the same for all comparisons.
pub(crate) const MARGIN: f64 = 0.05;

/// Of our default rule against a peer, or the other way round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Won,
    Drawn,
    Lost,
    /// The peer has not done the work: events were out of order or left out.
    Void,
}

impl Verdict {
    /// On `times`, how many times the peer's rate ours is, and on the order violations of both.
    pub(crate) fn new(times: &Spread, ours: u64, theirs: u64) -> Self {
        let median = times.median();
        match (ours, theirs) {
            (1.., _) => Self::Lost,
            (0, 1..) => Self::Void,
            (0, 0) if median >= 1.0 + MARGIN => Self::Won,
            (0, 0) if median.recip() >= 1.0 + MARGIN => Self::Lost,
            (0, 0) => Self::Drawn,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Won => "won",
            Self::Drawn => "drawn",
            Self::Lost => "LOST",
            Self::Void => "void",
        })
    }
}
