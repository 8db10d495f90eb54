//! Two programs that were measured.

use super::super::table;
use crate::visible::visible;
use std::ffi::OsString;
use warmcore_measure::programs::{ComparedPrograms, Figure, ProgramComparison};
use warmcore_stats::Spread;
use warmcore_stats::blocks::ChangeVerdict;

/// Both programs, the change, and what it amounts to.
pub(crate) fn compared(
    comparison: &ProgramComparison,
    compared: &ComparedPrograms,
    more_is_better: bool,
) -> String {
    let (figure, scale) = match comparison.figure {
        Figure::Time => ("time, ms", 1e3),
        Figure::LastNumber => ("last number", 1.0),
    };
    let mut table = table(["", figure, "change against before", "program"]);
    let spread = |of: &Spread| typical(&of.map(|value| value * scale));
    let none = || "–".to_owned();
    table.add_row(["before".to_owned(), spread(&compared.before), none(), line(&comparison.before)]);
    table.add_row([
        "before again (A/A)".to_owned(),
        none(),
        compared.control.to_string(),
        line(&comparison.before),
    ]);
    table.add_row([
        "after".to_owned(),
        spread(&compared.after),
        compared.change.to_string(),
        line(&comparison.after),
    ]);
    format!(
        "{table}\nGeometric means [least, greatest] of {} blocks, whose ratio is the change; changes with 95% intervals; {} is \
         better.\n{}\n{}\n",
        compared.before.0.len(),
        if more_is_better { "more" } else { "less" },
        disturbance(compared),
        verdict(compared, more_is_better)
    )
}

/// The mean that a change is of, and the extremes: medians might differ the other way.
fn typical(of: &Spread) -> String {
    let values = || of.0.iter().copied();
    let mean = (values().map(f64::ln).sum::<f64>() / of.0.len() as f64).exp();
    let [least, greatest] = [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)];
    format!("{mean:.3} [{least:.3}, {greatest:.3}]")
}

fn line(program: &[OsString]) -> String {
    let words: Vec<String> = program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    visible(words.join(" "))
}

fn disturbance(compared: &ComparedPrograms) -> String {
    let ComparedPrograms { discarded, disturbed, before, .. } = compared;
    format!(
        "{discarded} runs were repeated because other programs disturbed them; {disturbed} of {} included runs were still \
         disturbed.",
        3 * before.0.len()
    )
}

fn verdict(compared: &ComparedPrograms, more_is_better: bool) -> String {
    let percent = compared.change.mean.abs() * 100.0;
    let (more, less) = if more_is_better { ("better", "worse") } else { ("worse", "better") };
    match compared.verdict() {
        ChangeVerdict::More => format!("After is {more}: {percent:.1}% more than before."),
        ChangeVerdict::Less => format!("After is {less}: {percent:.1}% less than before."),
        ChangeVerdict::NotVisible => {
            let more = compared.smallest_visible();
            let [more, less] = [more, more / (1.0 + more)].map(|least| 100.0 * least);
            format!(
                "No change seen: only {more:.1}% more or {less:.1}% less would have been, beyond what before may differ from \
                 itself (A/A). A quieter machine, more --blocks or longer runs show smaller ones."
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_stats::paired::Change;

    #[test]
    fn what_is_better_depends_on_the_figure() {
        let change = |low: f64, high: f64| Change { mean: (low + high) / 2.0, low, high };
        let mut compared = ComparedPrograms {
            before: Spread(vec![1.0]),
            after: Spread(vec![1.3]),
            change: change(0.2, 0.4),
            control: change(-0.01, 0.01),
            discarded: 0,
            disturbed: 0,
        };
        assert_eq!(verdict(&compared, true), "After is better: 30.0% more than before.");
        assert_eq!(verdict(&compared, false), "After is worse: 30.0% more than before.");
        compared.control = change(0.01, 0.03);
        assert!(
            verdict(&compared, false).starts_with("After is worse"),
            "the change is far beyond what A/A shows"
        );
        compared.change = change(-0.1, 0.1);
        compared.control = change(-0.1, 0.1);
        assert!(
            verdict(&compared, false)
                .starts_with("No change seen: only 22.8% more or 18.6% less would have been"),
            "{}",
            verdict(&compared, false)
        );
    }

    /// Most blocks are a little slower afterwards, one is much faster.
    #[test]
    fn what_is_printed_beside_a_change_differs_as_it_does() {
        let [before, after] = [[1.0, 1.0, 4.0], [1.1, 1.1, 1.0]].map(|values| Spread(values.to_vec()));
        assert!(after.median() > before.median());
        assert_eq!([typical(&before), typical(&after)], ["1.587 [1.000, 4.000]", "1.066 [1.000, 1.100]"]);
    }
}
