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
    let spread = |of: &Spread| format!("{:.3}", of.map(|value| value * scale));
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
        "{table}\nMedians [least, greatest] of {} blocks; changes with 95% intervals; {} is better.\n{}\n{}\n",
        compared.before.0.len(),
        if more_is_better { "more" } else { "less" },
        disturbance(compared),
        verdict(compared, more_is_better)
    )
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
            "No difference visible: the change is no larger than chance, or than before differs from itself.".to_owned()
        }
        ChangeVerdict::Unsound => {
            "No conclusion: before differs from itself (A/A). Try a quieter machine, more --blocks, or longer runs."
                .to_owned()
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
        assert!(verdict(&compared, false).starts_with("No conclusion"));
        compared.control = change(-0.5, 0.5);
        assert!(verdict(&compared, false).starts_with("No difference visible"));
    }
}
