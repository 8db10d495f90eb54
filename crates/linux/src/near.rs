//! For programs that place their own threads: near the packets that they read.
//!
//! What the protocol writes for a socket lies in the caches of the cpu that takes its packets in. A reader
//! on that core, or at least behind the same cache, finds it there. Which cpu that is follows from the
//! queue that the NIC's hash puts the connection in, and from RPS and RFS behind it; the kernel tells it of
//! a socket once a packet has come (`SO_INCOMING_CPU`, `socket(7)`).

use crate::affinity::{self, AffinityError};
use rustix::io::Errno;
use rustix::net::sockopt::socket_incoming_cpu;
use std::os::fd::AsFd;
use warmcore_topology::{CpuSet, Machine, Within};
use warmcore_units::CpuId;

/// Why a thread could not be placed near its packets.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NearError {
    /// The kernel does not tell of this descriptor.
    #[error("cannot ask which cpu takes its packets in: {0}; expected an open socket")]
    Socket(Errno),
    /// No packet has come yet.
    #[error(
        "no packet has come yet that tells a cpu: expected a connection that something was received from, of TCP \
         or of UDP after `connect`"
    )]
    NoPacketYet,
    /// None of the near cpus may be used.
    #[error(
        "packets are taken in on cpu {cpu}, and of the cpus near it ({near}) this thread may use none, only {allowed}"
    )]
    NoneAllowed {
        /// The cpu that takes packets in.
        cpu: CpuId,
        /// The cpus near it.
        near: CpuSet,
        /// The cpus that may be used.
        allowed: CpuSet,
    },
    /// The thread cannot be placed.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
}

/// The cpu that took in the last packet for `socket`; `None` before the first one, and for sockets
/// that keep no such note, as unconnected ones of UDP.
///
/// # Errors
/// If it is no socket.
pub fn receiving_cpu(socket: impl AsFd) -> Result<Option<CpuId>, NearError> {
    // The kernel writes -1 for none.
    let cpu = socket_incoming_cpu(socket).map_err(NearError::Socket)?;
    Ok(i32::try_from(cpu).is_ok().then_some(CpuId(cpu)))
}

/// Lets this thread run only on usable cpus that share `within` with the one that takes in the packets of
/// `socket`; it is on one of these when this returns. Whoever wants to be let go later keeps
/// [`affinity::mask`] before. Packets come elsewhere once interrupts or steering are changed: ask
/// again then.
///
/// # Errors
/// If no packet has come yet, or this process may use none of those cpus.
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

    /// A connection to ourselves, from which a byte was received.
    fn connection() -> [TcpStream; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut far = listener.accept().unwrap().0;
        near.write_all(b"x").unwrap();
        far.read_exact(&mut [0]).unwrap();
        [near, far]
    }

    #[test]
    fn what_is_sent_to_ourselves_is_taken_in_where_it_is_sent() {
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
    fn before_anything_came_there_is_nothing_to_be_near() {
        let machine = Probe::new().machine().unwrap().machine;
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(receiving_cpu(&socket), Ok(None));
        assert_eq!(stay_near(&socket, Within::Node, &machine), Err(NearError::NoPacketYet));
        let file = File::open("/proc/self/stat").unwrap();
        assert_eq!(receiving_cpu(&file), Err(NearError::Socket(Errno::NOTSOCK)));
    }

    #[test]
    fn where_none_of_the_near_cpus_may_be_used_the_thread_is_left_alone() {
        let before = affinity::mask().unwrap();
        let elsewhere = Machine { cpus: Vec::new(), ..Probe::new().machine().unwrap().machine };
        let [_near, far] = connection();
        let refused = stay_near(&far, Within::Core, &elsewhere).unwrap_err();
        assert!(matches!(refused, NearError::NoneAllowed { .. }), "{refused}");
        assert_eq!(affinity::mask().unwrap(), before);
    }
}
