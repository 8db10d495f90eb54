//! How many claims of each chapter have each verdict, as a table of the report.

use crate::claim::{Basis, Concluded};
use crate::verdict::ClaimVerdict;
use std::collections::BTreeMap;
use warmcore_record::Table;
use warmcore_record::table::{Cell, Row};

/// A row for each chapter and basis, then one for all claims together.
pub(crate) fn verdicts_by_chapter<E>(claims: &[Concluded<E>]) -> Table {
    let mut groups: BTreeMap<(Option<u32>, Basis), Vec<ClaimVerdict>> = BTreeMap::new();
    for one in claims {
        groups.entry((chapter(one.claim.section), one.claim.basis)).or_default().push(one.verdict);
    }
    let known = |verdict: &ClaimVerdict| claims.iter().any(|one| one.verdict == *verdict);
    let columns: Vec<ClaimVerdict> = ClaimVerdict::ALL.into_iter().filter(known).collect();
    let row = |name: String, verdicts: &[ClaimVerdict]| {
        let of = |column: &ClaimVerdict| verdicts.iter().filter(|verdict| *verdict == column).count();
        let counts = [verdicts.len()].into_iter().chain(columns.iter().map(of));
        Row::new(name, counts.map(|count| Cell::text(count.to_string())).collect())
    };
    let mut rows: Vec<Row> =
        groups.iter().map(|((chapter, basis), verdicts)| row(name(*chapter, *basis), verdicts)).collect();
    let all: Vec<ClaimVerdict> = claims.iter().map(|one| one.verdict).collect();
    rows.push(row("all".to_owned(), &all));
    let header = ["".to_owned(), "claims".to_owned()];
    Table {
        id: "verdicts-by-chapter".to_owned(),
        caption: "Claims by chapter and verdict".to_owned(),
        header: Table::simple_header(header.into_iter().chain(columns.iter().map(ToString::to_string))),
        rows,
        notes: Vec::new(),
    }
}

/// The chapter of a section such as `4.3.2`; `None` if it has no number.
fn chapter(section: &str) -> Option<u32> {
    section.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn name(chapter: Option<u32>, basis: Basis) -> String {
    let basis = match basis {
        Basis::Prediction => "predictions",
        Basis::Fitted => "fitted",
        Basis::Construction => "by construction",
    };
    chapter.map_or_else(|| basis.to_owned(), |chapter| format!("chapter {chapter}, {basis}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_belongs_to_the_chapter_that_its_number_begins_with() {
        assert_eq!(
            ["4.3.2", "6.1", "2.2 and 8", "12", ""].map(chapter),
            [Some(4), Some(6), Some(2), Some(12), None]
        );
    }
}
