//! The report on a comparison, for a reader who has never seen the paper.
//!
//! | module | what a reader looks for |
//! |---|---|
//! | `headline` | the result, and how sure that is |
//! | `words` | how errors and loads are written, and what their marks mean |
//! | `delays` | delays in charts |
//! | `tables` | the error of each prediction, and what another scheduling changes |
//! | `explained` | what the predictions consist of, and what they leave out |

mod delays;
mod explained;
mod headline;
mod tables;
#[cfg(test)]
mod tests;
mod words;

pub use headline::{headline, nothing_judged};
pub use words::{error_words, load, meaning_of_marks, percent};

use super::Comparison;
use warmcore_costs::Profile;
use warmcore_record::{Document, Manifest};

/// The report on `comparison`, with its [doubts](super::packets::doubts) and its provenance.
#[must_use]
pub fn document(
    comparison: &Comparison,
    profile: &Profile,
    doubts: &[String],
    manifest: Manifest,
) -> Document {
    let all = &comparison.compared;
    Document {
        title: "How predictions of protocol scheduling compare with measurements".to_owned(),
        subtitle: format!("{} ways to schedule, predicted with the costs of the {}", all.len(), profile.name),
        verdict: headline::verdict(comparison, profile),
        sections: vec![
            delays::section(comparison, doubts),
            tables::errors(all),
            tables::between(all),
            explained::section(comparison),
            explained::limits(),
        ],
        manifest,
    }
}
