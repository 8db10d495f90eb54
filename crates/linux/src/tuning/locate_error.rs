//! Why a setting cannot be found.

use std::io;
use warmcore_units::Fault;

/// A setting cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// What it is a setting of is not there.
    #[error(transparent)]
    Absent(#[from] Fault),
    /// It cannot be told whether it is there.
    #[error("cannot read `/{file}`: {source}")]
    Unreadable {
        /// The file, without the leading slash.
        file: String,
        /// What the system says.
        source: io::Error,
    },
}
