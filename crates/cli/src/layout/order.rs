//! `warmcore layout order`.

mod link;

use super::{input, machine};
use crate::args::layout::{LinkerName, OrderArguments};
use crate::calibrate::existing;
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::layout::order::{Choice, predictions};
use crate::{folder, interrupt, messages, progress, terminal};
use miette::{WrapErr, miette};
use std::path::PathBuf;
use warmcore_layout::linker::{Listing, Sections, script, section_order, symbol_order};
use warmcore_layout::order::{Placement, Site, Strategy};
use warmcore_layout::own::OwnPart;
use warmcore_layout::predict::{PredictError, Predicted, Prediction};
use warmcore_layout::simulate::Setup;
use warmcore_layout::trace::Trace;
use warmcore_units::Bytes;

/// Compilers let functions begin at multiples of it.
const ALIGNMENT: Bytes = Bytes(16);

/// The largest object file that is read, in bytes.
const LONGEST_OBJECT: u64 = 1 << 30;

pub(super) fn run(arguments: &OrderArguments) -> miette::Result<()> {
    let inputs = [&arguments.trace].into_iter().chain(&arguments.objects).map(PathBuf::as_path);
    input::check_output(&arguments.output, arguments.force, &inputs.collect::<Vec<_>>())?;
    interrupt::end_at_once()?;
    let traced = input::trace(&arguments.trace)?;
    let own = OwnPart::new(&traced);
    let sections = sections(&arguments.objects, &traced)?;
    let machine::Simulated { setup, assumptions } = machine::simulated(&arguments.machine, &traced)?;
    let now = setup.run(&traced).map_err(|fault| machine::impossible(&fault))?;
    let all = all(&traced, &own, &setup)?;
    let is_script = arguments.linker == LinkerName::Script;
    let chosen = chosen(&all, arguments.strategy, is_script);
    let placement = &written(&all[chosen], is_script).placement;
    let listing = listing(arguments.linker, &traced, placement, &sections);
    if listing.text.is_empty() {
        return Err(nothing_to_move(&arguments.objects));
    }
    interrupt::finish_first(|| {
        folder::write(&arguments.output, listing.text.as_bytes(), existing(arguments.force))
    })?;
    let choice = Choice { all: &all, chosen, is_script, is_free: arguments.strategy.is_none() };
    let text = predictions(&now, &choice, &setup)
        + &link::how(arguments.linker, &arguments.output, &all[chosen])
        + &link::left_out(&listing, &own.left_out, arguments.objects.is_empty())
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
fn all(trace: &Trace, own: &OwnPart, setup: &Setup) -> miette::Result<Vec<Prediction>> {
    let site = Site::new(&setup.caches, own.base, ALIGNMENT).map_err(|fault| machine::impossible(&fault))?;
    let strategies = Strategy::LINKABLE;
    let bar = progress::bar("simulating");
    let mut all = Vec::new();
    for (done, &strategy) in strategies.iter().enumerate() {
        progress::set(&bar, done as f64 / strategies.len() as f64);
        messages::detail(format_args!("predicting {}", strategy.name()));
        all.push(Prediction::new(trace, &own.graph, strategy, setup, &site).map_err(refused)?);
    }
    bar.finish_and_clear();
    Ok(all)
}

fn refused(error: PredictError) -> miette::Report {
    match error {
        PredictError::Fault(fault) => machine::impossible(&fault),
        PredictError::Relocate(error) => miette!("{error}"),
    }
}

/// What is written of a prediction: the order alone, unless the form can have gaps.
fn written(prediction: &Prediction, is_script: bool) -> &Predicted {
    prediction.gaps.as_ref().filter(|_| is_script).unwrap_or(&prediction.order)
}

/// The place of the strategy that was asked for, or else of the one with the fewest cycles.
fn chosen(all: &[Prediction], asked_for: Option<Strategy>, is_script: bool) -> usize {
    let is_asked_for = |one: &Prediction| Some(one.strategy) == asked_for;
    let cycles = |&place: &usize| written(&all[place], is_script).summary.cycles();
    let fewest = || (0..all.len()).min_by_key(cycles).unwrap_or(0);
    all.iter().position(is_asked_for).unwrap_or_else(fewest)
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
