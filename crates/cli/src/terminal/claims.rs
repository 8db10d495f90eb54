//! The claims of a publication, held against what came out.

use super::table;
use warmcore_published::salehi_1994::{Reproduction, Summary};

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
