//! Points and claims for other programs.

use super::claims::Concluded;
use super::points::Point;
use serde::Serialize;

/// What a script wants to know of a reproduction.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary<'a> {
    /// Version of this document.
    pub schema: u32,
    /// The source.
    pub source: &'static str,
    /// The claims.
    pub claims: Vec<ClaimRow>,
    /// What was measured, block by block.
    pub points: &'a [Point],
}

/// One claim, for other programs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClaimRow {
    /// Its name.
    pub id: &'static str,
    /// What the source says, in our words.
    pub claim: &'static str,
    /// The value as the source states it.
    pub published: &'static str,
    /// The change that decides, as a fraction.
    pub ours: Option<f64>,
    /// The lower end of its 95% interval.
    pub ours_low: Option<f64>,
    /// The upper end.
    pub ours_high: Option<f64>,
    /// Where it was found.
    pub place: Option<String>,
    /// What follows.
    pub verdict: String,
    /// Why.
    pub reason: String,
}

impl<'a> Summary<'a> {
    /// The summary of `points` and what was concluded from them.
    #[must_use]
    pub fn of(points: &'a [Point], claims: &[Concluded]) -> Self {
        let row = |concluded: &Concluded| ClaimRow {
            id: concluded.claim.id,
            claim: concluded.claim.says,
            published: concluded.claim.published,
            ours: concluded.ours.map(|change| change.mean),
            ours_low: concluded.ours.map(|change| change.low),
            ours_high: concluded.ours.map(|change| change.high),
            place: concluded.place.clone(),
            verdict: concluded.verdict.to_string(),
            reason: concluded.reason.clone(),
        };
        Self { schema: 1, source: super::SOURCE, claims: claims.iter().map(row).collect(), points }
    }
}
