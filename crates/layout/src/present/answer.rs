//! The answer: a sentence, a few figures, what to do.

use super::words::{change, count, percent};
use crate::compare::{Comparison, Layout};
use crate::order::Strategy;
use crate::simulate::Summary;
use warmcore_record::document::{Action, KeyFigure};

/// The answer in two sentences.
pub(super) fn headline(comparison: &Comparison) -> String {
    let present = &comparison.present;
    let misses = &present.columns[0];
    let costs = format!(
        "The path executes {} instructions and waits for memory {:.2} cycles an instruction; {} of {} instruction misses \
         are lines that were there before.",
        count(present.instructions),
        present.mcpi(),
        count(misses.replacements),
        count(misses.misses),
    );
    match (comparison.best(), comparison.layouts.len()) {
        (Some(best), _) => format!("{costs} {}", gain(present, best)),
        (None, 0) => costs,
        (None, 1) => format!("{costs} The other layout that was tried takes no fewer cycles."),
        (None, tried) => {
            format!("{costs} None of the {tried} other layouts that were tried takes fewer cycles.")
        }
    }
}

/// What `best` would change.
fn gain(present: &Summary, best: &Layout) -> String {
    let (before, after) = (present.columns[0].replacements, best.summary.columns[0].replacements);
    let misses = match before.cmp(&after) {
        std::cmp::Ordering::Greater => format!("would remove {} of them", count(before - after)),
        std::cmp::Ordering::Equal => "would remove none of them".to_owned(),
        std::cmp::Ordering::Less => format!("would add {} to them", count(after - before)),
    };
    let fewer = 1.0 - best.summary.cycles().0 as f64 / present.cycles().0.max(1) as f64;
    format!("{} {misses}, and take {:.1}\u{202f}% fewer cycles.", best.strategy.subject(), 100.0 * fewer)
}

/// The figures that matter most.
pub(super) fn key_figures(comparison: &Comparison) -> Vec<KeyFigure> {
    let present = &comparison.present;
    let each = |cycles: u64| cycles as f64 / present.instructions.max(1) as f64;
    let misses = &present.columns[0];
    let mut figures = vec![
        figure(
            format!("{:.2}", present.mcpi()),
            format!(
                "cycles that an instruction waits for memory on average (mCPI): {:.2} for instructions, {:.2} for data",
                each(present.stalls.instructions.0),
                each(present.stalls.data.0)
            ),
        ),
        figure(
            format!("{:.2}", present.icpi()),
            "cycles that an instruction takes if memory never makes it wait (iCPI)".to_owned(),
        ),
        figure(
            format!("{} of {}", count(misses.replacements), count(misses.misses)),
            "instruction misses are replacement misses: the line had been there, and another displaced it. The others are \
             first misses; they go only if the code gets shorter or denser"
                .to_owned(),
        ),
        figure(
            percent(present.words.unused_part()),
            "of the words that came into the instruction cache were not executed before their line went".to_owned(),
        ),
    ];
    figures.extend(comparison.best().map(|best| {
        let text = format!("cycles in all with the best layout tried: {}", best.strategy);
        figure(change(best.summary.cycles().0, present.cycles().0), text)
    }));
    figures
}

fn figure(value: String, meaning: String) -> KeyFigure {
    KeyFigure { value, half_width: String::new(), meaning }
}

/// How the best layout gets into a program.
pub(super) fn actions(comparison: &Comparison) -> Vec<Action> {
    let Some(best) = comparison.best() else { return Vec::new() };
    let placed = matches!(best.strategy, Strategy::Bipartite | Strategy::Micro);
    let gaps = match placed && best.placement.gaps().0 > 0 {
        true => {
            " This layout has gaps; an order of symbols has none, so a part of the gain is lost unless the functions are \
             placed by a linker script."
        }
        false => "",
    };
    vec![Action {
        text: format!(
            "Compile each function into a section of its own and give the linker the order: {}.{gaps}",
            best.strategy
        ),
        commands: vec![
            "rustc -C link-arg=-fuse-ld=lld -C link-arg=-Wl,--symbol-ordering-file=order.txt …".to_owned(),
            "clang -ffunction-sections -fuse-ld=lld -Wl,--symbol-ordering-file=order.txt …".to_owned(),
        ],
    }]
}
