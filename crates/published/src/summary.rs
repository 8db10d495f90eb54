//! The claims for other programs: as a table of columns, and as a document.

use crate::claim::Concluded;
use crate::finding::{Finding, Found};
use crate::source::{Evidence, Reproduction};
use crate::verdict::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns};

/// Version of the document.
pub const SCHEMA: u32 = 2;

/// What a script wants to know of a reproduction.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Version of this document.
    pub schema: u32,
    /// The source, by name.
    pub source: &'static str,
    /// The source, cited.
    pub citation: &'static str,
    /// The machine that the evidence is of.
    pub machine: String,
    /// The figures, by name.
    pub figures: Vec<&'static str>,
    /// How many claims came to each verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// The claims.
    pub claims: Vec<ClaimRow>,
}

/// One claim, for other programs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClaimRow {
    /// Its name.
    pub id: &'static str,
    /// Where the source says it.
    pub place: String,
    /// What it says, in our words.
    pub claim: &'static str,
    /// The value as the source states it.
    pub published: &'static str,
    /// What counts as that: `within 2 % of 125 µs`.
    pub reading: String,
    /// The least value of ours.
    pub ours: Option<f64>,
    /// The lower end of its 95% interval.
    pub ours_low: Option<f64>,
    /// The upper end.
    pub ours_high: Option<f64>,
    /// The greatest value of ours, where there are several.
    pub ours_to: Option<f64>,
    /// The lower end of its 95% interval.
    pub ours_to_low: Option<f64>,
    /// The upper end.
    pub ours_to_high: Option<f64>,
    /// Unit of these.
    pub unit: &'static str,
    /// At how many places ours was found.
    pub places: usize,
    /// At how many of them it is as stated; `None` of another machine, which is not judged.
    pub as_stated: Option<usize>,
    /// At how many the interval does not tell.
    pub undecided: Option<usize>,
    /// Ours in words.
    pub ours_in_words: String,
    /// What follows.
    pub verdict: String,
    /// Why.
    pub reason: String,
    /// How ours is derived.
    pub recipe: &'static str,
}

impl ClaimRow {
    fn new<E>(concluded: &Concluded<E>) -> Self {
        let Concluded { claim, tally, .. } = concluded;
        let is_judged = concluded.verdict != Verdict::AnotherMachine;
        let extremes = concluded.finding.as_ref().and_then(Finding::extremes);
        let least = extremes.map(|(least, _)| least.value);
        let several = |(_, greatest): (&Found, &Found)| (tally.places() > 1).then_some(greatest.value);
        let greatest = extremes.and_then(several);
        Self {
            id: claim.id,
            place: concluded.place.clone(),
            claim: claim.says,
            published: claim.published,
            reading: concluded.accepted(),
            ours: least.map(|value| value.mean),
            ours_low: least.map(|value| value.low),
            ours_high: least.map(|value| value.high),
            ours_to: greatest.map(|value| value.mean),
            ours_to_low: greatest.map(|value| value.low),
            ours_to_high: greatest.map(|value| value.high),
            unit: claim.unit,
            places: tally.places(),
            as_stated: is_judged.then_some(tally.total().as_stated),
            undecided: is_judged.then_some(tally.total().undecided),
            ours_in_words: concluded.ours(),
            verdict: concluded.verdict.to_string(),
            reason: concluded.reason(),
            recipe: claim.recipe,
        }
    }
}

impl Summary {
    /// The summary of `reproduction`.
    #[must_use]
    pub fn new<E: Evidence>(reproduction: &Reproduction<E>) -> Self {
        let mut verdicts = BTreeMap::new();
        for concluded in &reproduction.claims {
            *verdicts.entry(concluded.verdict.to_string()).or_insert(0) += 1;
        }
        Self {
            schema: SCHEMA,
            source: reproduction.source.name,
            citation: reproduction.source.citation,
            machine: reproduction.evidence.machine(),
            figures: reproduction.figures.clone(),
            verdicts,
            claims: reproduction.claims.iter().map(ClaimRow::new).collect(),
        }
    }

    /// Every claim as a table of columns.
    ///
    /// # Errors
    /// Never, as long as every column has a name of its own.
    pub fn columns(&self) -> Result<Columns, ColumnsError> {
        let text = |name: &str, of: fn(&ClaimRow) -> &str| {
            Column::texts(name, self.claims.iter().map(|row| Some(of(row).to_owned())))
        };
        let float = |name: &str, of: fn(&ClaimRow) -> Option<f64>| {
            Column::floats(name, "", self.claims.iter().map(of))
        };
        let count = |name: &str, of: fn(&ClaimRow) -> Option<usize>| {
            Column::integers(name, self.claims.iter().map(|row| i64::try_from(of(row)?).ok()))
        };
        Columns::new(vec![
            text("id", |row| row.id),
            text("place", |row| &row.place),
            text("claim", |row| row.claim),
            text("published", |row| row.published),
            text("reading", |row| &row.reading),
            float("ours", |row| row.ours),
            float("ours_low", |row| row.ours_low),
            float("ours_high", |row| row.ours_high),
            float("ours_to", |row| row.ours_to),
            float("ours_to_low", |row| row.ours_to_low),
            float("ours_to_high", |row| row.ours_to_high),
            text("unit", |row| row.unit),
            count("places", |row| Some(row.places)),
            count("as_stated", |row| row.as_stated),
            count("undecided", |row| row.undecided),
            text("ours_in_words", |row| &row.ours_in_words),
            text("verdict", |row| &row.verdict),
            text("reason", |row| &row.reason),
            text("recipe", |row| row.recipe),
        ])
    }
}
