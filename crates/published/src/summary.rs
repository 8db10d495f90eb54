//! The claims for other programs, as a table of columns and as a document.

use crate::claim::{Basis, Concluded};
use crate::finding::{Finding, ValueAt};
use crate::source::{Evidence, Reproduction};
use crate::verdict::ClaimVerdict;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns};

/// Version of the document's schema.
pub const SCHEMA: u32 = 3;

/// The result of a reproduction, for scripts.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Version of this document.
    pub schema: u32,
    /// Name of the source.
    pub source: &'static str,
    /// Citation of the source.
    pub citation: &'static str,
    /// The machine that the evidence comes from.
    pub machine: String,
    /// Names of the figures.
    pub figures: Vec<&'static str>,
    /// How many claims have each verdict: predictions, what the model was fitted to, and what holds by construction, apart.
    pub verdicts: BTreeMap<Basis, BTreeMap<String, usize>>,
    /// The claims.
    pub claims: Vec<ClaimRow>,
}

/// One claim, for other programs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClaimRow {
    /// Its identifier.
    pub id: &'static str,
    /// Where the source says it.
    pub place: String,
    /// The statement, in our words.
    pub claim: &'static str,
    /// The published value, as the source writes it.
    pub published: &'static str,
    /// Which values count as that: `122.5 to 127.5 µs (within 2 % of 125)`.
    pub accepted: String,
    /// The least of them; `None` if there is none.
    pub accepted_from: Option<f64>,
    /// The greatest of them; `None` if there is none.
    pub accepted_to: Option<f64>,
    /// Our least value.
    pub ours: Option<f64>,
    /// The lower end of its 95% interval.
    pub ours_low: Option<f64>,
    /// The upper end.
    pub ours_high: Option<f64>,
    /// Our greatest value, if there are several.
    pub ours_to: Option<f64>,
    /// The lower end of its 95% interval.
    pub ours_to_low: Option<f64>,
    /// The upper end.
    pub ours_to_high: Option<f64>,
    /// Unit of these values.
    pub unit: &'static str,
    /// At how many places we have a value.
    pub places: usize,
    /// At how many places our value is as stated; `None` for another machine, which is not judged.
    pub as_stated: Option<usize>,
    /// At how many places the interval does not decide.
    pub undecided: Option<usize>,
    /// Our values in words.
    pub ours_in_words: String,
    /// The verdict.
    pub verdict: String,
    /// What it means that the claim holds.
    pub basis: Basis,
    /// Both: `holds (fitted)`.
    pub verdict_in_words: String,
    /// The reason for the verdict.
    pub reason: String,
    /// How our value is derived.
    pub recipe: &'static str,
}

impl ClaimRow {
    fn new<E>(concluded: &Concluded<E>) -> Self {
        let Concluded { claim, tally, .. } = concluded;
        let band = claim.reading.band();
        let is_judged = concluded.verdict != ClaimVerdict::AnotherMachine;
        let extremes = concluded.finding.as_ref().and_then(Finding::extremes);
        let least = extremes.map(|(least, _)| least.value);
        let several = |(_, greatest): (&ValueAt, &ValueAt)| (tally.places() > 1).then_some(greatest.value);
        let greatest = extremes.and_then(several);
        Self {
            id: claim.id,
            place: concluded.place.clone(),
            claim: claim.says,
            published: claim.published,
            accepted: concluded.accepted(),
            accepted_from: Some(band.from).filter(|end| end.is_finite()),
            accepted_to: Some(band.to).filter(|end| end.is_finite()),
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
            ours_in_words: concluded.our_values(),
            verdict: concluded.verdict.to_string(),
            basis: claim.basis,
            verdict_in_words: concluded.verdict_in_words(),
            reason: concluded.reason(),
            recipe: claim.recipe,
        }
    }
}

impl Summary {
    /// The summary of `reproduction`.
    #[must_use]
    pub fn new<E: Evidence>(reproduction: &Reproduction<E>) -> Self {
        let mut verdicts: BTreeMap<Basis, BTreeMap<String, usize>> = BTreeMap::new();
        for concluded in &reproduction.claims {
            let of_basis = verdicts.entry(concluded.claim.basis).or_default();
            *of_basis.entry(concluded.verdict.to_string()).or_default() += 1;
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

    /// All claims as a table of columns.
    ///
    /// # Errors
    /// Never, as long as every column has its own name.
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
            text("accepted", |row| &row.accepted),
            float("accepted_from", |row| row.accepted_from),
            float("accepted_to", |row| row.accepted_to),
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
            text("basis", |row| row.basis.name()),
            text("reason", |row| &row.reason),
            text("recipe", |row| row.recipe),
        ])
    }
}
