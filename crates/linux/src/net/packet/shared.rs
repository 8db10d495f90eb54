//! Packet sockets among which the kernel shares an interface's frames as it shares a UDP port among sockets.

use super::{OPENING, PRIVILEGE, PacketOptions, PacketSocket};
use crate::net::opening::program;
use crate::net::sockets::Sharing;
use crate::net::{DeviceError, kernel};
use libc::{
    PACKET_FANOUT, PACKET_FANOUT_CBPF, PACKET_FANOUT_DATA, PACKET_FANOUT_FLAG_IGNORE_OUTGOING,
    PACKET_FANOUT_FLAG_UNIQUEID, PACKET_FANOUT_HASH, SOL_PACKET,
};
use rustix::io::Errno;

impl PacketSocket {
    /// Opens a socket for each of `workers` on the interface `name`, in a group of their own: each frame goes to one of
    /// them, which `sharing` chooses. Where all workers share one socket, it is one. None receives a frame before all
    /// are open, so that a flow does not move.
    ///
    /// # Errors
    /// As for [`open`](Self::open); or if the kernel has no groups with a number of its own choice (before Linux 4.12).
    pub fn open_shared(
        name: &str,
        options: &PacketOptions,
        sharing: &Sharing,
        workers: usize,
    ) -> Result<Vec<Self>, DeviceError> {
        let number = if sharing.is_one_socket() { 1 } else { workers };
        let sockets: Vec<Self> =
            (0..number).map(|_| Self::join(name, options)).collect::<Result<_, DeviceError>>()?;
        if number > 1 {
            let refused = DeviceError::from_kernel(OPENING, name, PRIVILEGE);
            form_group(&sockets, options, sharing).map_err(refused)?;
        }
        sockets.iter().try_for_each(|socket| socket.accept(options))?;
        Ok(sockets)
    }
}

/// Makes one group of all `sockets`.
fn form_group(sockets: &[PacketSocket], options: &PacketOptions, sharing: &Sharing) -> Result<(), Errno> {
    let program = match sharing {
        Sharing::Flow { seed } | Sharing::Stealing { seed } => {
            Some(program::by_flow(sockets.len() as u32, *seed))
        }
        Sharing::Cpu { cpus } => Some(program::by_cpu(cpus)),
        Sharing::Hash | Sharing::Fifo | Sharing::Lifo => None,
    };
    let mode = if program.is_some() { PACKET_FANOUT_CBPF } else { PACKET_FANOUT_HASH };
    // A group has its own hook, so it must also be told to ignore outgoing frames.
    let flags = if options.ignore_outgoing { PACKET_FANOUT_FLAG_IGNORE_OUTGOING } else { 0 };
    let mut group = 0;
    for (number, socket) in sockets.iter().enumerate() {
        // The first one has the kernel choose a number that no other group has.
        let unique = if number == 0 { PACKET_FANOUT_FLAG_UNIQUEID } else { 0 };
        let word = group | (mode | flags | unique) << 16;
        kernel::set_option(&socket.socket, SOL_PACKET, PACKET_FANOUT, &word)?;
        if number == 0 {
            group = kernel::packet_fanout(&socket.socket)? & 0xffff;
        }
    }
    if let (Some(program), [first, ..]) = (program, sockets) {
        kernel::set_program(&first.socket, SOL_PACKET, PACKET_FANOUT_DATA, &program)?;
    }
    Ok(())
}
