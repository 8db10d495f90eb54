//! The answer: a sentence, a few figures, what to do.

use super::words::{change, count, percent};
use crate::compare::{Comparison, Layout};
use crate::order::Strategy;
use crate::simulate::Summary;
use warmcore_record::document::{Action, KeyFigure};

/// The answer in two sentences.
pub(super) fn headline(comparison: &Comparison) -> String {
    let sentences = [evicted(&comparison.present), gain(comparison)];
    sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether the path evicts its own code.
fn evicted(present: &Summary) -> String {
    let misses = &present.columns[0];
    match (misses.replacements, present.pairs_by_misses().is_empty()) {
        (0, true) => "Nothing is evicted.".to_owned(),
        (0, false) => "Nothing is evicted that is needed again.".to_owned(),
        (again, _) => format!(
            "{} of {} instruction misses are lines that had been there and were evicted.",
            count(again),
            count(misses.misses)
        ),
    }
}

/// What another layout fetches.
fn gain(comparison: &Comparison) -> String {
    if let Some(packing) = packing(comparison) {
        return packing;
    }
    match (comparison.best(), comparison.layouts.len()) {
        (Some(best), _) => fetches(&comparison.present, best),
        (None, 0) => String::new(),
        (None, 1) => "The other layout that was tried takes no fewer simulated cycles.".to_owned(),
        (None, tried) => {
            format!("None of the {tried} other layouts that were tried takes fewer simulated cycles.")
        }
    }
}

/// What packing brings, if it is all there is to gain: nothing is evicted and needed again, and every random order takes fewer
/// cycles than the present layout.
fn packing(comparison: &Comparison) -> Option<String> {
    let random = comparison.random_orders.as_ref().filter(|random| random.all_faster())?;
    let present = &comparison.present.columns[0];
    let best = comparison.best().map(|best| best.summary.columns[0].misses);
    let fetched = best.unwrap_or(random.misses.mean.round() as u64);
    let range = (random.misses.low, random.misses.high);
    if present.replacements > 0 || fetched >= present.misses || range.1 >= present.misses as f64 {
        return None;
    }
    // Orders are alike if they differ by less than half of what packing removes.
    let others = match range.1 - fetched as f64 <= (present.misses - fetched) as f64 / 2.0 {
        true => "any order of them does about that".to_owned(),
        false => format!("random orders of them fetch {:.0} to {:.0}", range.0, range.1),
    };
    Some(format!(
        "Packing the path's functions together fetches {} lines instead of {}; {others}.",
        count(fetched),
        count(present.misses)
    ))
}

/// What `best` fetches, and what it fetches again.
fn fetches(present: &Summary, best: &Layout) -> String {
    let (before, after) = (&present.columns[0], &best.summary.columns[0]);
    let lines = match before.misses == after.misses {
        true => "as many lines as now".to_owned(),
        false => format!("{} lines instead of {}", count(after.misses), count(before.misses)),
    };
    let again = match before.replacements == after.replacements {
        true => String::new(),
        false => format!(
            ", and evicts and fetches again {} instead of {}",
            count(after.replacements),
            count(before.replacements)
        ),
    };
    format!("{} fetches {lines}{again}.", best.strategy.subject())
}

/// The figures that matter most: three, which fill a row.
pub(super) fn key_figures(comparison: &Comparison) -> Vec<KeyFigure> {
    let present = &comparison.present;
    let best = comparison.best();
    let both = |of: fn(&Summary) -> u64| match best {
        Some(best) => format!("{} → {}", count(of(present)), count(of(&best.summary))),
        None => count(of(present)),
    };
    let layouts = best.map_or_else(String::new, |best| format!(", as it lies and {}", best.strategy));
    let lines = format!(
        "lines of code fetched{layouts}; {} are replacement misses. Packing makes the code denser: fewer first misses, too",
        both(|summary| summary.columns[0].replacements)
    );
    let pages = "pages of 4\u{202f}KiB with executed code; each needs a place in the instruction TLB, which is not simulated";
    vec![
        figure(both(|summary| summary.columns[0].misses), lines),
        figure(both(|summary| summary.path.pages), pages.to_owned()),
        match best {
            Some(best) => figure(
                change(best.summary.cycles().0, present.cycles().0),
                "of simulated cycles: a ranking aid, which puts layouts in an order and predicts no time"
                    .to_owned(),
            ),
            None => figure(
                percent(present.words.unused_part()),
                "of the words that came into the instruction cache were not executed before their line went"
                    .to_owned(),
            ),
        },
    ]
}

fn figure(value: String, meaning: String) -> KeyFigure {
    KeyFigure { value, half_width: String::new(), meaning }
}

/// How the best layout gets into a program, and how to find out whether it helps.
pub(super) fn actions(comparison: &Comparison) -> Vec<Action> {
    let ordered = comparison.best().into_iter().flat_map(|best| [write(best), link(best), measure()]);
    ordered.chain(split(&comparison.present)).collect()
}

fn write(best: &Layout) -> Action {
    let strategy = match Strategy::LINKABLE.contains(&best.strategy) {
        true => format!(" --strategy {}", best.strategy.name()),
        false => String::new(),
    };
    Action {
        text: format!("Write the order for the linker, here: {}.", best.strategy),
        commands: vec![format!("warmcore layout order TRACE{strategy} --output order.txt")],
    }
}

fn link(best: &Layout) -> Action {
    let placed = matches!(best.strategy, Strategy::Bipartite | Strategy::Micro);
    let gaps = match placed && best.placement.gaps().0 > 0 {
        true => {
            " This layout has gaps; an order of symbols has none, so a part of the gain is lost unless the functions are \
             placed by a linker script."
        }
        false => "",
    };
    Action {
        text: format!("Link with it, each function compiled into a section of its own.{gaps}"),
        commands: vec![
            "rustc -C link-arg=-fuse-ld=lld -C link-arg=-Wl,--symbol-ordering-file=order.txt …".to_owned(),
            "clang -ffunction-sections -fuse-ld=lld -Wl,--symbol-ordering-file=order.txt …".to_owned(),
        ],
    }
}

fn measure() -> Action {
    Action {
        text: "Measure it, both programs linked by the same linker: only that says whether time is saved."
            .to_owned(),
        commands: vec!["warmcore layout measure --before ./before --after ./after".to_owned()],
    }
}

/// What no order changes, if it is much.
fn split(present: &Summary) -> Option<Action> {
    /// A part of fetched words that is worth a compiler's effort.
    const MUCH: f64 = 0.25;
    let unused = present.words.unused_part();
    (unused > MUCH).then(|| Action {
        text: format!(
            "An order changes little within a function: {} of the words fetched were not executed. Splitting cold code from \
             hot code does, with a profile: PGO of the compiler, or BOLT.",
            percent(unused)
        ),
        commands: Vec::new(),
    })
}
