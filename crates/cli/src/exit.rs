//! The exit statuses. With 1 the cause lies in the machine or in the work, with 2 in the command line.

use crate::interrupt::INTERRUPTED;
use crate::misuse::is_misuse;
use crate::output::PrintError;
use crate::{error_report, interrupt};
use std::io;
use std::process::ExitCode;

/// Done.
const DONE: u8 = 0;
/// The work failed, or came to no result.
pub(crate) const FAILED: u8 = 1;
/// The command line cannot be used; clap ends with it too.
const MISUSED: u8 = 2;

/// Every exit status and what it means, for the manual.
pub(crate) const STATUSES: [(u8, &str); 4] = [
    (0, "Done. Also when the reader of the output goes away, as `head` does."),
    (
        FAILED,
        "The work failed: the machine refused something, a file could not be written, or there is no result to \
         report.",
    ),
    (
        MISUSED,
        "Wrong usage, found before any work: an unknown or missing option, a value that cannot be used, an option \
         without effect, a file named on the command line that cannot be used, or results that exist already.",
    ),
    (
        INTERRUPTED,
        "Interrupted by Ctrl-C, a termination signal or a closed terminal. Files written so far are whole.",
    ),
];

/// The statuses as the end of a help text.
pub(crate) fn help() -> String {
    let lines = STATUSES.iter().map(|(status, meaning)| format!("\n  {status:<4} {meaning}"));
    format!("Exit status:{}", lines.collect::<String>())
}

/// Reports the error of `result` on standard error, if there is one, and gives the exit status.
pub(crate) fn report_and_status(result: miette::Result<()>) -> ExitCode {
    ExitCode::from(report(result))
}

/// The same, as a number.
pub(crate) fn report(result: miette::Result<()>) -> u8 {
    let Err(report) = result else { return DONE };
    if interrupt::requested() {
        interrupt::tell();
        return INTERRUPTED;
    }
    if is_closed_pipe(&report) {
        return DONE;
    }
    error_report::print(&report);
    if is_misuse(&report) { MISUSED } else { FAILED }
}

/// Reports `error` and ends the process at once: a thread of it does not end.
pub(crate) fn end_with(error: &miette::Report) {
    error_report::print(error);
    std::process::exit(i32::from(FAILED));
}

/// Whether the reader of our output went away, as `head` does; that is no error.
fn is_closed_pipe(report: &miette::Report) -> bool {
    let print = report.downcast_ref::<PrintError>();
    print.is_some_and(|PrintError(error)| error.kind() == io::ErrorKind::BrokenPipe)
}
