//! Why a program cannot be stepped, and what to do about it.

use super::End;
use crate::StopPoint;
use std::io;
use std::time::Duration;

/// Why no path was recorded.
#[derive(Debug, thiserror::Error)]
pub enum SteppingError {
    /// No program was named.
    #[error("the program is empty: give its name, and its arguments after it")]
    Unnamed,
    /// There is no such file.
    #[error("there is no program `{program}`: give a path, or a name that is found in PATH")]
    NoSuchProgram {
        /// As it was named.
        program: String,
    },
    /// The file cannot be executed.
    #[error(
        "`{program}` cannot be executed ({source}): give an x86-64 program with the permission to execute it"
    )]
    NotExecutable {
        /// As it was named.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
    /// Tracing is forbidden.
    #[error("`{program}` may not be traced ({source}): {advice}")]
    NotPermitted {
        /// As it was named.
        program: String,
        /// The error of the system.
        source: io::Error,
        /// What would permit it.
        advice: String,
    },
    /// It could not be started for another reason.
    #[error("cannot start `{program}`: {source}")]
    NotStarted {
        /// As it was named.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
    /// It ended before its first marker was reached, or was reached again.
    #[error("`{program}` ended ({end}) {}", before(*first, *paths, *last_came))]
    EndedBefore {
        /// As it was named.
        program: String,
        /// How it ended.
        end: End,
        /// The first marker.
        first: StopPoint,
        /// Whether the second marker had been reached.
        last_came: bool,
        /// How many paths there had been.
        paths: u64,
    },
    /// It ended after the first marker and before the second.
    #[error(
        "`{program}` ended ({end}) {steps} steps after the first marker, without reaching the second, {last}: give one that follows the first"
    )]
    EndedWithin {
        /// As it was named.
        program: String,
        /// How it ended.
        end: End,
        /// The second marker.
        last: StopPoint,
        /// Executed instructions since the first marker.
        steps: u64,
    },
    /// It reached the second marker only before the first.
    #[error(
        "`{program}` reached the second marker, {last}, before the first and not after it: exchange the two"
    )]
    WrongOrder {
        /// As it was named.
        program: String,
        /// The second marker.
        last: StopPoint,
    },
    /// The thread ended after the first marker and before the second, and the program goes on.
    #[error(
        "the thread that reached the first marker ended {steps} steps later without reaching the second, {last}: give one that the same thread reaches"
    )]
    ThreadEnded {
        /// The second marker.
        last: StopPoint,
        /// Executed instructions since the first marker.
        steps: u64,
    },
    /// The second marker did not come.
    #[error(
        "the second marker, {last}, was not reached within {steps} steps of the first: give one that follows sooner in the same thread, or permit more steps"
    )]
    NeverReached {
        /// The second marker.
        last: StopPoint,
        /// Executed instructions since the first marker.
        steps: u64,
    },
    /// The program became another one.
    #[error("`{program}` replaced itself by `{by}`: give that program itself")]
    Replaced {
        /// As it was named.
        program: String,
        /// The file that it executes now.
        by: String,
    },
    /// The program began anew.
    #[error(
        "`{program}` started itself anew in its place: give it the arguments and the environment with which it does not"
    )]
    Restarted {
        /// As it was named.
        program: String,
    },
    /// The time is up.
    #[error("`{program}` was ended after {:.1} s while {activity}: permit more time, or cause what it waits for", limit.as_secs_f64())]
    TimeLimit {
        /// As it was named.
        program: String,
        /// The time that was permitted.
        limit: Duration,
        /// What was waited for.
        activity: Activity,
    },
    /// It was to stop.
    #[error("interrupted: `{program}` was ended")]
    Stopped {
        /// As it was named.
        program: String,
    },
    /// A marker lies where the program has no memory.
    #[error(
        "no code of the program lies at {address:#x}: give a marker in it or in a library that it is linked to"
    )]
    Unmapped {
        /// Where.
        address: u64,
    },
    /// Stores cannot be watched.
    #[error(
        "stores to {size} bytes at {address:#x} cannot be watched ({source}): the processor watches 1, 2, 4 or 8 bytes at a multiple of their number, and some virtual machines none; a marker in code works everywhere"
    )]
    NotWatched {
        /// The first byte.
        address: u64,
        /// How many bytes.
        size: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// A call of the system failed.
    #[error("{call} failed: {source}")]
    System {
        /// Which call.
        call: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

/// What had not come when the program ended.
fn before(first: StopPoint, paths: u64, last_came: bool) -> String {
    match (paths, last_came) {
        (0, true) => format!(
            "before it reached the first marker, {first}; it did reach the second: are the markers in the wrong order?"
        ),
        (0, false) => {
            format!("before it reached the first marker, {first}: give a marker that it reaches")
        }
        (1, _) => format!("after one path, before it reached the first marker, {first}, again"),
        (paths, _) => format!("after {paths} paths, before it reached the first marker, {first}, again"),
    }
}

/// What a program was doing when its time was up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// It had not yet loaded its libraries.
    Starting,
    /// It ran and had not reached the first marker.
    Before(StopPoint),
    /// It was stepped and had not reached the second marker.
    Within {
        /// The second marker.
        last: StopPoint,
        /// Executed instructions since the first.
        steps: u64,
    },
    /// All paths were recorded, and it had not ended.
    Ending,
}

impl std::fmt::Display for Activity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Starting => f.write_str("it loaded its libraries"),
            Self::Before(first) => write!(f, "the first marker, {first}, was not reached"),
            Self::Within { last, steps } => {
                write!(
                    f,
                    "it was stepped, {steps} instructions after the first marker; the second, {last}, was not reached"
                )
            }
            Self::Ending => f.write_str("it went on after its last path"),
        }
    }
}
