//! Explains why the kernel refused a value, and what to do.

use super::plan::Setting;
use rustix::io::Errno;
use std::io;

/// Why a value was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// `EIO` of an interrupt: the kernel places it itself, or its controller cannot move it.
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
    /// `ENOSPC` of an interrupt: the vectors of those cpus are used up.
    #[error("those cpus have no interrupt vector left (ENOSPC): use other or more cpus")]
    NoVectors,
    /// `ENOSPC` of a control group: its threads would have no cpu left.
    #[error(
        "threads of the control group would have no cpu left (ENOSPC): expected at least one cpu of its parent"
    )]
    NoCpus,
    /// `EINVAL` or `EOVERFLOW` where cpus are set.
    #[error(
        "the kernel does not accept this value ({0}): expected cpus that are online, not isolated, and in the cpuset of \
         the thread"
    )]
    Invalid(Errno),
    /// `EINVAL` or `EOVERFLOW` where channels are set.
    #[error(
        "the driver cannot have these channels ({0}): expected no more than `ethtool -l` shows, and no fewer than its RSS \
         table and filters use"
    )]
    InvalidChannels(Errno),
    /// `EINVAL` or `EOVERFLOW` where queues are set.
    #[error("the kernel does not accept these queues ({0}): expected queues that the interface has now")]
    InvalidQueues(Errno),
    /// `EINVAL` or `EOVERFLOW` where a number or a switch is set.
    #[error(
        "the kernel or the driver does not accept this number ({0}): expected one that it can have, or leave the line out"
    )]
    InvalidNumber(Errno),
    /// `ENOENT`, `ESRCH` or `ENODEV`.
    #[error("it no longer exists ({0}): its device or process has vanished")]
    Vanished(Errno),
    /// Anything else.
    #[error("the system reports: {0}")]
    Other(String),
}

impl Refusal {
    /// Explains an error from reading or writing `set`. One number means different things to different settings.
    #[must_use]
    pub fn from_error(error: &io::Error, set: &Setting) -> Self {
        let Some(number) = Errno::from_io_error(error) else { return Self::Other(error.to_string()) };
        match (number, set) {
            (Errno::IO, Setting::Interrupt { .. } | Setting::DefaultInterrupt { .. }) => Self::Unchangeable,
            (Errno::PERM | Errno::ACCESS, _) => Self::Privilege(number),
            (Errno::ROFS, _) => Self::ReadOnly,
            (Errno::NOSPC, Setting::Interrupt { .. }) => Self::NoVectors,
            (Errno::NOSPC, Setting::Cpuset { .. }) => Self::NoCpus,
            (Errno::INVAL | Errno::OVERFLOW, set) => Self::invalid(number, set),
            (Errno::NOENT | Errno::SRCH | Errno::NODEV, _) => Self::Vanished(number),
            _ => Self::Other(error.to_string()),
        }
    }

    const fn invalid(number: Errno, set: &Setting) -> Self {
        match set {
            Setting::Channels { .. } => Self::InvalidChannels(number),
            Setting::Indirection { .. } | Setting::XpsQueues { .. } => Self::InvalidQueues(number),
            Setting::RpsFlows { .. }
            | Setting::GlobalFlows { .. }
            | Setting::Ntuple { .. }
            | Setting::ThreadedNapi { .. } => Self::InvalidNumber(number),
            Setting::Interrupt { .. }
            | Setting::DefaultInterrupt { .. }
            | Setting::RpsCpus { .. }
            | Setting::XpsCpus { .. }
            | Setting::Thread { .. }
            | Setting::Cpuset { .. } => Self::Invalid(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(text: &str) -> Setting {
        toml::from_str::<toml::Table>(&format!("set = {{ {text} }}")).unwrap()["set"]
            .clone()
            .try_into()
            .unwrap()
    }

    const INTERRUPT: &str = "interrupt = { device = '0000:00:03.0', queue = 0, cpus = '0' }";
    const CHANNELS: &str = "channels = { interface = 'eth0', combined = 2 }";

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
            let refusal = Refusal::from_error(&number.into(), &setting(INTERRUPT)).to_string();
            assert!(refusal.contains(message), "{number}: {refusal}");
        }
        let unnumbered = io::Error::other("custom");
        let refusal = Refusal::from_error(&unnumbered, &setting(INTERRUPT));
        assert_eq!(refusal, Refusal::Other("custom".to_owned()));
    }

    #[test]
    fn a_number_means_what_it_means_to_the_setting() {
        for (set, number, message) in [
            (CHANNELS, Errno::INVAL, "no more than `ethtool -l` shows"),
            (CHANNELS, Errno::NOSPC, "the system reports: No space left"),
            (CHANNELS, Errno::IO, "the system reports"),
            (
                "indirection = { interface = 'eth0', queues = 2 }",
                Errno::INVAL,
                "queues that the interface has",
            ),
            ("rps_flows = { interface = 'eth0', queue = 0, flows = 2 }", Errno::INVAL, "this number"),
            ("ntuple = { interface = 'eth0', on = true }", Errno::INVAL, "this number"),
            ("rps_cpus = { interface = 'eth0', queue = 0, cpus = '1' }", Errno::NOSPC, "No space left"),
            (
                "rps_cpus = { interface = 'eth0', queue = 0, cpus = '1' }",
                Errno::INVAL,
                "cpus that are online",
            ),
            ("cpuset = { group = '/a', cpus = '1' }", Errno::NOSPC, "no cpu left"),
        ] {
            let refusal = Refusal::from_error(&number.into(), &setting(set)).to_string();
            assert!(refusal.contains(message), "{set}: {number}: {refusal}");
            assert!(!refusal.contains("vector"), "{set}: {number}: {refusal}");
        }
    }
}
