//! What the kernel's refusal of a value means, and what would be right.

use rustix::io::Errno;
use std::io;

/// Why a value was not taken.
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
    #[error("those cpus have no interrupt vector left (ENOSPC): name other or more cpus")]
    NoVectors,
    /// `EINVAL` or `EOVERFLOW`.
    #[error(
        "the kernel takes no such value ({0}): expected cpus that are online, not isolated, and in the cpuset of \
         the thread"
    )]
    Invalid(Errno),
    /// `ENOENT`, `ESRCH` or `ENODEV`.
    #[error("it is there no more ({0}): its device or process has vanished")]
    Vanished(Errno),
    /// Anything else.
    #[error("the system says: {0}")]
    Other(String),
}

impl Refusal {
    /// What `error`, met when a setting was read or written, means.
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
    fn refusals_are_told_apart_by_the_kernels_number() {
        for (number, told) in [
            (Errno::IO, "manages this interrupt"),
            (Errno::PERM, "no privilege"),
            (Errno::ACCESS, "no privilege"),
            (Errno::ROFS, "read-only"),
            (Errno::NOSPC, "no interrupt vector left"),
            (Errno::INVAL, "takes no such value"),
            (Errno::OVERFLOW, "takes no such value"),
            (Errno::NOENT, "vanished"),
            (Errno::SRCH, "vanished"),
            (Errno::BUSY, "the system says"),
        ] {
            let refusal = Refusal::from_error(&number.into()).to_string();
            assert!(refusal.contains(told), "{number}: {refusal}");
        }
        let nameless = io::Error::other("jammed");
        assert_eq!(Refusal::from_error(&nameless), Refusal::Other("jammed".to_owned()));
    }
}
