//! Standard output: results, help and the version.

use crate::visible::visible_bytes;
use miette::Diagnostic;
use std::fs::File;
use std::io::{self, Write};
use std::sync::OnceLock;

/// Where results go if not to standard output.
static INSTEAD: OnceLock<File> = OnceLock::new();

/// Lets results go to `file` from now on.
pub(crate) fn print_to(file: File) {
    let _ = INSTEAD.set(file);
}

/// Prints to standard output, with control characters escaped: names in documents and captures may hold some.
pub(crate) fn print(text: &[u8]) -> miette::Result<()> {
    let text = visible_bytes(text);
    let printed = match INSTEAD.get() {
        Some(file) => (&*file).write_all(&text),
        None => {
            let mut out = io::stdout().lock();
            out.write_all(&text).and_then(|()| out.flush())
        }
    };
    Ok(printed.map_err(PrintError)?)
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
