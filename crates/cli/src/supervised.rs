//! A command that loads a user's handler library does its work in a child of its own, so that a library that crashes or never
//! returns ends that, and the user learns at which request.

use crate::args::served::{AskedRequests, ServedArguments};
use crate::args::{Arguments, Command};
use crate::interrupt::INTERRUPTED;
use crate::{error_report, exit, interrupt, output};
use miette::{IntoDiagnostic, WrapErr, miette};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;
use warmcore_linux::handler_library::{
    Call, CallRecord, Function, SupervisedEnd, is_supervised, supervise, take_stdout,
};

/// The longest that a call of a library may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Does `work`: in a child if it loads a library.
pub(crate) fn run(arguments: Arguments, work: impl FnOnce(Arguments) -> miette::Result<()>) -> ExitCode {
    let Some((served, out)) = library(&arguments) else { return exit::report_and_status(work(arguments)) };
    match is_supervised().into_diagnostic().wrap_err("cannot reach the process that watches this one") {
        Err(error) => exit::report_and_status(Err(error)),
        Ok(Some(record)) => {
            let status = match take_stdout().into_diagnostic().wrap_err("cannot use standard output") {
                Ok(own) => {
                    output::print_to(own.into());
                    exit::report(work(arguments))
                }
                Err(error) => exit::report(Err(error)),
            };
            record.done(status);
            ExitCode::from(status)
        }
        Ok(None) => watch(served, out).unwrap_or_else(|error| exit::report_and_status(Err(error))),
    }
}

/// The record of the library's calls. In a process that nobody watches, its own.
pub(crate) fn record() -> miette::Result<CallRecord> {
    let record = is_supervised().and_then(|record| record.map_or_else(CallRecord::private, Ok));
    record.into_diagnostic().wrap_err("cannot note the calls of the library")
}

/// What the command says of a library, and the folder that it writes into.
fn library(arguments: &Arguments) -> Option<(&ServedArguments, Option<&Path>)> {
    let (served, out) = match arguments.command.as_ref()? {
        Command::Run(arguments) => (&arguments.runnable.served, None),
        Command::Compare(arguments) => (&arguments.runnable.served, Some(&*arguments.out)),
        Command::Calibrate(arguments) => (&arguments.served, None),
        _ => return None,
    };
    served.handler.is_some().then_some((served, out))
}

fn watch(served: &ServedArguments, out: Option<&Path>) -> miette::Result<ExitCode> {
    let new = out.filter(|out| !out.exists());
    let stop = interrupt::catch()?;
    let ended =
        supervise(LIMIT, stop).into_diagnostic().wrap_err("cannot start the process for the library")?;
    let file = served.handler.as_deref().unwrap_or(Path::new("")).display();
    let error = match ended {
        SupervisedEnd::Done(INTERRUPTED) if !interrupt::requested() => miette!(
            "the process with the handler library `{file}` was told to stop by a signal that this command did not get; expected \
             that neither the library nor another process sends it one"
        ),
        SupervisedEnd::Done(code) => return Ok(ExitCode::from(code)),
        SupervisedEnd::Interrupted => {
            interrupt::tell();
            return Ok(ExitCode::from(INTERRUPTED));
        }
        SupervisedEnd::Stuck { call, least } => miette!(
            "the handler library `{file}` has not returned for {:.1} s {}, and was ended",
            least.as_secs_f64(),
            place(&call, served)
        ),
        SupervisedEnd::Crashed { status, calls } if calls.is_empty() => miette!(
            "the process with the handler library `{file}` ended ({}) outside of the library's calls; a thread or an exit \
             function of the library's may have done it, or another process",
            how(status)
        ),
        SupervisedEnd::Crashed { status, calls } => {
            let places: Vec<String> = calls.iter().map(|call| place(call, served)).collect();
            let which = if places.len() > 1 { "during one of the calls under way: " } else { "" };
            miette!(
                "the handler library `{file}` ended its process ({}) {which}{}",
                how(status),
                places.join(", or ")
            )
        }
    };
    // A folder that was made for results, and has none.
    new.map(fs::remove_dir);
    error_report::print(&error);
    Ok(ExitCode::from(exit::FAILED))
}

/// Where a library was.
fn place(call: &Call, served: &ServedArguments) -> String {
    let Call { worker, function, number } = call;
    let worker = worker.map_or_else(String::new, |worker| format!(" on worker {worker}"));
    let request = match (&served.requests, function) {
        (_, Function::Load | Function::Close) => String::new(),
        (Some(AskedRequests::Capture(file)), _) => {
            format!(", with request {} of {}", number + 1, file.display())
        }
        _ => format!(", with request {}", number + 1),
    };
    format!("{function}{worker}{request}")
}

fn how(status: ExitStatus) -> String {
    match status.signal() {
        Some(9) => "signal 9, SIGKILL: somebody killed it, or memory was short".to_owned(),
        _ => status.to_string(),
    }
}
