//! Ethernet frames in and out of the kernel, for protocol stacks that run in this process.
//!
//! Three devices stand behind one small trait, [`FrameDevice`]:
//!
//! | device | how frames come | what the kernel still does |
//! |---|---|---|
//! | [`PacketSocket`] | copies in a ring of shared memory (AF_PACKET) | its own stack sees them too |
//! | [`XdpSocket`] | taken before the kernel's stack, by a BPF program (AF_XDP) | only what is not taken |
//! | [`Tun`] | one read and one write per packet, of an interface that is this process | routes to it |
//!
//! Around them: [`Interface`] says what is there, [`Filter`] which frames are wanted,
//! [`wait_readable`] lets an idle worker sleep until a frame or a [`Bell`] comes,
//! [`privilege_missing`] says beforehand whether any of it can work, [`lab`] builds networks of
//! [`Namespace`]s to try it in, whose packets can be [steered](Namespace::steer), and [`Datagrams`] is the kernel's own UDP in batches, to compare with and to load others.
//!
//! # What must hold
//! - A frame's bytes are lent to the receiver's closure and to nobody else; when it returns, or
//!   panics, the buffer goes back to the kernel.
//! - What the kernel drops on the way in for want of room is in [`dropped`](FrameDevice::dropped),
//!   to the frame. What it takes from us and does not send is in
//!   [`lost_sending`](FrameDevice::lost_sending), as far as it says so: AF_XDP does not.
//! - Nothing outlives the process: sockets, rings, BPF programs, TUN interfaces and the lab's
//!   namespaces all hang on descriptors.
//!
//! # What surprises
//! - **Checksums.** Between veth ends, and from the machine itself, the sender leaves transport
//!   checksums to hardware that does not exist. A packet socket is told
//!   ([`Frame::checksum_left_out`]); AF_XDP is not, and its frames have wrong checksums unless
//!   the sender's [offloads are off](Interface::switch_offloads_off).
//! - **VLAN tags.** The kernel takes a tag out of the frame before a packet socket sees it
//!   ([`Frame::vlan`]); AF_XDP and TAP leave it in the bytes.
//! - **ARP.** With a packet socket the kernel goes on answering for its addresses, and also says
//!   "port unreachable" where no kernel socket has the port; AF_XDP keeps what it takes from it.

use core::fmt;
use std::os::fd::BorrowedFd;

mod datagrams;
mod error;
mod filter;
mod interface;
#[allow(unsafe_code)]
mod kernel;
pub mod lab;
mod namespace;
#[allow(unsafe_code)]
mod packet;
mod privilege;
#[allow(unsafe_code)]
mod shared;
mod steering;
mod tun;
mod wait;
#[allow(unsafe_code)]
mod xdp;

pub use datagrams::Datagrams;
pub use error::{DeviceError, SendError};
pub use filter::{Filter, Ports};
pub use interface::Interface;
pub use namespace::{Inside, Namespace, NamespaceError};
pub use packet::{Fanout, FanoutMode, PacketOptions, PacketSocket};
pub use privilege::privilege_missing;
pub use steering::SteerError;
pub use tun::{Tun, TunHeader, TunMode, TunOptions};
pub use wait::{Bell, WaitError, wait_readable};
pub use xdp::{AttachMode, XdpInterface, XdpOptions, XdpSocket};

/// Length of an Ethernet header without a VLAN tag, in bytes.
pub const ETHERNET_HEADER: usize = 14;
/// Length of a VLAN tag, in bytes.
pub const VLAN_TAG: usize = 4;

/// A received frame, lent for as long as its receiver looks at it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its bytes, from the destination address to the end of the payload; no frame check sequence.
    pub bytes: &'a [u8],
    /// The tag control information (priority and VLAN) of a tag that the kernel has taken out of
    /// the bytes. A tag that is still in the bytes is not repeated here.
    pub vlan: Option<u16>,
    /// The sender is this machine and left the transport checksum to hardware: it is not filled in
    /// and must not be checked. Only a packet socket can tell.
    pub checksum_left_out: bool,
}

impl<'a> Frame<'a> {
    /// A frame that is all in its bytes.
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

/// Something that Ethernet frames come from and go to. No call waits; see [`wait_readable`].
pub trait FrameDevice: Send {
    /// Hands up to `limit` received frames to `take`, in the order of their arrival; how many.
    fn receive(&mut self, limit: usize, take: impl FnMut(Frame<'_>)) -> usize;

    /// Takes one frame to be sent, with its Ethernet header. It may wait in this process until
    /// [`flush`](Self::flush) or until enough have come together.
    ///
    /// # Errors
    /// If the frame cannot be sent at all, if no more may wait ([`SendError::Full`]: the frame was
    /// not taken), or if the device has failed.
    fn send(&mut self, frame: &[u8]) -> Result<(), SendError>;

    /// Hands all waiting frames to the kernel.
    ///
    /// # Errors
    /// If the kernel takes no more now ([`SendError::Full`]: the rest still waits), or the device
    /// has failed.
    fn flush(&mut self) -> Result<(), SendError>;

    /// What to [wait](wait_readable) on for received frames.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// Frames the kernel received for this device and dropped, because there was no room for them
    /// or they did not fit a buffer; since the device was opened.
    fn dropped(&mut self) -> u64;

    /// Frames that `send` took and that were never sent, as far as the kernel says so: it refused
    /// them or had no room on their way; since the device was opened.
    fn lost_sending(&self) -> u64;

    /// Finds out whether the device still works: a packet ring does not say by itself that its
    /// interface went down. A system call; meant for idle moments.
    ///
    /// # Errors
    /// What has happened to the device since the last call.
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

/// What a pending error of a socket says about its interface.
fn check_socket(socket: BorrowedFd<'_>, interface: &str) -> Result<(), DeviceError> {
    let doing = || format!("receiving from `{interface}`");
    match rustix::net::sockopt::socket_error(socket) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(rustix::io::Errno::NETDOWN)) => Err(DeviceError::Down { name: interface.to_owned() }),
        Ok(Err(source)) | Err(source) => Err(DeviceError::Kernel { doing: doing(), source }),
    }
}
