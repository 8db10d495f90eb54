//! `warmcore host`.

mod capture;
mod driver;
mod findings;
mod inventory;
mod mismatch;
mod page;
mod picture;
mod plan;
mod scx;
mod show;
mod trace;
mod watch;
mod words;

use crate::args::host::HostCommand;
use crate::tune;

pub(crate) fn run(command: &HostCommand) -> miette::Result<()> {
    match command {
        HostCommand::Show(arguments) => show::run(arguments),
        HostCommand::Capture(arguments) => capture::run(arguments),
        HostCommand::Plan(arguments) => plan::run(arguments),
        HostCommand::Trace(arguments) => trace::run(arguments),
        HostCommand::Scx(command) => scx::run(command),
        HostCommand::Tune(command) => tune::run(command),
    }
}
