//! Opening the sockets of a port.

use super::port_user::port_user;
use super::{Port, PortError, PortOptions, Sharing, kernel, program};
use core::time::Duration;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, socket_with, sockopt};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;

/// How often an address is tried that was ours a moment ago, and the time between.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(4);

/// Opens one socket, or one for each worker. Until all are bound, they let no datagram in.
pub(super) fn sockets(
    address: SocketAddr,
    sharing: &Sharing,
    workers: usize,
    options: PortOptions,
) -> Result<Vec<Arc<UdpSocket>>, PortError> {
    if workers == 0 || workers > Port::MAX_WORKERS {
        return Err(PortError::Workers { workers, most: Port::MAX_WORKERS });
    }
    if let Sharing::Cpu { cpus } = sharing
        && cpus.len() != workers
    {
        return Err(PortError::Cpus { workers, cpus: cpus.len() });
    }
    let opening = Opening { address, sharing, workers, options };
    if sharing.is_one_socket() {
        let socket = opening.socket(false)?;
        opening.bind(&socket, address)?;
        return Ok(vec![Arc::new(socket.into())]);
    }
    // A port can be shared with other processes too, unnoticed. So it is taken alone first.
    let alone = opening.socket(false)?;
    opening.bind(&alone, address)?;
    let alone = UdpSocket::from(alone);
    let bound = alone.local_addr().map_or(address, |bound| SocketAddr::new(address.ip(), bound.port()));
    drop(alone);
    let sockets: Vec<OwnedFd> = (0..workers).map(|_| opening.socket(true)).collect::<Result<_, _>>()?;
    opening.attach_program(&sockets[0])?;
    for socket in &sockets {
        opening.bind_again(socket, SocketAddr::new(address.ip(), bound.port()))?;
    }
    for socket in &sockets {
        super::super::kernel::set_option(socket, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0_i32)
            .map_err(opening.failed("opening"))?;
    }
    Ok(sockets.into_iter().map(|socket| Arc::new(socket.into())).collect())
}

/// What is being opened.
struct Opening<'a> {
    address: SocketAddr,
    sharing: &'a Sharing,
    workers: usize,
    options: PortOptions,
}

impl Opening<'_> {
    /// Creates a socket with its options; one of several is closed to datagrams.
    fn socket(&self, one_of_several: bool) -> Result<OwnedFd, PortError> {
        let family = if self.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(ipproto::UDP))
            .map_err(self.failed("opening"))?;
        self.set_options(&socket).map_err(self.failed("setting up"))?;
        if one_of_several {
            sockopt::set_socket_reuseport(&socket, true).map_err(self.option("SO_REUSEPORT", "3.9"))?;
            kernel::attach(&socket, libc::SO_ATTACH_FILTER, &program::nothing())
                .map_err(self.failed("setting up"))?;
        }
        Ok(socket)
    }

    fn set_options(&self, socket: &OwnedFd) -> Result<(), Errno> {
        if let Some(bytes) = self.options.receive_buffer {
            // With the privilege beyond the system's limit, without it up to that.
            sockopt::set_socket_recv_buffer_size_force(socket, bytes)
                .or_else(|_| sockopt::set_socket_recv_buffer_size(socket, bytes))?;
        }
        let timeout = self.options.send_timeout.max(Duration::from_micros(1));
        sockopt::set_socket_timeout(socket, sockopt::Timeout::Send, Some(timeout))?;
        let set = |level, option| super::super::kernel::set_option(socket.as_fd(), level, option, &1_i32);
        if self.options.stamped {
            set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)?;
        }
        match self.address.ip() {
            ip if !ip.is_unspecified() => Ok(()),
            ip if ip.is_ipv4() => set(libc::IPPROTO_IP, libc::IP_PKTINFO),
            _ => set(libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
        }
    }

    /// Attaches the program to the first socket before it is bound: the others join it.
    fn attach_program(&self, socket: &OwnedFd) -> Result<(), PortError> {
        let program = match self.sharing {
            Sharing::Fifo | Sharing::Lifo | Sharing::Hash => return Ok(()),
            Sharing::Flow { seed } | Sharing::Stealing { seed } => {
                let workers = self.workers as u32;
                program::by_flow(workers, workers, *seed)
            }
            Sharing::Cpu { cpus } => program::by_cpu(cpus),
        };
        kernel::attach(socket, libc::SO_ATTACH_REUSEPORT_CBPF, &program)
            .map_err(self.option("SO_ATTACH_REUSEPORT_CBPF", "4.5"))
    }

    fn bind(&self, socket: &OwnedFd, address: SocketAddr) -> Result<(), PortError> {
        bind(socket, &address).map_err(|error| match error {
            Errno::ADDRINUSE => PortError::InUse { address, user: port_user(address) },
            Errno::ACCESS => PortError::Privilege { address },
            Errno::ADDRNOTAVAIL => PortError::NotLocal { address },
            source => self.failed("binding")(source),
        })
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

    fn option(&self, option: &'static str, since: &'static str) -> impl Fn(Errno) -> PortError {
        let failed = self.failed("setting up");
        move |error| match error {
            Errno::NOPROTOOPT => PortError::Option { option, since },
            error => failed(error),
        }
    }

    fn failed(&self, doing: &'static str) -> impl Fn(Errno) -> PortError + use<> {
        let (address, workers) = (self.address, self.workers);
        // The socket of each worker, and what one of them needs for a moment.
        let needed = match self.sharing {
            Sharing::Fifo | Sharing::Lifo => 3,
            // A bell for each, and the epoll instance.
            Sharing::Stealing { .. } => 2 * workers + 1,
            Sharing::Hash | Sharing::Flow { .. } | Sharing::Cpu { .. } => workers,
        };
        move |source| match source {
            Errno::MFILE | Errno::NFILE => PortError::Descriptors { workers, needed },
            source => PortError::Kernel { doing, address, source },
        }
    }
}
