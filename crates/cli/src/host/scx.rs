//! `warmcore host scx`: the scheduler in the kernel.
//!
//! The program that loads it, `warmcore-scx`, is built apart, since that wants clang and libelf. It replaces this process, so
//! that whoever ends this process ends the scheduler.

use crate::args::sched::{Level, ScxCommand, StartArguments};
use crate::misuse::OrMisuse;
use miette::{IntoDiagnostic, miette};
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use warmcore_linux::sched_ext::{SchedExt, expect_free, sched_ext};

/// The program that loads the scheduler.
const LOADER: &str = "warmcore-scx";
/// Names it where it is neither beside this program nor on the path.
const VARIABLE: &str = "WARMCORE_SCX";

pub(super) fn run(command: &ScxCommand) -> miette::Result<()> {
    match command {
        ScxCommand::Start(arguments) => start(arguments),
        ScxCommand::Status => {
            let text = match sched_ext("/").into_diagnostic()? {
                SchedExt::Free => "no scheduler is loaded: the kernel's own schedules all tasks\n".to_owned(),
                SchedExt::Loaded(name) => format!("the scheduler `{name}` is loaded\n"),
            };
            crate::output::print(text.as_bytes())
        }
    }
}

fn start(arguments: &StartArguments) -> miette::Result<()> {
    let parameters = arguments.parameters();
    parameters.check().or_misuse()?;
    expect_free("/").into_diagnostic()?;
    let loader = loader().ok_or_else(|| {
        miette!(
            "`{LOADER}` is missing: expected it beside this program, on the path, or named by {VARIABLE}. It is built with \
             `cargo build --release --package warmcore-scx`, which wants clang 16 and libelf"
        )
    })?;
    let mut command = Command::new(&loader);
    command.args(parameters.to_string().split(' '));
    command.arg(format!("interval={}", arguments.interval.as_secs_f64()));
    if arguments.level == Level::Attached {
        command.arg("attach=yes");
    }
    if let Some(seconds) = arguments.seconds {
        command.arg(format!("seconds={}", seconds.as_secs_f64()));
    }
    if let Some(file) = &arguments.decisions {
        let mut word = OsString::from("decisions=");
        word.push(file);
        command.arg(word);
    }
    // Returns only if it fails.
    let error = command.exec();
    Err(miette!("cannot start `{}`: {error}", loader.display()))
}

fn loader() -> Option<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return Some(PathBuf::from(named));
    }
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(env::split_paths(&path));
    folders.map(|folder| folder.join(LOADER)).find(|file| file.is_file())
}
