//! Taking changes back when nobody confirms them in time: for who might lock himself out of the
//! machine by them.
//!
//! The watcher is a process of its own, in a session of its own, so that it outlives the terminal
//! and the process that applies. It needs nothing from either: the journal says what to do. It does
//! not outlive a restart of the machine, and nor do the changes.

use super::entries::Content;
use super::journal::{JournalDirectory, JournalError};
use super::system::Disk;
use super::undo::{UndoReport, undo};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks at whether the changes were confirmed or taken back.
const TICK: Duration = Duration::from_millis(200);

/// Leaves the session of the terminal, so that its end does not end this process.
///
/// # Errors
/// If this process leads a group of processes.
pub fn leave_session() -> std::io::Result<()> {
    rustix::process::setsid().map(drop).map_err(Into::into)
}

/// Waits for `limit`, then takes back what the journal with this token says, unless it was confirmed
/// or closed; `None` then.
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
