//! The claims of a publication, held against what came out.

use super::table;
use warmcore_published::foong_2004;
use warmcore_published::salehi_1994::{Reproduction, Summary};

/// Every claim of a source that was measured anew, with its verdict and why.
pub(crate) fn measured(claims: &[foong_2004::Concluded]) -> String {
    let mut table = table(["claim", "published", "ours, with its 95% interval", "verdict", "why"]);
    for concluded in claims {
        table.add_row([
            concluded.claim.says.to_owned(),
            concluded.claim.published.to_owned(),
            concluded.ours(),
            concluded.verdict.to_string(),
            concluded.reason.clone(),
        ]);
    }
    format!("\n{table}\n")
}

/// Every claim with its verdict, and how many there are of each.
pub(crate) fn summary(reproduction: &Reproduction) -> String {
    let mut table = table(["claim", "published", "ours", "verdict"]);
    for concluded in &reproduction.claims {
        let claim = &concluded.claim;
        table.add_row([
            format!("{} ({})", claim.says, claim.place()),
            claim.published.to_owned(),
            concluded.ours(),
            concluded.verdict.to_string(),
        ]);
    }
    let verdicts = Summary::of(reproduction).verdicts;
    let counts: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    if counts.is_empty() {
        return "\nNo claim rests on these figures alone.\n".to_owned();
    }
    format!("\n{table}\n\n{} claims: {}.\n", reproduction.claims.len(), counts.join(", "))
}
