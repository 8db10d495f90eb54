//! The text for a terminal: layouts and functions, numbers first, so that long names disturb no column.

use super::layouts::PRESENT;
use super::study::Study;
use super::{code, lead, words};
use crate::simulate::Summary;
use std::fmt::Write;

/// Functions shown.
const FUNCTIONS: usize = 15;

/// `study` as tables of plain text, the answer first.
#[must_use]
pub fn text(study: &Study) -> String {
    let present = &study.present;
    let mut text = format!(
        "{}, on {}, {}\n\n{}\n\n",
        study.path,
        present.machine,
        words::start(study.setup.start),
        lead::headline(study)
    );
    text += &layouts(study);
    text += &luck(study);
    text += &functions(present);
    text
}

fn layouts(study: &Study) -> String {
    let mut text = " iCPI   mCPI    cycles  i-misses  replaced  unused  layout\n".to_owned();
    let others = study.others.iter().map(|layout| (layout.arrangement.name(), &layout.summary));
    for (name, summary) in std::iter::once((PRESENT.to_owned(), &study.present)).chain(others) {
        let misses = &summary.columns[0];
        line(
            &mut text,
            format_args!(
                "{:5.2}  {:5.2}  {:8}  {:8}  {:8}  {:4.1} %  {name}",
                summary.icpi(),
                summary.mcpi(),
                summary.cycles().0,
                misses.misses,
                misses.replacements,
                100.0 * summary.words.unused_part(),
            ),
        );
    }
    text
}

fn luck(study: &Study) -> String {
    let Some(luck) = &study.luck else { return String::new() };
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "       {:5.2}  {:8.0}  {:8.0}  {:8.0}          random, mean of {}",
            luck.mcpi.mean, luck.cycles.mean, luck.misses.mean, luck.replacements.mean, luck.orders
        ),
    );
    for (name, of) in
        [("low", (|spread| spread.low) as fn(&super::Spread) -> f64), ("high", |spread| spread.high)]
    {
        line(
            &mut text,
            format_args!(
                "       {:5.2}  {:8.0}  {:8.0}  {:8.0}          random, {name} end of {}",
                of(&luck.mcpi),
                of(&luck.cycles),
                of(&luck.misses),
                of(&luck.replacements),
                luck.range(),
            ),
        );
    }
    text
}

fn functions(present: &Summary) -> String {
    let mut text = "\nstalls  instr.  i-misses  replaced  unused  function, as it lies\n".to_owned();
    let functions = code::by_stalls(present);
    for of in functions.iter().take(FUNCTIONS) {
        let misses = of.figures.misses.first().copied().unwrap_or_default();
        line(
            &mut text,
            format_args!(
                "{:6}  {:6}  {:8}  {:8}  {:4.0} %  {}",
                of.figures.stalls.all().0,
                of.figures.instructions,
                misses.misses,
                misses.replacements,
                100.0 * of.figures.words.unused_part(),
                words::named(&of.name),
            ),
        );
    }
    if functions.len() > FUNCTIONS {
        line(&mut text, format_args!("… and {} more", functions.len() - FUNCTIONS));
    }
    text
}

/// Appends a line.
fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let written = writeln!(text, "{line}");
    debug_assert!(written.is_ok(), "a string takes whatever is written to it");
}
