//! The claims for other programs: as a table of columns, and as a document.

use crate::salehi_1994::claims::{Concluded, Ours};
use crate::salehi_1994::{Figure, Reproduction};
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns};
use warmcore_units::Estimate;

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
    /// The least value of ours that is compared; for counted comparisons, the fraction that holds.
    pub ours: Option<f64>,
    /// Its half-width.
    pub ours_half_width: Option<f64>,
    /// The greatest value of ours, where it is a span.
    pub ours_to: Option<f64>,
    /// Its half-width.
    pub ours_to_half_width: Option<f64>,
    /// Unit of these.
    pub unit: &'static str,
    /// Our value in words.
    pub ours_in_words: String,
    /// What follows.
    pub verdict: String,
    /// Why.
    pub reason: String,
    /// How ours is derived.
    pub recipe: &'static str,
    /// What counts as the published value: `within 2 % of 125`.
    pub reading: String,
}

impl ClaimRow {
    /// The row of `concluded`.
    #[must_use]
    pub fn of(concluded: &Concluded) -> Self {
        let claim = &concluded.claim;
        let (least, greatest) = match concluded.derived.as_ref().map(|derived| derived.ours) {
            None => (None, None),
            Some(Ours::Value(value)) => (Some(value), None),
            Some(Ours::Span(least, greatest)) => (Some(least), Some(greatest)),
            Some(Ours::Tally(tally)) => {
                (Some(Estimate::published(tally.held as f64 / tally.of().max(1) as f64)), None)
            }
        };
        Self {
            id: claim.id,
            place: claim.place(),
            claim: claim.says,
            published: claim.published,
            ours: least.map(|value| value.mean),
            ours_half_width: least.and_then(|value| value.half_width),
            ours_to: greatest.map(|value| value.mean),
            ours_to_half_width: greatest.and_then(|value| value.half_width),
            unit: claim.unit,
            ours_in_words: concluded.ours(),
            verdict: concluded.verdict.to_string(),
            reason: concluded.reason(),
            recipe: claim.recipe,
            reading: claim.reading.to_string(),
        }
    }
}

/// Every claim, in the source's order.
#[must_use]
pub fn claim_rows(reproduction: &Reproduction) -> Vec<ClaimRow> {
    reproduction.claims.iter().map(ClaimRow::of).collect()
}

/// Every claim as a table of columns.
///
/// # Errors
/// Never, as long as every column has a name of its own.
pub fn claims(reproduction: &Reproduction) -> Result<Columns, ColumnsError> {
    let rows = claim_rows(reproduction);
    let text = |name: &str, of: fn(&ClaimRow) -> &str| {
        Column::texts(name, rows.iter().map(|row| Some(of(row).to_owned())))
    };
    let float = |name: &str, of: fn(&ClaimRow) -> Option<f64>| Column::floats(name, "", rows.iter().map(of));
    Columns::new(vec![
        text("id", |row| row.id),
        text("place", |row| &row.place),
        text("claim", |row| row.claim),
        text("published", |row| row.published),
        float("ours", |row| row.ours),
        float("ours_half_width", |row| row.ours_half_width),
        float("ours_to", |row| row.ours_to),
        float("ours_to_half_width", |row| row.ours_to_half_width),
        text("unit", |row| row.unit),
        text("ours_in_words", |row| &row.ours_in_words),
        text("verdict", |row| &row.verdict),
        text("reason", |row| &row.reason),
        text("recipe", |row| row.recipe),
        text("reading", |row| &row.reading),
    ])
}

/// What a script wants to know of a reproduction.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Version of this document.
    pub schema: u32,
    /// The source.
    pub source: &'static str,
    /// The machine whose costs were used.
    pub machine: String,
    /// The figures, by name.
    pub figures: Vec<&'static str>,
    /// How many claims came to each verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// The claims.
    pub claims: Vec<ClaimRow>,
}

impl Summary {
    /// The summary of `reproduction`.
    #[must_use]
    pub fn of(reproduction: &Reproduction) -> Self {
        let mut verdicts = BTreeMap::new();
        for concluded in &reproduction.claims {
            *verdicts.entry(concluded.verdict.to_string()).or_insert(0) += 1;
        }
        Self {
            schema: 1,
            source: crate::salehi_1994::SOURCE,
            machine: reproduction.options.profile.name.clone(),
            figures: reproduction.options.wanted().map(Figure::name).collect(),
            verdicts,
            claims: claim_rows(reproduction),
        }
    }
}
