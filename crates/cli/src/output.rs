//! Standard output: results, help and the version.

use crate::visible::visible_bytes;
use miette::Diagnostic;
use std::io::{self, Write};

/// Prints to standard output, with control characters escaped: names in documents and captures may hold some.
pub(crate) fn print(text: &[u8]) -> miette::Result<()> {
    let mut out = io::stdout().lock();
    Ok(out.write_all(&visible_bytes(text)).and_then(|()| out.flush()).map_err(PrintError)?)
}

/// Prints the help or the version that `asked` holds, in colour where it is asked for.
pub(crate) fn print_help(asked: &clap::Error) -> miette::Result<()> {
    Ok(asked.print().and_then(|()| io::stdout().flush()).map_err(PrintError)?)
}

/// Standard output cannot be written to. A type of its own, so that it is known again in a report.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub(crate) struct PrintError(#[source] pub(crate) io::Error);

impl Diagnostic for PrintError {}
