//! A user namespace of our own, in which a process without privilege may build a [`lab`](super::lab) (user_namespaces(7)).
//!
//! The process keeps its user and group, so what it writes is its user's. It gets the capabilities that a lab needs, and
//! programs that it starts get them too (ambient capabilities). They count for networks made inside alone, and the kernel
//! lets only the machine's own administrator [steer](super::Namespace::steer) packets.
//!
//! A thread that entered a namespace of a lab may return only to one that was made inside as well. So the process leaves
//! the machine's network for an empty one, which has a loopback interface that is up. Both end with the last process in
//! them.
//!
//! A process with several threads cannot enter one, and one that has entered cannot go back. So a child tries every step
//! first.
//!
//! `unsafe` here is the call between fork and exec, where the child tries.

use super::{interface, kernel, privilege_missing};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// What a lab needs, and `ip` that builds it.
const NEEDED: [CapabilitySet; 3] =
    [CapabilitySet::NET_ADMIN, CapabilitySet::NET_RAW, CapabilitySet::SYS_ADMIN];

/// Why this process could not enter a user namespace of its own.
static REFUSED: OnceLock<UserNamespaceError> = OnceLock::new();

/// Why this process has no user namespace of its own.
#[derive(Debug, thiserror::Error)]
pub enum UserNamespaceError {
    /// It has capabilities that it would lose.
    #[error(
        "a user namespace of its own would take the capabilities from this process that it has; expected all of them \
         or none"
    )]
    Privileged,
    /// As many as are allowed exist, or none is allowed.
    #[error("no more user namespaces are allowed; the sysctl user.max_user_namespaces says how many")]
    TooMany,
    /// Something forbids it.
    #[error(
        "a user namespace of its own is refused ({0}); the sysctls kernel.unprivileged_userns_clone and \
         kernel.apparmor_restrict_unprivileged_userns or the container may forbid it"
    )]
    Refused(io::Error),
}

impl From<io::Error> for UserNamespaceError {
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::NOSPC | Errno::USERS) => Self::TooMany,
            _ => Self::Refused(error),
        }
    }
}

/// Lets this process build a [`lab`](super::lab): enters a user namespace of its own if it has no privilege. Where that
/// is impossible, the process goes on as it was, and [`lab_obstacle`] says why. In such a namespace the process has no
/// network but those that it makes, and its own loopback interface.
///
/// To be called before the process starts a thread.
pub fn obtain_lab_privilege() {
    if privilege_missing().is_none() {
        return;
    }
    if let Err(error) = enter() {
        // Who asks twice gets the first answer.
        let _ = REFUSED.set(error);
    }
}

/// What keeps this process from building a [`lab`](super::lab), as a sentence without its end; `None` if nothing does.
#[must_use]
pub fn lab_obstacle() -> Option<String> {
    let missing = privilege_missing()?;
    let refused = REFUSED.get().map_or_else(String::new, |error| format!(", and {error}"));
    Some(format!("network namespaces need {missing}{refused}"))
}

fn enter() -> Result<(), UserNamespaceError> {
    let held = capabilities(None).map_err(io::Error::from)?;
    if !held.effective.is_empty() {
        return Err(UserNamespaceError::Privileged);
    }
    let identity = Identity::own();
    try_in_a_child(identity.clone())?;
    Ok(identity.enter()?)
}

/// The user and group of this process, as the maps of a user namespace have them: they stay the same inside.
#[derive(Clone, Debug)]
struct Identity {
    user: String,
    group: String,
}

impl Identity {
    fn own() -> Self {
        let same = |number: u32| format!("{number} {number} 1");
        Self { user: same(geteuid().as_raw()), group: same(getegid().as_raw()) }
    }

    /// Moves this process, which has one thread, into a new user namespace and a new network.
    fn enter(&self) -> io::Result<()> {
        kernel::leave_user_namespace()?;
        // Without this, the kernel accepts no map of groups from an unprivileged process.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", &self.user)?;
        fs::write("/proc/self/gid_map", &self.group)?;
        share_with_programs()?;
        kernel::leave_network_namespace()?;
        Ok(interface::bring_loopback_up()?)
    }
}

/// Lets programs that this process starts have the capabilities too. It gives up the rest: the kernel lets `ip` look up a
/// namespace among the files of this process only if it has all capabilities that this process has.
fn share_with_programs() -> io::Result<()> {
    let needed: CapabilitySet = NEEDED.into_iter().collect();
    set_capabilities(None, CapabilitySets { effective: needed, permitted: needed, inheritable: needed })?;
    for capability in NEEDED {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Does so in a child that ends then.
fn try_in_a_child(identity: Identity) -> io::Result<()> {
    let mut command = Command::new("/proc/self/exe");
    let attempt = move || identity.enter().map(|()| kernel::end_process(0));
    // SAFETY: the closure runs in the child after the fork. It writes files and makes system calls; it takes no memory
    // and no lock, and it never returns but with an error of the system.
    unsafe { command.pre_exec(attempt) };
    // An error of the closure is the error here.
    command.spawn()?.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_may_be_in_the_way() {
        let of = |errno: Errno| UserNamespaceError::from(io::Error::from(errno)).to_string();
        assert!(of(Errno::NOSPC).contains("user.max_user_namespaces"));
        assert!(of(Errno::PERM).contains("apparmor") && of(Errno::PERM).contains("not permitted"));
    }
}
