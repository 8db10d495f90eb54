//! Ctrl-C, SIGTERM and SIGHUP: they ask the command to stop in order, so that files are whole, changes are undone
//! and children have ended.

use crate::messages;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// The exit status of an interrupted process: 128 plus the number of SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether the process may be ended anywhere.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Catches them from now on; the flag is set when one comes. A second one ends the process at once.
pub(crate) fn catch() -> miette::Result<&'static Arc<AtomicBool>> {
    ctrlc::set_handler(|| {
        let is_second = REQUESTED.swap(true, Ordering::SeqCst);
        if AT_ONCE.load(Ordering::SeqCst) {
            tell();
        } else if !is_second {
            return;
        }
        std::process::exit(i32::from(INTERRUPTED));
    })
    .into_diagnostic()
    .wrap_err("cannot catch Ctrl-C")?;
    Ok(&REQUESTED)
}

/// Lets the first one end the process at once, from now on: for a command that leaves nothing behind.
pub(crate) fn end_at_once() -> miette::Result<()> {
    AT_ONCE.store(true, Ordering::SeqCst);
    catch().map(drop)
}

/// Does `work` to its end in a command that otherwise ends at once.
pub(crate) fn finish_first(work: impl FnOnce() -> miette::Result<()>) -> miette::Result<()> {
    AT_ONCE.store(false, Ordering::SeqCst);
    work()?;
    AT_ONCE.store(true, Ordering::SeqCst);
    if requested() { Err(miette!("interrupted")) } else { Ok(()) }
}

/// Says that the command was interrupted.
pub(crate) fn tell() {
    messages::print("interrupted; files written so far are whole");
}

/// Whether the user asked to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// The end of an interrupted command, of which what `is` says is kept, and how to go on.
pub(crate) fn resumable(is: impl Display) -> miette::Report {
    messages::print(format_args!("{is} kept: the same command with --resume continues"));
    miette!("interrupted")
}
