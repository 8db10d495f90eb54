//! The arguments of `warmcore host`.

use super::tune::TuneCommand;
use super::values;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Subcommand, Debug)]
pub(crate) enum HostCommand {
    /// Show who is on which cpu: interrupts, queues, steering, threads
    ///
    /// What is counted is counted since the machine started; with --watch, in the time between two
    /// looks. Nothing is changed, and nothing is read that tells this machine from others, such as
    /// addresses or the arguments of programs.
    Show(ShowArguments),

    /// Copy what `host show` reads, to be looked at elsewhere
    ///
    /// Writes the files that were read, and no other, into a new folder: `warmcore host show --root DIR`
    /// shows the same picture there. It is made to be attached to a bug report. Names of programs,
    /// interfaces and control groups are in it; addresses, serial numbers and arguments are not.
    Capture(CaptureArguments),

    #[command(flatten)]
    Tune(TuneCommand),
}

#[derive(Args, Debug)]
pub(crate) struct ShowArguments {
    /// Look at the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Print one JSON object instead of words; with --watch, one a line for each look
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the picture as a page that opens in a browser
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "watch"])]
    pub(crate) html: Option<PathBuf>,

    /// Overwrite an earlier page
    #[arg(long, requires = "html")]
    pub(crate) force: bool,

    /// Look again every so many seconds, until Ctrl-C, and show rates
    ///
    /// Looks come less often than asked for where they would take more than a hundredth of a cpu.
    #[arg(long, value_name = "SECONDS", value_parser = values::pause, conflicts_with = "root")]
    pub(crate) watch: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct CaptureArguments {
    /// The folder to write, which must not exist or be empty
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Copy the picture of the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}
