//! TUN and TAP interfaces, whose other end is this process (`/dev/net/tun`, the kernel's
//! `Documentation/networking/tuntap.rst`).
//!
//! A TUN interface carries IP packets, a TAP interface Ethernet frames. Callers always see Ethernet:
//! in TUN mode a fixed header is added to received packets and removed from sent ones. Each frame
//! takes one system call. The interface is removed when its last descriptor is closed.

use super::interface::Counters;
use super::kernel;
use super::{DeviceError, ETHERNET_HEADER, Frame, FrameDevice, Interface, SendError, VLAN_TAG, check_length};
use libc::{IFF_MULTI_QUEUE, IFF_NO_PI, IFF_TAP, IFF_TUN};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What a [`Tun`] carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TunMode {
    /// IP packets, received with this Ethernet header.
    Ip(TunHeader),
    /// Ethernet frames.
    Ethernet,
}

/// The addresses of the Ethernet header that is put in front of received IP packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TunHeader {
    /// The destination of received frames: the address of the stack in this process.
    pub destination: [u8; 6],
    /// The source of received frames: the address of the kernel.
    pub source: [u8; 6],
}

impl Default for TunHeader {
    /// Two locally administered addresses.
    fn default() -> Self {
        Self { destination: [2, 0, 0, 0, 0, 1], source: [2, 0, 0, 0, 0, 2] }
    }
}

/// Options of a [`Tun`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TunOptions {
    /// What it carries.
    pub mode: TunMode,
    /// Whether several devices may be opened under the same name, each as one queue of the interface.
    /// The kernel then distributes streams over them.
    pub several_queues: bool,
}

impl Default for TunOptions {
    /// IP packets, one queue.
    fn default() -> Self {
        Self { mode: TunMode::Ip(TunHeader::default()), several_queues: false }
    }
}

/// One queue of a TUN or TAP interface.
#[derive(Debug)]
pub struct Tun {
    device: OwnedFd,
    mode: TunMode,
    interface: Interface,
    counters: Counters,
    /// Buffer for one frame, including the Ethernet header in front of an IP packet.
    buffer: Vec<u8>,
    failure: Option<Errno>,
    lost: u64,
}

/// The longest packet that a TUN interface can carry.
const LONGEST_PACKET: usize = 65_535;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

impl Tun {
    /// Creates the interface `name` in the calling thread's network namespace, or opens another queue of
    /// it. A new interface is down and has no address: configure it with `ip` or the
    /// [lab](super::Namespace::configure).
    ///
    /// # Errors
    /// If the capability `CAP_NET_ADMIN` is missing, there is no `/dev/net/tun`, or the name is invalid or
    /// already in use.
    pub fn open(name: &str, options: TunOptions) -> Result<Self, DeviceError> {
        if name.is_empty() || name.len() > 15 {
            return Err(DeviceError::BadName(name.to_owned()));
        }
        let refused = |doing: &str| {
            let doing = format!("{doing} for `{name}`");
            move |source| match source {
                Errno::PERM | Errno::ACCESS => DeviceError::Privilege { doing, needs: "CAP_NET_ADMIN" },
                source => DeviceError::Kernel { doing, source },
            }
        };
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = open("/dev/net/tun", flags, Mode::empty()).map_err(refused("opening /dev/net/tun"))?;
        kernel::set_tun_interface(&device, name, options.flags())
            .map_err(refused("making a TUN interface"))?;
        let counters = Counters::open(name).map_err(|error| {
            let source = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
            refused("opening the kernel's counters")(source)
        })?;
        let mut buffer = vec![0; ETHERNET_HEADER + VLAN_TAG + LONGEST_PACKET];
        if let TunMode::Ip(header) = options.mode {
            buffer[..6].copy_from_slice(&header.destination);
            buffer[6..12].copy_from_slice(&header.source);
        }
        let interface = Interface::find(name)?;
        Ok(Self { device, mode: options.mode, interface, counters, buffer, failure: None, lost: 0 })
    }

    /// The interface, as it was when the device was opened.
    #[must_use]
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Reads one frame into the buffer. Returns its length.
    fn read_frame(&mut self) -> Result<usize, Errno> {
        match self.mode {
            TunMode::Ethernet => read(&self.device, &mut self.buffer[..]),
            TunMode::Ip(_) => {
                let length = read(&self.device, &mut self.buffer[ETHERNET_HEADER..])?;
                let version = self.buffer[ETHERNET_HEADER] >> 4;
                let ethertype = if version == 6 { IPV6 } else { IPV4 };
                self.buffer[12..ETHERNET_HEADER].copy_from_slice(&ethertype.to_be_bytes());
                Ok(ETHERNET_HEADER + length)
            }
        }
    }
}

impl TunOptions {
    /// The flags of the interface, without a packet information header (`IFF_NO_PI`).
    fn flags(self) -> i32 {
        let kind = match self.mode {
            TunMode::Ip(_) => IFF_TUN,
            TunMode::Ethernet => IFF_TAP,
        };
        kind | IFF_NO_PI | if self.several_queues { IFF_MULTI_QUEUE } else { 0 }
    }
}

/// Returns the IP packet in a frame.
fn ip_packet(frame: &[u8]) -> Result<&[u8], SendError> {
    let ethertype = u16::from_be_bytes([frame[12], frame[13]]);
    match ethertype {
        IPV4 | IPV6 => Ok(&frame[ETHERNET_HEADER..]),
        _ => Err(SendError::NotIp { ethertype }),
    }
}

impl FrameDevice for Tun {
    fn receive(&mut self, limit: usize, mut take: impl FnMut(Frame<'_>)) -> usize {
        for received in 0..limit {
            match self.read_frame() {
                Ok(length) => take(Frame::plain(&self.buffer[..length])),
                Err(Errno::AGAIN | Errno::INTR) => return received,
                Err(error) => {
                    self.failure = Some(error);
                    return received;
                }
            }
        }
        limit
    }

    /// Sends the frame at once; frames are never queued.
    fn send(&mut self, frame: &[u8]) -> Result<(), SendError> {
        check_length(frame, self.buffer.len())?;
        let bytes = match self.mode {
            TunMode::Ethernet => frame,
            TunMode::Ip(_) => ip_packet(frame)?,
        };
        match write(&self.device, bytes) {
            Ok(_) => Ok(()),
            Err(Errno::AGAIN | Errno::INTR) => Err(SendError::Full),
            Err(Errno::INVAL | Errno::NOBUFS | Errno::NOMEM) => {
                self.lost += 1;
                Ok(())
            }
            Err(source) => Err(SendError::Failed { interface: self.interface.name.clone(), source }),
        }
    }

    fn flush(&mut self) -> Result<(), SendError> {
        Ok(())
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Counts the drops of the whole interface, even if it has several queues.
    fn dropped(&mut self) -> u64 {
        self.counters.transmit_drops().unwrap_or(0)
    }

    fn lost_sending(&self) -> u64 {
        self.lost
    }

    fn check(&mut self) -> Result<(), DeviceError> {
        match self.failure.take() {
            None => Ok(()),
            // The descriptor has lost its interface.
            Some(Errno::BADFD) => Err(DeviceError::Gone { name: self.interface.name.clone() }),
            Some(source) => {
                let doing = format!("receiving from `{}`", self.interface.name);
                Err(DeviceError::Kernel { doing, source })
            }
        }
    }
}
