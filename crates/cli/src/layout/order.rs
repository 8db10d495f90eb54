//! `warmcore layout order`.

mod link;

use super::{ALIGNMENT, input, machine};
use crate::args::layout::{LinkerName, OrderArguments};
use crate::calibrate::existing;
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::layout::order::{Choice, predictions};
use crate::{folder, interrupt, messages, progress, terminal};
use miette::WrapErr;
use std::path::PathBuf;
use warmcore_layout::compare::{Comparison, Layout, Plan};
use warmcore_layout::linker::{Listing, Sections, script, section_order, symbol_order};
use warmcore_layout::movable::MovablePart;
use warmcore_layout::order::{Placement, Strategy};
use warmcore_layout::simulate::Setup;
use warmcore_layout::trace::Trace;
use warmcore_units::Bytes;

/// The largest object file that is read, in bytes.
const LONGEST_OBJECT: u64 = 1 << 30;

pub(super) fn run(arguments: &OrderArguments) -> miette::Result<()> {
    let inputs = [&arguments.trace].into_iter().chain(&arguments.objects).map(PathBuf::as_path);
    input::check_output(&arguments.output, arguments.force, &inputs.collect::<Vec<_>>())?;
    interrupt::end_at_once()?;
    let traced = input::trace(&arguments.trace)?;
    let movable = MovablePart::new(&traced);
    let sections = sections(&arguments.objects, &traced)?;
    let machine::Simulated { setup, assumptions } = machine::simulated(&arguments.machine, &traced)?;
    let comparison = compared(&traced, &movable, setup)?;
    let is_script = arguments.linker == LinkerName::Script;
    let chosen = chosen(&comparison.layouts, arguments.strategy, is_script);
    let layout = &comparison.layouts[chosen];
    let listing = listing(arguments.linker, &traced, &layout.placement, &sections);
    if listing.text.is_empty() {
        return Err(nothing_to_move(&arguments.objects));
    }
    interrupt::finish_first(|| {
        folder::write(&arguments.output, listing.text.as_bytes(), existing(arguments.force))
    })?;
    let choice = Choice { comparison: &comparison, chosen, is_free: arguments.strategy.is_none() };
    let text = predictions(&choice)
        + &link::how(arguments.linker, &arguments.output, gaps(&comparison.layouts, layout.strategy))
        + &link::left_out(&listing, &movable.left_out, arguments.objects.is_empty())
        + &terminal::layout::unnamed(&traced)
        + &terminal::layout::assumed(&assumptions);
    crate::output::print(text.as_bytes())
}

/// The sections of the objects; without objects every function of `trace` has one.
fn sections(objects: &[PathBuf], trace: &Trace) -> miette::Result<Sections> {
    let mut sections = Sections::new();
    if objects.is_empty() {
        trace.functions().iter().for_each(|function| sections.add(&format!(".text.{}", function.symbol)));
    }
    for path in objects {
        let named = || format!("--object {}", path.display());
        let bytes = warmcore_files::read(path, LONGEST_OBJECT).or_misuse().wrap_err_with(named)?;
        sections.add_object(&bytes).or_misuse().wrap_err_with(named)?;
    }
    Ok(sections)
}

/// Every order that a linker can make, predicted.
fn compared(trace: &Trace, movable: &MovablePart, setup: Setup) -> miette::Result<Comparison> {
    let plan = Plan {
        base: movable.base,
        alignment: ALIGNMENT,
        strategies: Strategy::LINKABLE.to_vec(),
        packs: true,
        ..Plan::new("", setup)
    };
    let bar = progress::bar("simulating");
    let comparison = plan.run(trace, &movable.graph, &mut |next, done| {
        messages::detail(format_args!("predicting {next}"));
        progress::set(&bar, done);
    });
    bar.finish_and_clear();
    comparison.map_err(machine::refused)
}

/// The place of the layout of the strategy that was asked for, or else of the one with the fewest cycles: the order alone, unless
/// the form can have gaps.
fn chosen(all: &[Layout], asked_for: Option<Strategy>, is_script: bool) -> usize {
    let written = |strategy: Strategy| {
        all.iter().rposition(|one| one.strategy == strategy && (is_script || one.gaps.is_none()))
    };
    let cycles = |&place: &usize| all[place].summary.cycles();
    let fewest = || Strategy::LINKABLE.into_iter().filter_map(written).min_by_key(cycles);
    asked_for.and_then(written).or_else(fewest).unwrap_or(0)
}

/// The gaps that a strategy wants.
fn gaps(all: &[Layout], strategy: Strategy) -> Bytes {
    all.iter().filter(|one| one.strategy == strategy).find_map(|one| one.gaps).unwrap_or_default()
}

fn listing(linker: LinkerName, trace: &Trace, placement: &Placement, sections: &Sections) -> Listing {
    match linker {
        LinkerName::Lld => symbol_order(trace, placement, sections),
        LinkerName::Gold => section_order(trace, placement, sections),
        LinkerName::Script => script(trace, placement, sections),
    }
}

fn nothing_to_move(objects: &[PathBuf]) -> miette::Report {
    if objects.is_empty() {
        return misuse(
            "the trace has no function of the program that a linker can move: trace a program with symbols",
        );
    }
    misuse(
        "--object: none of the traced functions has a section of its own there: compile with -ffunction-sections (rustc does)",
    )
}
