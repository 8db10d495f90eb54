//! `warmcore host`.

mod capture;
mod page;
mod picture;
mod plan;
mod show;
mod watch;
mod words;

use crate::args::host::HostCommand;
use crate::misuse::{OrMisuse, misuse};
use crate::tune;
use miette::WrapErr;
use std::fs;
use std::path::Path;
use warmcore_linux::Probe;

pub(crate) fn run(command: &HostCommand) -> miette::Result<()> {
    match command {
        HostCommand::Show(arguments) => show::run(arguments),
        HostCommand::Capture(arguments) => capture::run(arguments),
        HostCommand::Plan(arguments) => plan::run(arguments),
        HostCommand::Tune(command) => tune::run(command),
    }
}

/// A look at this machine, or at what is below `root`.
pub(crate) fn probe(root: Option<&Path>) -> miette::Result<Probe> {
    let Some(root) = root else { return Ok(Probe::new()) };
    let found = fs::metadata(root).or_misuse().wrap_err_with(|| format!("--root {}", root.display()))?;
    match found.is_dir() {
        true => Ok(Probe::new().root(root)),
        false => Err(misuse(format!("--root {}: it is no folder", root.display()))),
    }
}
