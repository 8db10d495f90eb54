//! Why a setting cannot be located.

use std::io;
use warmcore_units::Fault;

/// Why a setting cannot be located.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// Its device, interface, queue, process or thread does not exist.
    #[error(transparent)]
    Absent(#[from] Fault),
    /// A file that would show whether it exists cannot be read.
    #[error("cannot read `/{file}`: {source}")]
    Unreadable {
        /// The file, without the leading slash.
        file: String,
        /// The error of the system.
        source: io::Error,
    },
}
