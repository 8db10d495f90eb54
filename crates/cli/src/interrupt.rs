//! Ctrl-C, SIGTERM and SIGHUP: they ask the command to stop in order, so that files are whole, changes are undone
//! and children have ended.

use crate::messages;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status of an interrupted process: 128 plus the number of SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Catches them from now on; the flag is set when one comes. A second one ends the process at once.
pub(crate) fn catch() -> miette::Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    })
    .into_diagnostic()
    .wrap_err("cannot catch Ctrl-C")?;
    Ok(&REQUESTED)
}

/// Whether the user asked to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// The end of an interrupted command whose finished points are kept, and how to go on.
pub(crate) fn resumable() -> miette::Report {
    messages::print("finished points are kept: the same command with --resume continues");
    miette!("interrupted")
}
