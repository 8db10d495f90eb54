//! Receives and sends Ethernet frames, for protocol stacks that run in this process.
//!
//! Three devices implement one small trait, [`FrameDevice`]:
//!
//! | device | how frames are received | what the kernel still does |
//! |---|---|---|
//! | [`PacketSocket`] | copied into a ring of shared memory (AF_PACKET) | its own stack processes them too |
//! | [`XdpSocket`] | taken before the kernel's stack, by a BPF program (AF_XDP) | processes frames that are not taken |
//! | [`Tun`] | one read or write per packet; this process is the other end of the interface | routes packets to it |
//!
//! Other items: [`Interface`] describes an interface, and [`Filter`] selects frames.
//! [`wait_readable`] lets an idle worker sleep until a frame or a [`Bell`] wakes it; several workers that share a device
//! wait in a [`LifoQueue`].
//! [`privilege_missing`] checks beforehand whether the devices can work. [`lab`] builds test networks
//! of [`Namespace`]s, whose packets can be [steered](Namespace::steer); [`obtain_lab_privilege`] lets a process without
//! privilege build one. [`Datagrams`] sends and
//! receives the kernel's own UDP in batches, for comparison and to generate load; [`TimedDatagrams`] says
//! when the kernel received each. [`sockets`] shares a UDP port among workers, [`connections`] a TCP port.
//!
//! # Invariants
//! - A frame's bytes are borrowed by the receiver's closure only; when it returns or panics, the
//!   buffer goes back to the kernel.
//! - [`dropped`](FrameDevice::dropped) counts every received frame that the kernel drops because a
//!   queue is full. [`lost_sending`](FrameDevice::lost_sending) counts accepted frames that were not
//!   sent, as far as the kernel reports them: AF_XDP does not.
//! - Nothing outlives the process: sockets, rings, BPF programs, TUN interfaces and the lab's
//!   namespaces all end with their descriptors.
//!
//! # Pitfalls
//! - **Checksums.** Between veth ends, and from the machine itself, the sender leaves transport
//!   checksums to hardware that does not exist. A packet socket reports this
//!   ([`Frame::checksum_left_out`]); AF_XDP does not, and its frames have wrong checksums unless
//!   the sender's [offloads are off](Interface::switch_offloads_off).
//! - **VLAN tags.** The kernel removes a tag from the frame before a packet socket sees it
//!   ([`Frame::vlan`]); AF_XDP and TAP leave it in the bytes.
//! - **ARP.** With a packet socket the kernel still answers ARP for its addresses, and sends "port
//!   unreachable" if no kernel socket has the port. Frames that AF_XDP takes never reach the kernel.

use core::fmt;
use rustix::io::Errno;
use rustix::net::netdevice::index_to_name;
use std::os::fd::BorrowedFd;

pub mod connections;
mod datagrams;
mod error;
mod filter;
mod interface;
#[allow(unsafe_code)]
mod kernel;
pub mod lab;
mod lifo;
mod listening;
mod namespace;
mod opening;
#[allow(unsafe_code)]
mod packet;
mod privilege;
#[allow(unsafe_code)]
mod receive_time;
pub mod sockets;
mod steering;
mod tun;
#[allow(unsafe_code)]
mod user_namespace;
mod wait;
#[allow(unsafe_code)]
mod xdp;

pub use datagrams::Datagrams;
pub use error::{DeviceError, SendError};
pub use filter::{Filter, PortProtocol, Ports};
pub use interface::Interface;
pub(crate) use interface::{indirection_table, number_and_address, set_indirection_table};
pub use lifo::LifoQueue;
pub use listening::listening;
pub use namespace::{EnteredNamespace, Namespace, NamespaceError};
pub use packet::{Fanout, FanoutMode, PacketOptions, PacketSocket};
pub use privilege::privilege_missing;
pub use receive_time::{Timed, TimedData, TimedDatagrams, TimedStream};
pub use steering::SteerError;
pub use tun::{Tun, TunHeader, TunMode, TunOptions};
pub use user_namespace::{UserNamespaceError, lab_obstacle, obtain_lab_privilege};
pub use wait::{Bell, WaitError, wait_readable};
pub use xdp::{AttachMode, XdpInterface, XdpOptions, XdpSocket};

/// Length of an Ethernet header without a VLAN tag, in bytes.
pub const ETHERNET_HEADER: usize = 14;
/// Length of a VLAN tag, in bytes.
pub const VLAN_TAG: usize = 4;

/// A received frame, borrowed while the receiver's closure runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its bytes, from the destination address to the end of the payload; no frame check sequence.
    pub bytes: &'a [u8],
    /// The tag control information (priority and VLAN) of a tag that the kernel has removed from the
    /// bytes. A tag that is still in the bytes is not repeated here.
    pub vlan: Option<u16>,
    /// Whether the sender, on this machine, left the transport checksum to hardware: it is not filled
    /// in and must not be checked. Only a packet socket knows this.
    pub checksum_left_out: bool,
}

impl<'a> Frame<'a> {
    /// Creates a frame whose bytes are complete.
    #[must_use]
    pub const fn plain(bytes: &'a [u8]) -> Self {
        Self { bytes, vlan: None, checksum_left_out: false }
    }
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Frame({} bytes", self.bytes.len())?;
        if let Some(vlan) = self.vlan {
            write!(formatter, ", vlan {}", vlan & 0xfff)?;
        }
        if self.checksum_left_out {
            formatter.write_str(", checksum left out")?;
        }
        formatter.write_str(")")
    }
}

/// A device that receives and sends Ethernet frames. No call blocks; see [`wait_readable`].
pub trait FrameDevice: Send {
    /// Hands up to `limit` received frames to `take`, in order of arrival. Returns how many.
    fn receive(&mut self, limit: usize, take: impl FnMut(Frame<'_>)) -> usize;

    /// Queues one frame with its Ethernet header for sending. The frame may stay in this process until
    /// [`flush`](Self::flush), or until a batch is full.
    ///
    /// # Errors
    /// If the frame cannot be sent at all, if the queue is full ([`SendError::Full`]: the frame was not
    /// accepted), or if the device has failed.
    fn send(&mut self, frame: &[u8]) -> Result<(), SendError>;

    /// Hands all queued frames to the kernel.
    ///
    /// # Errors
    /// If the kernel accepts no more now ([`SendError::Full`]: the rest stays queued), or the device has
    /// failed.
    fn flush(&mut self) -> Result<(), SendError>;

    /// The descriptor to [wait](wait_readable) on for received frames.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// The number of frames that the kernel received for this device and dropped since it was opened,
    /// because a queue was full or the frame did not fit into a buffer.
    fn dropped(&mut self) -> u64;

    /// The number of frames that `send` accepted but that were never sent since the device was opened,
    /// as far as the kernel reports it: it refused them, or a queue on the way was full.
    fn lost_sending(&self) -> u64;

    /// Checks whether the device still works, since a packet ring does not show that its interface
    /// went down or is gone. Makes system calls; meant for idle times. A [`Tun`] finds out when it receives,
    /// and has nothing to say before.
    ///
    /// # Errors
    /// A failure of the device since the last call. [`DeviceError::Gone`] is for good: the device receives and
    /// sends nothing any more, and stays readable.
    fn check(&mut self) -> Result<(), DeviceError>;
}

/// Refuses frames of an impossible length.
fn check_length(frame: &[u8], most: usize) -> Result<(), SendError> {
    let length = frame.len();
    if (ETHERNET_HEADER..=most).contains(&length) {
        Ok(())
    } else {
        Err(SendError::Length { length, least: ETHERNET_HEADER, most })
    }
}

/// Returns the pending error of a packet socket, if any. The kernel reports the same error for an interface that
/// went down and for one that is gone; only the former still has its index.
fn check_packet_socket(socket: BorrowedFd<'_>, interface: &Interface) -> Result<(), DeviceError> {
    let pending = check_socket(socket, &interface.name);
    if index_to_name(socket, interface.index) == Err(Errno::NODEV) {
        return Err(DeviceError::Gone { name: interface.name.clone() });
    }
    pending
}

/// Returns the pending error of a socket, if any.
fn check_socket(socket: BorrowedFd<'_>, interface: &str) -> Result<(), DeviceError> {
    let doing = || format!("receiving from `{interface}`");
    match rustix::net::sockopt::socket_error(socket) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Errno::NETDOWN)) => Err(DeviceError::Down { name: interface.to_owned() }),
        Ok(Err(source)) | Err(source) => Err(DeviceError::Kernel { doing: doing(), source }),
    }
}
