//! Every claim in a table.

use crate::salehi_1994::claims::{Claim, Reading};
use crate::salehi_1994::{Concluded, Figure, Reproduction};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Section, Table};

/// The section with all claims; `None` where no claim was tried.
#[must_use]
pub fn section(reproduction: &Reproduction) -> Option<Section> {
    if reproduction.claims.is_empty() {
        return None;
    }
    let rule = "A verdict is computed, by one rule. A printed figure is reached within 2 % (the \
                measurements behind it have half-widths of up to 1 % each); what is \"about\" a figure, \
                within a fifth of it. A value of ours holds if it lies there, holds partly if only its 95 \
                % interval reaches there, and differs otherwise. Of a span of values, both ends must lie \
                there to hold; if only a part of it does, it holds partly. Of comparisons (\"lower at all \
                rates\"), none may speak against the claim. Where the text gives no number (\"much \
                faster\", \"close\"), the number we read into it is named with the recipe.";
    let ranges = "Where the text speaks of low rates, we take 1 to 25 % of the capacity; of a broad \
                  range, 1 to 90 %; of high rates, 75 to 90 %. Half-widths are those of 95 % confidence \
                  intervals.";
    let elsewhere = "The published values are those of the source's machine. This report is about another \
                     one: what is shown as ours is derived in the same way from this machine's costs, and \
                     is not judged.";
    let intro =
        if reproduction.options.is_published_machine() { [rule, ranges] } else { [elsewhere, ranges] };
    Some(Section {
        heading: "What the source says, and what we find".to_owned(),
        anchor: "claims".to_owned(),
        intro: intro.map(str::to_owned).to_vec(),
        blocks: vec![Block::Table(all(reproduction))],
        folded: false,
    })
}

fn all(reproduction: &Reproduction) -> Table {
    let row = |concluded: &Concluded| {
        let claim = &concluded.claim;
        let cells = [
            claim.place(),
            claim.published.to_owned(),
            concluded.ours(),
            concluded.verdict.to_string(),
            concluded.reason(),
        ];
        Row::new(unbroken(claim.says), cells.map(|cell| Cell::text(unbroken(&cell))).to_vec())
    };
    Table {
        id: "all-claims".to_owned(),
        caption: "Every claim of the source about its results".to_owned(),
        header: Table::simple_header(["The source says", "where", "published", "ours", "verdict", "reason"]),
        rows: reproduction.claims.iter().map(row).collect(),
        notes: Vec::new(),
    }
}

/// The claims that rest on `figure` before any other; `None` where there are none.
#[must_use]
pub fn of_figure(reproduction: &Reproduction, figure: Figure) -> Option<Table> {
    let rows: Vec<Row> = belonging(reproduction, figure).map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: format!("claims-{}", figure.name()),
        caption: "What the text says of it".to_owned(),
        header: Table::simple_header(["Claim", "published", "ours", "verdict", "how ours is derived"]),
        rows,
        notes: Vec::new(),
    })
}

/// The claims that rest on `figure` before any other.
pub(super) fn belonging(reproduction: &Reproduction, figure: Figure) -> impl Iterator<Item = &Concluded> {
    reproduction.claims.iter().filter(move |concluded| concluded.claim.needs.first() == Some(&figure))
}

fn row(concluded: &Concluded) -> Row {
    let claim = &concluded.claim;
    let cells =
        [claim.published.to_owned(), concluded.ours(), concluded.verdict.to_string(), derivation(claim)];
    Row::new(unbroken(claim.says), cells.map(|cell| Cell::text(unbroken(&cell))).to_vec())
}

/// How our value is derived, and what counts as the published one.
fn derivation(claim: &Claim) -> String {
    let recipe = capitalised(claim.recipe);
    match claim.reading {
        // The recipe names the number that is read into the text.
        Reading::MoreThan(_) | Reading::AtMost(_) => format!("{recipe}."),
        reading => format!("{recipe}. Accepted: {reading}."),
    }
}

/// With its first letter a capital.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// With no line broken between a value and what belongs to it.
pub(super) fn unbroken(text: &str) -> String {
    let pairs = [(" %", "\u{a0}%"), (" µs", "\u{a0}µs"), (" ×", "\u{a0}×"), (" ± ", "\u{a0}±\u{a0}")];
    pairs.into_iter().fold(text.to_owned(), |text, (loose, tight)| text.replace(loose, tight))
}
