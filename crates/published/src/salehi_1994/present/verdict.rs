//! How much of the source holds, and its main conclusions.

use crate::salehi_1994::claims::LOW;
use crate::salehi_1994::evidence::{Evidence, extremes};
use crate::salehi_1994::{Concluded, Reproduction, Setting, Verdict};
use warmcore_record::Verdict as Answer;
use warmcore_record::document::{Confidence, KeyFigure, Level, Statement};
use warmcore_scenario::Parallelism::{self, Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{Lru, Mru, WiredStreams};
use warmcore_units::{Estimate, PerSecond};

/// A conclusion of the source, and the claims it rests on.
struct Conclusion {
    text: &'static str,
    claims: &'static [&'static str],
}

const CONCLUSIONS: [Conclusion; 6] = [
    Conclusion {
        text: "Under Locking, the most recently used processor is the best choice, until the load is \
               high; then streams should be wired to processors.",
        claims: &["locking-mru-best", "locking-mru-25", "locking-wired-capacity", "locking-mru-except-high"],
    },
    Conclusion {
        text: "Under independent stacks, stacks should be wired to processors, except when the load is low.",
        claims: &["ips-wired-best", "ips-mru-best-when-idle", "ips-capacities-equal"],
    },
    Conclusion {
        text: "Threads and free memory should be kept per processor.",
        claims: &["pools-per-processor", "locking-threads", "locking-memory", "ips-threads", "ips-memory"],
    },
    Conclusion {
        text: "Independent stacks halve the delay of Locking and double its capacity, as long as packets \
               come one at a time.",
        claims: &["ips-delay-50", "ips-capacity-wired", "ips-capacity-mru", "ips-better-unbatched"],
    },
    Conclusion {
        text: "Bursts within a stream, and a single stream, are where Locking beats independent stacks.",
        claims: &[
            "batches-locking-robust",
            "batches-locking-robust-geometric",
            "batches-ips-capacity",
            "stream-locking-over-ips",
        ],
    },
    Conclusion {
        text: "Where packets do not depend on each other, streams open in all stacks (the Hybrid) have \
               the best of both.",
        claims: &["hybrid-capacity", "hybrid-response", "hybrid-best", "stream-hybrid-best"],
    },
];

/// The answer at the top of the report.
#[must_use]
pub fn verdict(reproduction: &Reproduction) -> Answer {
    let published = reproduction.options.is_published_machine();
    Answer {
        headline: if published { headline(&reproduction.claims) } else { elsewhere(reproduction) },
        figures: figures(&reproduction.evidence),
        statements: if published { statements(&reproduction.claims) } else { Vec::new() },
        ..Answer::default()
    }
}

/// How many claims came to `verdict`.
#[must_use]
pub fn count(claims: &[Concluded], verdict: Verdict) -> usize {
    claims.iter().filter(|concluded| concluded.verdict == verdict).count()
}

fn headline(claims: &[Concluded]) -> String {
    let holds = format!("{} of {} claims hold", count(claims, Verdict::Holds), claims.len());
    let rest = [
        (Verdict::HoldsPartly, "hold partly"),
        (Verdict::Differs, "do not"),
        (Verdict::SourceInconsistent, "contradict another place of the source"),
        (Verdict::NotDerived, "could not be tried"),
    ];
    let rest = rest.map(|(verdict, words)| (count(claims, verdict), words));
    let rest =
        rest.into_iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    let parts: Vec<String> = std::iter::once(holds).chain(rest).collect();
    format!("{}.", parts.join(", "))
}

fn elsewhere(reproduction: &Reproduction) -> String {
    let evidence = &reproduction.evidence;
    let capacity =
        |approach, policy| Some(PerSecond(evidence.capacity(Setting::new(approach, policy))?.mean));
    let name = &reproduction.options.profile.name;
    match (capacity(Ips, WiredStreams), capacity(Locking, WiredStreams)) {
        (Some(ips), Some(locking)) => format!(
            "On eight processors like those of {name}, independent stacks keep up with {ips} and one \
             stack under locks with {locking}, each with streams wired to processors."
        ),
        _ => format!("The source's figures, drawn from the costs of {name}."),
    }
}

fn figures(evidence: &Evidence) -> Vec<KeyFigure> {
    let saved = |approach: Parallelism| {
        let pair = [Mru, Lru].map(|policy| Setting::new(approach, policy));
        let (_, most) = extremes(&evidence.reduction(pair[0], pair[1], LOW))?;
        let meaning =
            format!("mean delay at light load, {approach}: most recently used processor instead of least");
        Some(key("−", most.value, meaning))
    };
    let gained = || {
        let [locking, ips] = [Locking, Ips].map(|approach| evidence.capacity(Setting::new(approach, Mru)));
        let gain = crate::salehi_1994::evidence::above(ips?, locking?);
        Some(key(
            "+",
            gain,
            "packets per second that eight processors keep up with, IPS instead of Locking (MRU)".to_owned(),
        ))
    };
    [saved(Locking), saved(Ips), gained()].into_iter().flatten().collect()
}

fn key(sign: &str, value: Estimate<f64>, meaning: String) -> KeyFigure {
    let half_width = value.half_width.map_or_else(String::new, |half| format!("± {half:.1}\u{202f}%"));
    KeyFigure { value: format!("{sign}{:.0}\u{202f}%", value.mean), half_width, meaning }
}

fn statements(claims: &[Concluded]) -> Vec<Statement> {
    CONCLUSIONS.iter().filter_map(|conclusion| statement(conclusion, claims)).collect()
}

/// `None` where the claims were not tried.
fn statement(conclusion: &Conclusion, claims: &[Concluded]) -> Option<Statement> {
    let rests_on: Vec<&Concluded> = claims
        .iter()
        .filter(|concluded| {
            conclusion.claims.contains(&concluded.claim.id) && concluded.verdict != Verdict::NotDerived
        })
        .collect();
    let holding = rests_on.iter().filter(|concluded| concluded.verdict == Verdict::Holds).count();
    let level = match rests_on.iter().map(|concluded| concluded.verdict).max()? {
        Verdict::Holds => Level::High,
        Verdict::HoldsPartly => Level::Moderate,
        _ => Level::Low,
    };
    let evidence = |concluded: &&Concluded| {
        let claim = &concluded.claim;
        format!(
            "{} Published: {}; ours: {} ({}).",
            claim.says,
            claim.published,
            concluded.ours(),
            concluded.verdict
        )
    };
    Some(Statement {
        text: conclusion.text.to_owned(),
        evidence: rests_on.iter().map(evidence).collect(),
        confidence: Confidence {
            level,
            reason: format!("{holding} of {} claims hold in full.", rests_on.len()),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conclusions_rest_on_claims_that_are_there() {
        let known: Vec<&str> = crate::salehi_1994::claims::all().iter().map(|claim| claim.id).collect();
        for conclusion in &CONCLUSIONS {
            assert!(conclusion.claims.iter().all(|id| known.contains(id)), "{}", conclusion.text);
        }
    }
}
