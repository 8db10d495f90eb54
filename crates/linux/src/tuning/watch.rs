//! Undoes changes unless they are confirmed in time, for users whom the changes might lock out of the
//! machine.
//!
//! The watcher is a separate process in its own session, so that it outlives the terminal and the process
//! that applies the plan. It needs nothing from them but the journal. It does not survive a reboot, but
//! neither do the changes.

use super::entries::Content;
use super::journal::JournalDirectory;
use super::journal_error::JournalError;
use super::system::Disk;
use super::undo::undo;
use super::undo_report::UndoReport;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often to check whether the changes were confirmed or undone.
const TICK: Duration = Duration::from_millis(200);

/// Leaves the session of the terminal, so that this process survives when the terminal is closed.
///
/// # Errors
/// If this process is the leader of a process group.
pub fn leave_session() -> std::io::Result<()> {
    rustix::process::setsid().map(drop).map_err(Into::into)
}

/// Waits for `limit`, then undoes the journal with this token. Returns `None` if it was confirmed or closed
/// meanwhile.
///
/// # Errors
/// If the journal cannot be read or closed.
pub fn watch(
    directory: &JournalDirectory,
    token: &str,
    limit: Duration,
) -> Result<Option<UndoReport>, JournalError> {
    let deadline = Instant::now() + limit;
    loop {
        let awaits = |content: &Content| content.head.token == token && !content.confirmed;
        let Some(content) = directory.active()?.filter(awaits) else { return Ok(None) };
        let left = deadline.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            sleep(left.min(TICK));
            continue;
        }
        let disk = Disk::below(&content.head.root);
        return match directory.open(&disk, true)? {
            Some(journal) if awaits(journal.content()) => undo(journal, false).map(Some),
            _ => Ok(None),
        };
    }
}
