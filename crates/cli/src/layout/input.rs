//! Reading a trace, and where a command may write.

use crate::calibrate::existing;
use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use miette::WrapErr;
use std::fs::{self, File};
use std::path::Path;
use warmcore_layout::trace::Trace;
use warmcore_record::atomic_file;

/// The longest trace, in bytes: ten million steps take some tens of megabytes.
const LONGEST: u64 = 4 << 30;

/// The trace in the file at `path`, with at least one step.
pub(super) fn trace(path: &Path) -> miette::Result<Trace> {
    messages::detail(format_args!("reading the trace {}", path.display()));
    let named = || path.display().to_string();
    warmcore_files::check(path, LONGEST).or_misuse().wrap_err_with(named)?;
    let file = File::open(path).or_misuse().wrap_err_with(named)?;
    let trace = Trace::read(file).or_misuse().wrap_err_with(named)?;
    if trace.steps().len() == 0 {
        return Err(misuse(format!(
            "{}: nothing was executed in the trace, expected a path",
            path.display()
        )));
    }
    Ok(trace)
}

/// Checks that the file at `output` can be written, and is none of `inputs`.
pub(super) fn check_output(output: &Path, force: bool, inputs: &[&Path]) -> miette::Result<()> {
    let resolved = |path: &Path| fs::canonicalize(path).ok();
    let is_output = |input: &&&Path| resolved(input).is_some_and(|input| resolved(output) == Some(input));
    if let Some(input) = inputs.iter().find(is_output) {
        let input = input.display();
        return Err(misuse(format!("--output is {input}, which is read: name another file")));
    }
    atomic_file::check(output, existing(force)).or_misuse()
}
