//! The findings of a verification, in a terminal.

use super::{counts, sentence, table};
use warmcore_measure::counts::CountedResults;
use warmcore_measure::verify::findings::{Changes, Conclusion, ModelFindings, VerificationFindings};
use warmcore_measure::verify::monitor::ResourceUse;
use warmcore_stats::blocks::ChangeVerdict;
use warmcore_units::PerSecond;

/// The decision about the plan, and the models it rests on.
pub(crate) fn summary(findings: &VerificationFindings) -> String {
    let rate = if findings.work.is_bits() { "Gbit/s" } else { "rate" };
    let mut table =
        table(["model", rate, "busy cpus", "cycles per bit", "against none", "per busy cpu", "visible"]);
    for found in &findings.models {
        table.add_row(row(findings, found));
    }
    format!(
        "\n{}\n{}\n{table}\nMedians [least, greatest] of {} blocks; changes are of geometric means, with 95% intervals.\n{}",
        decision(findings),
        findings.promise.as_ref().map_or_else(String::new, |promise| format!("{promise}\n")),
        findings.models[0].rate.0.len(),
        noted(findings)
    )
}

fn row(findings: &VerificationFindings, found: &ModelFindings) -> [String; 7] {
    let scale = if findings.work.is_bits() { 1e-9 } else { 1.0 };
    let (rate, per_cpu, visible) = match &found.against_none {
        None => Default::default(),
        Some((changes, verdicts)) => {
            let visible = format!("{}, per cpu {}", word(verdicts.rate), word(verdicts.per_cpu));
            (changes.rate.to_string(), changes.per_cpu.to_string(), visible)
        }
    };
    let cost = found.cycles_per_bit.as_ref();
    let cost = cost.map_or_else(|| "not known".to_owned(), |cost| format!("{cost:.3}"));
    [
        found.model.to_string(),
        format!("{:.3}", found.rate.map(|rate| rate * scale)),
        format!("{:.2}", found.busy_cpus),
        cost,
        rate,
        per_cpu,
        visible,
    ]
}

const fn word(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::More => "more",
        ChangeVerdict::Less => "less",
        ChangeVerdict::NotVisible => "no",
    }
}

fn changes_in_words(changes: &Changes) -> String {
    format!("rate {}, work per busy cpu {}", changes.rate, changes.per_cpu)
}

/// What else was measured, and which runs were disturbed.
fn noted(findings: &VerificationFindings) -> String {
    let mut text = String::new();
    for found in &findings.models {
        let counted = |of: fn(&ResourceUse) -> Option<PerSecond>| {
            let all = found.each_known(|taken| of(taken).map(|rate| rate.0));
            all.map_or_else(|| "not counted here".to_owned(), |all| format!("{all:.0}/s"))
        };
        text += &format!(
            "{}: {:.2} cpus in softirqs, {:.2} stolen by the hypervisor; receive softirqs {:.0}/s, rescheduling \
             interrupts {}, moves of the plan's threads {}.\n",
            found.model,
            found.each(|taken| taken.softirq_cpus),
            found.each(|taken| taken.stolen_cpus),
            found.each(|taken| taken.receive_softirqs.0),
            counted(|taken| taken.rescheduling),
            counted(|taken| taken.migrations),
        );
    }
    text += &counted(findings);
    if findings.discarded > 0 {
        text += &format!(
            "{} runs were repeated because other programs, or the hypervisor, took too much cpu time; {} \
             disturbed runs are included nevertheless.\n",
            findings.discarded, findings.disturbed
        );
    }
    text
}

/// What the processor counted, and where the number of cycles comes from.
fn counted(findings: &VerificationFindings) -> String {
    let is_bits = findings.work.is_bits();
    let cycles = if is_bits { sentence(&findings.cycles.to_string()) + "\n" } else { String::new() };
    let table = if findings.coverage.is_any() {
        let of = |found: &ModelFindings| (found.model, CountedResults::from_fn(|event| found.counted(event)));
        let unit = if is_bits { "bit" } else { "unit of what the program says" };
        counts::table(unit, findings.models.iter().map(of)) + "\n"
    } else {
        String::new()
    };
    format!("{table}{cycles}{}\n", findings.coverage)
}

/// What is to be done about the plan: kept or taken back, by how much it changes what, and how much no plan differs
/// from itself.
fn decision(findings: &VerificationFindings) -> String {
    let (outcome, advice) = match findings.conclusion() {
        Conclusion::Gain if findings.kept => {
            ("Kept, because it brings a gain", "`warmcore host undo` takes it back")
        }
        Conclusion::Gain => {
            ("Taken back, although it brings a gain", "`warmcore host apply`, or --keep here, makes it stay")
        }
        Conclusion::Loss => ("Taken back, because it makes things worse", "do not apply it for this load"),
        Conclusion::Mixed => (
            "Taken back, because it does more work but takes more cpu time for it, or less of both",
            "whether that is a gain is for you to weigh",
        ),
        Conclusion::NotVisible => (
            "Taken back, because it is not decided: the change is not beyond what the same setting differs from itself",
            "more --blocks, a longer --time or a quieter machine show smaller ones",
        ),
        Conclusion::Disturbed => (
            "Taken back, because it is not decided: other programs disturbed most runs",
            "try it on a quieter machine, or give a larger --foreign if those programs are the load",
        ),
    };
    let changed = findings.of_plan().map(|(changes, _)| format!(": {}", changes_in_words(&changes)));
    let disturbed = match findings.disturbed {
        0 => String::new(),
        count => format!("; {count} of {} runs were disturbed by other programs", findings.runs),
    };
    format!(
        "{outcome}{}; the same setting tried twice (A/A): {}{disturbed}. {}",
        changed.unwrap_or_default(),
        changes_in_words(&findings.control),
        sentence(advice)
    )
}
