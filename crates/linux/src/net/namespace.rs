//! Network namespaces, each with its own interfaces, addresses, routes and sockets.
//!
//! A socket always belongs to the namespace in which it was opened. Every namespace numbers its
//! interfaces independently.

use super::kernel;
use core::marker::PhantomData;
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;

/// A network namespace, held open by a descriptor. It has no name. The kernel removes it when this
/// descriptor, all sockets opened in it, and all threads and programs running in it are gone. So
/// nothing needs to be cleaned up, however the process ends.
#[derive(Debug)]
pub struct Namespace(OwnedFd);

/// A namespace cannot be created, opened or entered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot {doing} a network namespace: {source}; it needs CAP_SYS_ADMIN: run as root")]
pub struct NamespaceError {
    /// The operation, as a verb.
    pub doing: &'static str,
    /// The error of the kernel.
    pub source: Errno,
}

fn failed(doing: &'static str) -> impl Fn(Errno) -> NamespaceError {
    move |source| NamespaceError { doing, source }
}

impl Namespace {
    /// Creates a namespace with only a loopback interface, which is down. IPv6 is disabled, because its
    /// advertisements would disturb experiments.
    ///
    /// # Errors
    /// If the capability `CAP_SYS_ADMIN` is missing.
    pub fn new() -> Result<Self, NamespaceError> {
        // Created on a separate thread, so that no other thread leaves its namespace.
        thread::scope(|scope| scope.spawn(make).join()).unwrap_or(Err(failed("make")(Errno::CANCELED)))
    }

    /// Returns the namespace of the calling thread.
    ///
    /// # Errors
    /// If `/proc` is missing, or this process has too many descriptors open.
    pub fn current() -> Result<Self, NamespaceError> {
        let own = open("/proc/thread-self/ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        own.map(Self).map_err(failed("hold"))
    }

    /// Moves the calling thread into this namespace until the guard is dropped. Sockets that it opens
    /// meanwhile stay in this namespace. Several guards of one thread must be dropped in reverse order,
    /// as nested scopes do.
    ///
    /// # Errors
    /// If the capability `CAP_SYS_ADMIN` is missing, unless the thread is already in this namespace.
    pub fn enter(&self) -> Result<EnteredNamespace, NamespaceError> {
        let former = Self::current()?;
        let elsewhere = !self.is_same(&former);
        if elsewhere {
            self.move_into().map_err(failed("enter"))?;
        }
        Ok(EnteredNamespace { former: elsewhere.then_some(former), not_send: PhantomData })
    }

    /// Runs `work` in this namespace, on the calling thread.
    ///
    /// # Errors
    /// If the namespace cannot be [entered](Self::enter).
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, NamespaceError> {
        let _inside = self.enter()?;
        Ok(work())
    }

    /// The path by which other programs can enter it while this process runs, for example
    /// `nsenter --net=PATH ip address`.
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

/// Moves the calling thread into a new namespace and returns that. The thread must end soon after.
fn make() -> Result<Namespace, NamespaceError> {
    kernel::leave_network_namespace().map_err(failed("make"))?;
    for scope in ["all", "default"] {
        // Fails if the kernel has no IPv6, and then there is nothing to disable.
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"), "1");
    }
    Namespace::current()
}

/// Keeps the calling thread in a namespace until dropped.
#[derive(Debug)]
#[must_use = "the thread leaves the namespace as soon as the guard is dropped"]
pub struct EnteredNamespace {
    /// The previous namespace, if it is a different one.
    former: Option<Namespace>,
    /// A guard belongs to the thread that created it and must be dropped there.
    not_send: PhantomData<*const ()>,
}

impl Drop for EnteredNamespace {
    fn drop(&mut self) {
        // Fails only if the capability was dropped meanwhile. Continuing in the wrong namespace
        // would be worse than a panic, except while the thread is already panicking.
        if let Some(Err(error)) = self.former.as_ref().map(Namespace::move_into)
            && !thread::panicking()
        {
            panic!("cannot return to the former network namespace: {error}");
        }
    }
}
