//! The claims of a publication, compared with our results.

use super::table;
use comfy_table::Table;
use std::collections::BTreeMap;
use warmcore_published::{Basis, Summary};

/// How wide a table is where nobody says how wide the terminal is, such as in a pipe.
const WIDTH: u16 = 120;

/// Every claim with its verdict, how many there are of each, and what is to be said of some.
pub(crate) fn table_of(summary: &Summary) -> String {
    if summary.claims.is_empty() {
        return "\nNo claim rests on these figures alone.\n".to_owned();
    }
    let mut claims =
        fitting(table(["claim", "published", "accepted", "ours, with 95% intervals", "verdict"]));
    let mut remarks = fitting(table(["remarks on", ""]));
    for claim in &summary.claims {
        claims.add_row([
            format!("{} ({})", claim.claim, claim.place),
            claim.published.to_owned(),
            claim.accepted.clone(),
            claim.ours_in_words.clone(),
            claim.verdict_in_words.clone(),
        ]);
        if !claim.reason.is_empty() {
            remarks.add_row([claim.claim.to_owned(), claim.reason.clone()]);
        }
    }
    let remarks = match remarks.row_count() {
        0 => String::new(),
        _ => format!("{remarks}\n\n"),
    };
    format!("\n{claims}\n\n{remarks}{}", counts(summary))
}

/// `table`, no wider than the terminal.
fn fitting(mut table: Table) -> Table {
    if table.width().is_none() {
        table.set_width(WIDTH);
    }
    table
}

/// How many claims have each verdict: predictions, fits and constructions apart.
fn counts(summary: &Summary) -> String {
    let line = |(basis, verdicts): (&Basis, &BTreeMap<String, usize>)| {
        let all: usize = verdicts.values().sum();
        let verdicts: Vec<String> =
            verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        let claims = if all == 1 { "claim" } else { "claims" };
        let what = match basis {
            Basis::Prediction => "",
            Basis::Fitted => " that the model was fitted to",
            Basis::Construction if all == 1 => " that follows from what the model was given",
            Basis::Construction => " that follow from what the model was given",
        };
        format!("{all} {claims}{what}: {}.\n", verdicts.join(", "))
    };
    summary.verdicts.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_a_pipe_is_no_wider_than_a_terminal() {
        let mut long = fitting(table(["claim", "ours"]));
        long.add_row(["word ".repeat(60), "number ".repeat(60)]);
        // A terminal says how wide it is.
        let width = usize::from(long.width().unwrap_or_default());
        assert!(long.lines().all(|line| line.chars().count() <= width));
    }
}
