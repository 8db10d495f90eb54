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
    /// A plan places interrupts, packets and threads together. Nothing is changed before a journal
    /// of what is there now is on the disk; every value is read back; and if one of them is refused,
    /// all are taken back. A plan of another machine is refused.
    Apply(ApplyArguments),

    /// Take back what a plan has changed
    ///
    /// Every value becomes what it was before, byte for byte; also from another shell, and after
    /// `apply` was killed. What somebody else has changed since is told, and left alone.
    Undo(UndoArguments),

    /// Keep the changes of `apply --confirm-within`
    Confirm(JournalArguments),

    /// Print a systemd unit and a udev rule that apply a plan at every start
    ///
    /// Nothing is installed: both are printed, each with the name of its file.
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

    /// Change it, rather than only show what would be changed
    #[arg(long)]
    pub(crate) yes: bool,

    /// Take everything back unless `warmcore host confirm` is called within this time, such as 60s,
    /// whatever becomes of this terminal
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
    /// Restore also what somebody else has changed since
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

    #[command(flatten)]
    pub(crate) admission: AdmissionArguments,
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
