//! The flags of `host apply`, `host undo`, `host confirm` and `host persist`.

use super::applied::{AdmissionArguments, JournalArguments};
use super::quantity;
use super::verify::VerifyArguments;
use clap::{Args, Subcommand};
use core::time::Duration;
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum TuneCommand {
    /// Show what a plan would change; with --yes, change it
    ///
    /// A plan places interrupts, packets and threads together. The present values are written to a journal on the
    /// disk before anything is changed. Every new value is read back; if one is refused, all are undone. A plan
    /// of another machine is refused.
    Apply(ApplyArguments),

    /// Undo the changes of a plan
    ///
    /// Restores every value byte for byte, from any shell, and also after `apply` was killed. What others have
    /// changed since is reported and left alone.
    Undo(UndoArguments),

    /// Keep the changes of `apply --confirm-within`
    Confirm(JournalArguments),

    /// Print or write the files for systemd and udev that keep a plan over restarts and reloaded drivers
    ///
    /// A unit applies the plan at every start, a udev rule applies it again when a driver is loaded again, and a
    /// drop-in gives the cpus of placed threads to their service. Nothing is installed: every file is printed, or
    /// written into a new folder with --out.
    Persist(PersistArguments),

    /// Try a plan on a running workload: is the gain real?
    ///
    /// Runs in turn: nothing placed, only packets, only threads, and the whole plan (the four affinity
    /// models of Foong, Fung & Newell 2004); and nothing placed a second time, whose difference from the
    /// first is the noise floor (A/A). Every run's changes are undone. A gain counts only above the A/A
    /// difference.
    Verify(VerifyArguments),

    /// Take changes back unless they are confirmed in time; started by `apply`
    #[command(hide = true)]
    Watch(WatchArguments),
}

#[derive(Args, Debug)]
pub(crate) struct ApplyArguments {
    /// The plan
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,

    /// Make the changes, rather than only show them
    #[arg(long)]
    pub(crate) yes: bool,

    /// Undo everything unless `warmcore host confirm` is called within this time, such as 60s, even if this
    /// terminal is closed
    #[arg(long, value_name = "TIME", value_parser = quantity::duration, requires = "yes")]
    pub(crate) confirm_within: Option<Duration>,

    #[command(flatten)]
    pub(crate) admission: AdmissionArguments,

    /// Change the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR", requires = "journal")]
    pub(crate) root: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) journal: JournalArguments,
}

#[derive(Args, Debug)]
pub(crate) struct UndoArguments {
    /// Also restore what others have changed since
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) journal: JournalArguments,
}

#[derive(Args, Debug)]
pub(crate) struct PersistArguments {
    /// The plan
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,

    /// Write the files into this new folder, laid out as below `/`, and print the commands that install them
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) admission: AdmissionArguments,

    /// Look up processes and devices in the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct WatchArguments {
    /// The folder of the journal
    #[arg(long, value_name = "DIR")]
    pub(crate) journal: PathBuf,

    /// Which journal is meant
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: String,

    /// The time to wait
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) within: Duration,
}
