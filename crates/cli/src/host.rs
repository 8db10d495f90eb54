//! `warmcore host`.

mod capture;
mod page;
mod plan;
mod show;
mod watch;
pub(crate) mod words;

use crate::args::host::HostCommand;
use crate::tune;
use std::path::PathBuf;
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
fn probe(root: Option<&PathBuf>) -> Probe {
    root.map_or_else(Probe::new, |root| Probe::new().root(root))
}
