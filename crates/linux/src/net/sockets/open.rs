//! Opening the sockets of a port.

use super::{PortError, PortOptions, Sharing};
use crate::net::PortProtocol;
use crate::net::kernel::set_option;
use crate::net::opening::{Choice, Opening, program};
use core::time::Duration;
use rustix::io::Errno;
use rustix::net::sockopt;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Opens one socket, or one for each worker. Returns them with their address.
pub(super) fn sockets(
    address: SocketAddr,
    sharing: &Sharing,
    workers: usize,
    options: PortOptions,
) -> Result<(SocketAddr, Vec<Arc<UdpSocket>>), PortError> {
    if let Sharing::Cpu { cpus } = sharing
        && cpus.len() != workers
    {
        return Err(PortError::Cpus { workers, cpus: cpus.len() });
    }
    let opening = Opening {
        protocol: PortProtocol::Udp,
        address,
        workers,
        choice: match sharing {
            Sharing::Fifo | Sharing::Lifo => None,
            Sharing::Hash => Some(Choice::Hash),
            Sharing::Flow { seed } | Sharing::Stealing { seed } => {
                Some(Choice::Program(program::by_flow(workers as u32, *seed)))
            }
            Sharing::Cpu { cpus } => Some(Choice::Program(program::by_cpu(cpus))),
        },
        descriptors: match sharing {
            // What they wait in.
            Sharing::Fifo | Sharing::Lifo => 3,
            // A bell for each, and what the watcher waits in.
            Sharing::Stealing { .. } => 2 * workers + 1,
            Sharing::Hash | Sharing::Flow { .. } | Sharing::Cpu { .. } => workers,
        },
        set_options: &|socket| set_options(socket, address, options),
    };
    let sockets = opening.sockets()?;
    let address = opening.local_address(&sockets[0])?;
    Ok((address, sockets.into_iter().map(|socket| Arc::new(socket.into())).collect()))
}

fn set_options(socket: &OwnedFd, address: SocketAddr, options: PortOptions) -> Result<(), Errno> {
    if let Some(bytes) = options.receive_buffer {
        // With the privilege beyond the system's limit, without it up to that.
        sockopt::set_socket_recv_buffer_size_force(socket, bytes)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(socket, bytes))?;
    }
    let timeout = options.send_timeout.max(Duration::from_micros(1));
    sockopt::set_socket_timeout(socket, sockopt::Timeout::Send, Some(timeout))?;
    let set = |level, option| set_option(socket, level, option, &1_i32);
    if options.stamped {
        set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)?;
    }
    match address.ip() {
        ip if !ip.is_unspecified() => Ok(()),
        ip if ip.is_ipv4() => set(libc::IPPROTO_IP, libc::IP_PKTINFO),
        _ => set(libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
    }
}
