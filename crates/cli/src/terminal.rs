//! Tables and text for a terminal.

pub(crate) mod claims;
pub(crate) mod compare;
mod counts;
pub(crate) mod layout;
pub(crate) mod plan;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod sockets;
pub(crate) mod sweep;
pub(crate) mod transfer;
pub(crate) mod verify;

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use core::fmt::Display;
use warmcore_costs::profile::{Measured, Profile};
use warmcore_costs::{Approach, Experiment, Situation, ThreadStack};
use warmcore_record::document::{ReportVerdict, Statement};
use warmcore_study::Findings;
use warmcore_study::present::{scope::handover, verdict::verdict};
use warmcore_units::Estimate;

/// A line under the header and nothing else.
const PLAIN: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// What the half-widths of simulated figures do not include.
pub(crate) const OF_THE_SIMULATION: &str =
    "± is that of the simulation: the costs' own uncertainty is not in it.";

/// `1 node`, `2 nodes`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// An empty table headed `header`.
pub(crate) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(PLAIN).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header);
    table
}

/// The measured times in the order of Table 2 of Salehi 1994.
pub(crate) fn times(profile: &Profile) -> String {
    let mut table = table(["Experiment", "Thread stack", "State", "Locking", "IPS"]);
    let state_name = |state: usize| match state {
        0 => "hot".to_owned(),
        level => format!("{} cold", profile.levels[level - 1].name),
    };
    for situation in Situation::all() {
        for state in 0..profile.levels.len() {
            let cells = Approach::ALL.map(|approach| {
                let receive = profile.times.get(approach).get(situation)?;
                Some(if state == 0 { receive.hot } else { *receive.cold.get(state - 1)? })
            });
            let stack = match situation.thread_stack {
                ThreadStack::Cached => "cached",
                ThreadStack::Migrates => "migrates",
            };
            let [locking, ips] = cells.map(|time| time.as_ref().map_or_else(|| "–".to_owned(), shown));
            table.add_row([
                situation.experiment.to_string(),
                stack.to_owned(),
                state_name(state),
                locking,
                ips,
            ]);
        }
    }
    let cold = Approach::ALL.map(|approach| shown(&profile.times.get(approach).fully_cold));
    let [locking, ips] = cold;
    table.add_row([Experiment::A1.to_string(), "cold".to_owned(), "fully cold".to_owned(), locking, ips]);
    let mut text = table.to_string();
    if let Some(pool) = &profile.free_memory {
        let (acquire, release) = (shown(&pool.acquire), shown(&pool.release));
        text += &format!(
            "\nA free-memory pool last used elsewhere adds {acquire} to acquire, {release} to release."
        );
    }
    if let Some(time) = handover(profile) {
        text += &format!("\nA cache line takes {time} from one processor to the other.");
    }
    if text.contains('†') {
        text += "\n† wider than the target when the time budget ended";
    }
    text + "\n"
}

fn shown(time: &Measured) -> String {
    format!("{}{}", time.estimate(), if time.missed_target { " †" } else { "" })
}

/// The verdict of a study, for the end of its run.
pub(crate) fn summary(findings: &Findings) -> String {
    brief(&verdict(findings))
}

/// The first lines of the report's page.
fn brief(verdict: &ReportVerdict) -> String {
    let ReportVerdict { headline, confidence, scope, .. } = verdict;
    let sure = confidence.as_ref().map_or_else(String::new, |of| format!(" {}.", of.level.in_words()));
    let mut text = format!("\n{headline}{sure}\n{scope}\n\n");
    for Statement { text: claim, confidence, .. } in &verdict.statements {
        text += &format!("• {claim}\n  {}: {}\n", confidence.level.in_words(), confidence.reason);
    }
    text
}

/// The mean, and the half-width by itself.
pub(crate) fn parts<Q: Copy + Display + Into<f64>>(estimate: &Estimate<Q>) -> [String; 2] {
    let half = match estimate.half_width {
        Some(half) if half.into().is_finite() => half.to_string(),
        Some(_) => "unknown".to_owned(),
        None => "none".to_owned(),
    };
    [estimate.mean.to_string(), half]
}

/// With a capital letter and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// `129 µs ± 0.15 µs`; an unknown half-width reads `unknown`, and an exact value has none.
pub(crate) fn estimate<Q: Copy + Display + Into<f64>>(estimate: &Estimate<Q>) -> String {
    let [mean, half] = parts(estimate);
    if estimate.half_width.is_some() { format!("{mean} ± {half}") } else { mean }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_record::document::{Confidence, ConfidenceLevel};

    #[test]
    fn the_verdict_says_for_what_it_speaks_and_how_sure_it_is() {
        let confidence =
            Confidence { level: ConfidenceLevel::Moderate, reason: "the intervals touch".to_owned() };
        let statement = Statement {
            text: "At low loads, use MRU.".to_owned(),
            evidence: vec!["12%".to_owned()],
            confidence: confidence.clone(),
        };
        let text = brief(&ReportVerdict {
            headline: "Use MRU.".to_owned(),
            confidence: Some(confidence),
            scope: "This speaks for 2 cores.".to_owned(),
            statements: vec![statement],
            ..ReportVerdict::default()
        });
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(
            lines,
            [
                "Use MRU. Moderate confidence.",
                "This speaks for 2 cores.",
                "• At low loads, use MRU.",
                "  Moderate confidence: the intervals touch"
            ]
        );
    }
}
