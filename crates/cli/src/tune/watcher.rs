//! The process that takes changes back when nobody confirms them.

use super::directory;
use crate::args::applied::JournalArguments;
use crate::args::tune::WatchArguments;
use core::time::Duration;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use warmcore_linux::tuning::{JournalDirectory, watch};

/// What it prints once the end of its terminal cannot end it any more.
const READY: &str = "ready";

/// Starts it, and waits until it is beyond the reach of this terminal.
pub(super) fn start(directory: &JournalDirectory, token: &str, limit: Duration) -> miette::Result<()> {
    let program = std::env::current_exe().into_diagnostic()?;
    let mut watcher = Command::new(program)
        .args(["host", "watch", "--token", token, "--within", &format!("{}ms", limit.as_millis())])
        .arg("--journal")
        .arg(directory.path())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .into_diagnostic()
        .wrap_err("cannot start the process that would take the changes back")?;
    let mut said = String::new();
    let output = watcher.stdout.take().map(BufReader::new);
    output.map(|mut output| output.read_line(&mut said)).transpose().into_diagnostic()?;
    if said.trim() == READY {
        return Ok(());
    }
    let status = watcher.wait().into_diagnostic()?;
    Err(miette!("the process that would take the changes back has ended ({status}): nothing was changed"))
}

/// `warmcore host watch`.
pub(super) fn run(arguments: &WatchArguments) -> miette::Result<()> {
    watch::leave_session().into_diagnostic().wrap_err("cannot leave the session of the terminal")?;
    let directory = directory(&JournalArguments { journal: Some(arguments.journal.clone()) })?;
    crate::output::print(format!("{READY}\n").as_bytes())?;
    watch::watch(&directory, &arguments.token, arguments.within).map(drop).into_diagnostic()
}
