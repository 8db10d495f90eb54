//! Explains why the kernel refused a value, and what to do.

use rustix::io::Errno;
use std::io;

/// Why a value was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// `EIO`: the kernel places this interrupt itself, or its controller cannot move it.
    #[error(
        "it cannot be changed: the kernel manages this interrupt itself, or its controller cannot move it \
         (EIO); leave the line out"
    )]
    Unchangeable,
    /// `EPERM` or `EACCES`.
    #[error("no privilege to change it ({0}): run as root, or as the owner of the thread")]
    Privilege(Errno),
    /// `EROFS`: as in most containers.
    #[error("the file system is read-only here (EROFS), as in a container: apply the plan on the host")]
    ReadOnly,
    /// `ENOSPC`: the interrupt vectors of those cpus are used up.
    #[error("those cpus have no interrupt vector left (ENOSPC): use other or more cpus")]
    NoVectors,
    /// `EINVAL` or `EOVERFLOW`.
    #[error(
        "the kernel does not accept this value ({0}): expected cpus that are online, not isolated, and in the cpuset of \
         the thread; or numbers that the driver can have"
    )]
    Invalid(Errno),
    /// `ENOENT`, `ESRCH` or `ENODEV`.
    #[error("it no longer exists ({0}): its device or process has vanished")]
    Vanished(Errno),
    /// Anything else.
    #[error("the system reports: {0}")]
    Other(String),
}

impl Refusal {
    /// Explains an error from reading or writing a setting.
    #[must_use]
    pub fn from_error(error: &io::Error) -> Self {
        let Some(number) = Errno::from_io_error(error) else { return Self::Other(error.to_string()) };
        match number {
            Errno::IO => Self::Unchangeable,
            Errno::PERM | Errno::ACCESS => Self::Privilege(number),
            Errno::ROFS => Self::ReadOnly,
            Errno::NOSPC => Self::NoVectors,
            Errno::INVAL | Errno::OVERFLOW => Self::Invalid(number),
            Errno::NOENT | Errno::SRCH | Errno::NODEV => Self::Vanished(number),
            _ => Self::Other(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_recognised_by_the_error_number() {
        for (number, message) in [
            (Errno::IO, "manages this interrupt"),
            (Errno::PERM, "no privilege"),
            (Errno::ACCESS, "no privilege"),
            (Errno::ROFS, "read-only"),
            (Errno::NOSPC, "no interrupt vector left"),
            (Errno::INVAL, "does not accept this value"),
            (Errno::OVERFLOW, "does not accept this value"),
            (Errno::NOENT, "vanished"),
            (Errno::SRCH, "vanished"),
            (Errno::BUSY, "the system reports"),
        ] {
            let refusal = Refusal::from_error(&number.into()).to_string();
            assert!(refusal.contains(message), "{number}: {refusal}");
        }
        let unnumbered = io::Error::other("custom");
        assert_eq!(Refusal::from_error(&unnumbered), Refusal::Other("custom".to_owned()));
    }
}
