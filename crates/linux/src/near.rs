//! Keeps a thread near the cpu that receives its packets, for programs that place their own threads.
//!
//! The data that the protocol writes for a socket is in the caches of the cpu that receives its packets. A
//! reader on that core, or at least one that shares its last-level cache, finds it there. The receiving cpu
//! depends on the queue that the NIC's hash selects for the connection, and on RPS and RFS. The kernel
//! reports it for a socket once a packet has arrived (`SO_INCOMING_CPU`, `socket(7)`).

use crate::affinity::{self, AffinityError};
use rustix::io::Errno;
use rustix::net::sockopt::socket_incoming_cpu;
use std::os::fd::AsFd;
use warmcore_topology::{CpuSet, Machine, Within};
use warmcore_units::CpuId;

/// Why a thread could not be placed near its packets.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NearError {
    /// The kernel does not answer for this descriptor.
    #[error("cannot ask which cpu receives its packets: {0}; expected an open socket")]
    Socket(Errno),
    /// No packet has arrived yet.
    #[error(
        "no packet has arrived yet, so the receiving cpu is unknown: expected a TCP connection, or a connected \
         UDP socket, that has received something"
    )]
    NoPacketYet,
    /// The thread may use none of the near cpus.
    #[error(
        "cpu {cpu} receives the packets, but this thread may use none of the cpus near it ({near}), only {allowed}"
    )]
    NoneAllowed {
        /// The cpu that receives the packets.
        cpu: CpuId,
        /// The cpus near it.
        near: CpuSet,
        /// The cpus that the thread may use.
        allowed: CpuSet,
    },
    /// The affinity mask cannot be read or set.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
}

/// Returns the cpu that received the last packet for `socket`; `None` before the first packet, and for
/// sockets without this information, such as unconnected UDP sockets.
///
/// # Errors
/// If the descriptor is not a socket.
pub fn receiving_cpu(socket: impl AsFd) -> Result<Option<CpuId>, NearError> {
    // The kernel writes -1 for none.
    let cpu = socket_incoming_cpu(socket).map_err(NearError::Socket)?;
    Ok(i32::try_from(cpu).is_ok().then_some(CpuId(cpu)))
}

/// Restricts this thread to the usable cpus that share `within` with the cpu that receives the packets of
/// `socket`. The thread is on one of them when this returns. To release the thread later, save
/// [`affinity::mask`] first. The receiving cpu changes when interrupts or packet steering are changed:
/// call this again then.
///
/// # Errors
/// If no packet has arrived yet, or this process may use none of those cpus.
pub fn stay_near(socket: impl AsFd, within: Within, machine: &Machine) -> Result<CpuSet, NearError> {
    let cpu = receiving_cpu(socket)?.ok_or(NearError::NoPacketYet)?;
    let (near, allowed) = (machine.around(cpu, within), affinity::mask()?);
    let cpus = near.intersection(&allowed);
    if cpus.is_empty() {
        return Err(NearError::NoneAllowed { cpu, near, allowed });
    }
    affinity::set_mask(&cpus)?;
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Probe, current_cpu, pin_to};
    use std::fs::File;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};

    /// A local connection, over which a byte was received.
    fn connection() -> [TcpStream; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut far = listener.accept().unwrap().0;
        near.write_all(b"x").unwrap();
        far.read_exact(&mut [0]).unwrap();
        [near, far]
    }

    #[test]
    fn local_packets_are_received_on_the_cpu_that_sends_them() {
        let machine = Probe::new().machine().unwrap().machine;
        for cpu in affinity::mask().unwrap().iter() {
            let _pinned = pin_to(cpu).unwrap();
            let [_near, far] = connection();
            assert_eq!(receiving_cpu(&far), Ok(Some(cpu)));
            assert_eq!(stay_near(&far, Within::Core, &machine), Ok([cpu].into_iter().collect()));
            assert_eq!(current_cpu(), cpu);
        }
    }

    #[test]
    fn without_a_packet_the_receiving_cpu_is_unknown() {
        let machine = Probe::new().machine().unwrap().machine;
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(receiving_cpu(&socket), Ok(None));
        assert_eq!(stay_near(&socket, Within::Node, &machine), Err(NearError::NoPacketYet));
        let file = File::open("/proc/self/stat").unwrap();
        assert_eq!(receiving_cpu(&file), Err(NearError::Socket(Errno::NOTSOCK)));
    }

    #[test]
    fn if_no_near_cpu_may_be_used_the_thread_is_not_moved() {
        let before = affinity::mask().unwrap();
        let elsewhere = Machine { cpus: Vec::new(), ..Probe::new().machine().unwrap().machine };
        let [_near, far] = connection();
        let refused = stay_near(&far, Within::Core, &elsewhere).unwrap_err();
        assert!(matches!(refused, NearError::NoneAllowed { .. }), "{refused}");
        assert_eq!(affinity::mask().unwrap(), before);
    }
}
