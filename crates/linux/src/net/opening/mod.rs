//! Opening the sockets of a port that workers share: one for all, or one for each of them (`SO_REUSEPORT`).
//!
//! Until all sockets of a port are bound, they let no packet in, so that a flow does not move while the port opens.

mod error;
mod port_user;
pub(super) mod program;

pub use error::PortError;

use super::PortProtocol;
use super::kernel::{attach, set_option};
use core::time::Duration;
use libc::sock_filter;
use port_user::port_user;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, listen, socket_with, sockopt};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::thread;

/// The most workers of a port.
pub(super) const MAX_WORKERS: usize = program::MAX_CPUS;

/// How often an address is tried that was ours a moment ago, and the time between.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(4);

/// Connections that may wait to be accepted. The kernel grants at most `net.core.somaxconn`, 4,096 as a rule.
const BACKLOG: i32 = 65_535;

/// What is to be opened.
pub(super) struct Opening<'a> {
    pub(super) protocol: PortProtocol,
    pub(super) address: SocketAddr,
    pub(super) workers: usize,
    /// How the sockets of workers are chosen; `None` if there is one for all.
    pub(super) choice: Option<Choice>,
    /// How many descriptors the workers need.
    pub(super) descriptors: usize,
    /// Sets a socket's options before it is bound.
    pub(super) set_options: &'a dyn Fn(&OwnedFd) -> Result<(), Errno>,
}

/// Who chooses among the sockets of a port.
pub(super) enum Choice {
    /// The kernel's hash of addresses and ports.
    Hash,
    /// A program.
    Program(Vec<sock_filter>),
}

impl Opening<'_> {
    /// Opens one socket, or one for each worker. Those of TCP listen.
    pub(super) fn sockets(&self) -> Result<Vec<OwnedFd>, PortError> {
        if self.workers == 0 || self.workers > MAX_WORKERS {
            return Err(PortError::Workers { workers: self.workers, most: MAX_WORKERS });
        }
        let Some(choice) = &self.choice else {
            let socket = self.socket(false)?;
            self.bind(&socket, self.address)?;
            self.listen(&socket)?;
            return Ok(vec![socket]);
        };
        // A port can be shared with other processes too, unnoticed. So it is taken alone first.
        let alone = self.socket(false)?;
        self.bind(&alone, self.address)?;
        let bound = self.local_address(&alone)?;
        drop(alone);
        let sockets: Vec<OwnedFd> = (0..self.workers).map(|_| self.socket(true)).collect::<Result<_, _>>()?;
        if let Choice::Program(program) = choice {
            // Before the first socket is bound: the others join it.
            attach(&sockets[0], libc::SO_ATTACH_REUSEPORT_CBPF, program)
                .map_err(self.option("SO_ATTACH_REUSEPORT_CBPF", "4.5"))?;
        }
        for socket in &sockets {
            self.bind_again(socket, bound)?;
        }
        for socket in &sockets {
            self.listen(socket)?;
        }
        for socket in &sockets {
            match set_option(socket, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0_i32) {
                // It was not attached.
                Err(Errno::NOENT) => {}
                detached => detached.map_err(self.failed("opening"))?,
            }
        }
        Ok(sockets)
    }

    /// The address asked for, with the port that `socket` got.
    pub(super) fn local_address(&self, socket: &OwnedFd) -> Result<SocketAddr, PortError> {
        let bound = rustix::net::getsockname(socket).map_err(self.failed("reading"))?;
        let bound = SocketAddr::try_from(bound).map_err(self.failed("reading"))?;
        let mut address = self.address;
        address.set_port(bound.port());
        Ok(address)
    }

    /// Creates a socket with its options; one of several is closed to packets.
    fn socket(&self, one_of_several: bool) -> Result<OwnedFd, PortError> {
        let family = if self.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let (kind, protocol) = match self.protocol {
            PortProtocol::Udp => (SocketType::DGRAM, ipproto::UDP),
            PortProtocol::Tcp => (SocketType::STREAM, ipproto::TCP),
        };
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(protocol))
            .map_err(self.failed("opening"))?;
        (self.set_options)(&socket).map_err(self.failed("setting up"))?;
        if one_of_several {
            sockopt::set_socket_reuseport(&socket, true).map_err(self.option("SO_REUSEPORT", "3.9"))?;
            match (shut(&socket), self.protocol) {
                // Listeners may not have it without privilege (Linux 6.18). Connections that come before all listen go to those
                // that do, and stay there.
                (Err(Errno::PERM), PortProtocol::Tcp) => {}
                (shut, _) => shut.map_err(self.failed("setting up"))?,
            }
        }
        Ok(socket)
    }

    fn bind(&self, socket: &OwnedFd, address: SocketAddr) -> Result<(), PortError> {
        bind(socket, &address).map_err(|error| self.not_bound(address, error))
    }

    fn not_bound(&self, address: SocketAddr, error: Errno) -> PortError {
        let protocol = self.protocol;
        match error {
            Errno::ADDRINUSE => PortError::InUse { protocol, address, user: port_user(protocol, address) },
            Errno::ACCESS => PortError::Privilege { protocol, address },
            Errno::ADDRNOTAVAIL => PortError::NotLocal { address },
            source => self.failed("binding")(source),
        }
    }

    /// Binds to an address that was ours a moment ago. A child that this process starts meanwhile has the socket that was closed
    /// too, until it becomes a program.
    fn bind_again(&self, socket: &OwnedFd, address: SocketAddr) -> Result<(), PortError> {
        for _ in 0..TRIES {
            match self.bind(socket, address) {
                Err(PortError::InUse { .. }) => thread::sleep(PAUSE),
                bound => return bound,
            }
        }
        self.bind(socket, address)
    }

    fn listen(&self, socket: &OwnedFd) -> Result<(), PortError> {
        match self.protocol {
            PortProtocol::Udp => Ok(()),
            // Another program may have begun to listen since this socket was bound.
            PortProtocol::Tcp => listen(socket, BACKLOG).map_err(|error| self.not_bound(self.address, error)),
        }
    }

    fn option(&self, option: &'static str, since: &'static str) -> impl Fn(Errno) -> PortError {
        let failed = self.failed("setting up");
        move |error| match error {
            Errno::NOPROTOOPT => PortError::Option { option, since },
            error => failed(error),
        }
    }

    /// The error of an operation, such as "opening".
    pub(super) fn failed(&self, doing: &'static str) -> impl Fn(Errno) -> PortError + use<> {
        let (protocol, address, workers) = (self.protocol, self.address, self.workers);
        let needed = self.descriptors;
        move |source| match source {
            Errno::MFILE | Errno::NFILE => PortError::Descriptors { workers, needed },
            source => PortError::Kernel { doing, protocol, address, source },
        }
    }
}

/// Lets no packet in at `socket` from now on.
pub(super) fn shut(socket: &impl std::os::fd::AsFd) -> Result<(), Errno> {
    attach(socket, libc::SO_ATTACH_FILTER, &program::nothing())
}
