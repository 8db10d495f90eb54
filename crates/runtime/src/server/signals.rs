//! SIGTERM, SIGINT and SIGHUP ask all serving servers of this process to stop. A second one, or one when nobody
//! serves, ends the process.

use super::error::ServerError;
use super::running::Event;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The exit status of a process that ended by a second signal: 128 plus the number of SIGINT.
const INTERRUPTED: i32 = 130;

static SERVING: Mutex<Vec<Sender<Event>>> = Mutex::new(Vec::new());

/// Sends [`Event::Signal`] when the next signal comes.
///
/// # Errors
/// If this process has another handler of these signals.
pub(super) fn tell(server: Sender<Event>) -> Result<(), ServerError> {
    static CAUGHT: OnceLock<Result<(), String>> = OnceLock::new();
    let caught = CAUGHT.get_or_init(|| ctrlc::set_handler(caught).map_err(|error| error.to_string()));
    caught.clone().map_err(ServerError::Signals)?;
    SERVING.lock().unwrap_or_else(PoisonError::into_inner).push(server);
    Ok(())
}

fn caught() {
    let serving = core::mem::take(&mut *SERVING.lock().unwrap_or_else(PoisonError::into_inner));
    let told = serving.iter().filter(|server| server.send(Event::Signal).is_ok()).count();
    if told == 0 {
        std::process::exit(INTERRUPTED);
    }
}
