//! Why a port cannot be opened.

use crate::net::PortProtocol;
use rustix::io::Errno;
use std::net::SocketAddr;

/// Why a port cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PortError {
    /// Another socket has the port.
    #[error(
        "{protocol} port {address} is in use{}: end that program, or take another port",
        user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default()
    )]
    InUse {
        /// UDP or TCP.
        protocol: PortProtocol,
        /// The address asked for.
        address: SocketAddr,
        /// The program that has it, with its process number, if this process may know.
        user: Option<String>,
    },
    /// The port is reserved for privileged programs.
    #[error(
        "{protocol} port {address} needs a privilege: take a port from 1024 on, or give the program the capability \
         CAP_NET_BIND_SERVICE with `setcap`"
    )]
    Privilege {
        /// UDP or TCP.
        protocol: PortProtocol,
        /// The address asked for.
        address: SocketAddr,
    },
    /// No interface has the address.
    #[error("{address} is no address of this machine: take one that `ip address` shows, or 0.0.0.0 for all")]
    NotLocal {
        /// The address asked for.
        address: SocketAddr,
    },
    /// This process may open no more descriptors.
    #[error(
        "{workers} workers need {needed} descriptors, more than are left: raise the limit (`ulimit -n`) or have fewer workers"
    )]
    Descriptors {
        /// The number of workers.
        workers: usize,
        /// How many descriptors they need.
        needed: usize,
    },
    /// The kernel does not know an option.
    #[error("this kernel has no {option}: it needs Linux {since} for this sharing of a port")]
    Option {
        /// The option.
        option: &'static str,
        /// The first kernel that has it.
        since: &'static str,
    },
    /// No worker, or more than a program can tell apart.
    #[error("{workers} workers: expected 1 to {most}")]
    Workers {
        /// The number of workers.
        workers: usize,
        /// The most.
        most: usize,
    },
    /// Not every worker has a cpu.
    #[error("{cpus} cpus for {workers} workers: expected one for each")]
    Cpus {
        /// The number of workers.
        workers: usize,
        /// The number of cpus given.
        cpus: usize,
    },
    /// The kernel refused for another reason.
    #[error("{doing} {protocol} port {address} failed: {source}")]
    Kernel {
        /// UDP or TCP.
        protocol: PortProtocol,
        /// The operation.
        doing: &'static str,
        /// The address asked for.
        address: SocketAddr,
        /// The error of the kernel.
        source: Errno,
    },
}
