//! Network namespaces: interfaces, addresses, routes and sockets of their own.
//!
//! A socket belongs for good to the namespace its thread was in when it was opened, and the numbers
//! of interfaces mean something else in every namespace.

use super::kernel;
use core::marker::PhantomData;
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;

/// A network namespace, held by a descriptor. It has no name, and is gone when nothing is left of
/// it: this, the sockets opened in it, the threads and programs that run in it. So there is nothing
/// to remove, however the process ends.
#[derive(Debug)]
pub struct Namespace(OwnedFd);

/// A namespace cannot be made, held or entered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot {doing} a network namespace: {source}; it needs CAP_SYS_ADMIN: run as root")]
pub struct NamespaceError {
    /// What was done.
    pub doing: &'static str,
    /// What the kernel says.
    pub source: Errno,
}

fn failed(doing: &'static str) -> impl Fn(Errno) -> NamespaceError {
    move |source| NamespaceError { doing, source }
}

impl Namespace {
    /// A new one, empty but for a loopback interface that is down, and without IPv6, whose
    /// advertisements would come between the frames of an experiment.
    ///
    /// # Errors
    /// If the capability `CAP_SYS_ADMIN` is missing.
    pub fn new() -> Result<Self, NamespaceError> {
        // Made on a thread of its own, so that no other ever leaves its namespace.
        thread::scope(|scope| scope.spawn(make).join()).unwrap_or(Err(failed("make")(Errno::CANCELED)))
    }

    /// The calling thread's.
    ///
    /// # Errors
    /// If `/proc` is missing, or this process has too many descriptors open.
    pub fn current() -> Result<Self, NamespaceError> {
        let own = open("/proc/thread-self/ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        own.map(Self).map_err(failed("hold"))
    }

    /// Puts the calling thread into this namespace until the guard is dropped. What it opens there
    /// stays there. Guards of one thread end in the reverse of their order, as nested scopes do.
    ///
    /// # Errors
    /// If the capability `CAP_SYS_ADMIN` is missing and the thread is not in this namespace anyway.
    pub fn enter(&self) -> Result<Inside, NamespaceError> {
        let former = Self::current()?;
        let elsewhere = !self.is_same(&former);
        if elsewhere {
            self.move_into().map_err(failed("enter"))?;
        }
        Ok(Inside { former: elsewhere.then_some(former), not_send: PhantomData })
    }

    /// Runs `work` in this namespace, on the calling thread.
    ///
    /// # Errors
    /// If the namespace cannot be [entered](Self::enter).
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, NamespaceError> {
        let _inside = self.enter()?;
        Ok(work())
    }

    /// Where other programs find it, while this process runs: `nsenter --net=PATH ip address`
    /// looks inside.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    fn is_same(&self, other: &Self) -> bool {
        let identity = |namespace: &Self| fstat(&namespace.0).map(|status| (status.st_dev, status.st_ino));
        matches!((identity(self), identity(other)), (Ok(one), Ok(other)) if one == other)
    }

    fn move_into(&self) -> Result<(), Errno> {
        move_into_link_name_space(std::os::fd::AsFd::as_fd(&self.0), Some(LinkNameSpaceType::Network))
    }
}

/// Makes a namespace for the calling thread, which ends soon after.
fn make() -> Result<Namespace, NamespaceError> {
    kernel::leave_network_namespace().map_err(failed("make"))?;
    for scope in ["all", "default"] {
        // Where the kernel has no IPv6, there is nothing to switch off.
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"), "1");
    }
    Namespace::current()
}

/// The calling thread is in another namespace, until this is dropped.
#[derive(Debug)]
#[must_use = "the thread leaves the namespace as soon as the guard is dropped"]
pub struct Inside {
    /// Where it came from, if that is another one.
    former: Option<Namespace>,
    /// A guard is about the thread that made it, and must end there.
    not_send: PhantomData<*const ()>,
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Refused only if the capability was given up meanwhile. Going on in the wrong namespace
        // would be worse than stopping, but never while another panic is on its way.
        if let Some(Err(error)) = self.former.as_ref().map(Namespace::move_into)
            && !thread::panicking()
        {
            panic!("cannot return to the former network namespace: {error}");
        }
    }
}
