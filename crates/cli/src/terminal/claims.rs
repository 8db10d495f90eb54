//! The claims of a publication, compared with our results.

use super::table;
use warmcore_published::Summary;

/// Every claim with its verdict and why, and how many there are of each.
pub(crate) fn table_of(summary: &Summary) -> String {
    if summary.claims.is_empty() {
        return "\nNo claim rests on these figures alone.\n".to_owned();
    }
    let mut table = table(["claim", "published", "ours, with 95% intervals", "verdict", "why"]);
    for claim in &summary.claims {
        table.add_row([
            format!("{} ({})", claim.claim, claim.place),
            claim.published.to_owned(),
            claim.ours_in_words.clone(),
            claim.verdict.clone(),
            claim.reason.clone(),
        ]);
    }
    let counts: Vec<String> =
        summary.verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    format!("\n{table}\n\n{} claims: {}.\n", summary.claims.len(), counts.join(", "))
}
