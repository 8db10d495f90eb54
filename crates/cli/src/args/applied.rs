//! The flags of all commands that apply a plan: which plans are admitted, and where the journal is.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct AdmissionArguments {
    /// Apply though this program runs, which will change it again
    #[arg(long, value_name = "NAME")]
    pub(crate) despite: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct JournalArguments {
    /// The folder of the journal [default: /var/lib/warmcore for root, and for others warmcore in
    /// $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    pub(crate) journal: Option<PathBuf>,
}
