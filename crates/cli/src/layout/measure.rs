//! `warmcore layout measure`.

use crate::args::layout::{FigureName, MeasureArguments};
use crate::args::values::ProgramLine;
use crate::misuse::{OrMisuse, misuse};
use crate::transfer::usable_cpus;
use crate::{interrupt, messages, progress, terminal};
use miette::{IntoDiagnostic, WrapErr};
use std::ffi::OsString;
use warmcore_linux::Program;
use warmcore_measure::blocks::BlockDesign;
use warmcore_measure::programs::{Figure, ProgramComparison};

pub(super) fn run(arguments: &MeasureArguments) -> miette::Result<()> {
    let figure = match arguments.read {
        FigureName::Time if arguments.more_is_better => {
            return Err(misuse(
                "--more-is-better: a longer time is not better; compare a number with --read last-number",
            ));
        }
        FigureName::Time => Figure::Time,
        FigureName::LastNumber => Figure::LastNumber,
    };
    let comparison = ProgramComparison {
        before: found("before", &arguments.before)?,
        after: found("after", &arguments.after)?,
        figure,
        limit: arguments.time_limit,
        blocks: BlockDesign { count: arguments.blocks, ..BlockDesign::default() },
        cpus: usable_cpus()?,
    };
    let stop = interrupt::catch()?;
    let bar = progress::bar("measuring");
    let mut tell = |done: usize, of: usize| {
        messages::detail(format_args!("run {done} of {of} or more done"));
        progress::set(&bar, done as f64 / of as f64);
    };
    let compared = comparison.run(&mut tell, stop);
    bar.finish_and_clear();
    let compared = compared.into_diagnostic()?;
    let text = terminal::layout::measure::compared(&comparison, &compared, arguments.more_is_better);
    crate::output::print(text.as_bytes())
}

/// The words of `program`, which can be started.
fn found(flag: &str, program: &ProgramLine) -> miette::Result<Vec<OsString>> {
    let words: Vec<OsString> = program.iter().map(OsString::from).collect();
    Program::find(&words).or_misuse().wrap_err_with(|| format!("--{flag}"))?;
    Ok(words)
}
