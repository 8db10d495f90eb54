//! A packet socket: receives copies of an interface's frames in a ring shared with the kernel.
//!
//! The ring has version 2 (`TPACKET_V2`, the kernel's `Documentation/networking/packet_mmap.rst`):
//! every frame has a slot and is readable as soon as it has arrived. Version 3 packs frames into
//! blocks, which the kernel hands over when they are full or after a timeout of at least a
//! millisecond. At low load that would delay every frame by as much.
//!
//! Sending copies frames into batches for `sendmmsg`. A transmit ring would not save a copy that
//! matters here, and the kernel returns its slots only when the *receiver* has freed the packet, so
//! on a veth a slow peer would block the sender.

mod outgoing;
mod ring;
mod shared;

use super::error::SendError;
use super::{DeviceError, Filter, Frame, FrameDevice, Interface, check_length, check_packet_socket, kernel};
use libc::SOL_PACKET;
use outgoing::Outgoing;
use ring::{Ring, RingLayout};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What is refused if a socket cannot be opened, and the privilege that may be missing.
const OPENING: &str = "opening a packet socket";
const PRIVILEGE: &str = "CAP_NET_RAW";

/// Options of a [`PacketSocket`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacketOptions {
    /// The least number of frames that the ring holds. It takes a little more than `slots` times the MTU
    /// of memory.
    pub slots: usize,
    /// The longest frame to receive, in bytes; longer ones are dropped and counted. `None` stands for the
    /// longest frame that the interface's MTU allows.
    pub longest_frame: Option<usize>,
    /// The frames to receive.
    pub filter: Filter,
    /// The group of sockets that share the interface's frames, if any.
    pub fanout: Option<Fanout>,
    /// Whether to ignore frames that this machine sends through the interface, from this socket or
    /// others.
    pub ignore_outgoing: bool,
}

impl Default for PacketOptions {
    /// A ring of 4,096 frames that receives all incoming and no outgoing frames; no fanout group.
    fn default() -> Self {
        Self {
            slots: 4096,
            longest_frame: None,
            filter: Filter::Everything,
            fanout: None,
            ignore_outgoing: true,
        }
    }
}

/// A group of packet sockets that share frames: each frame goes to one of them. All must use the same
/// options and be in the same network namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fanout {
    /// The number of the group, the same for all its sockets.
    pub group: u16,
    /// How the kernel chooses the socket of a frame.
    pub mode: FanoutMode,
}

/// How the kernel chooses among the sockets of a [`Fanout`] group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FanoutMode {
    /// By a hash of addresses and ports: a stream keeps its socket. Fragments are hashed by addresses
    /// only, so they may go to a different socket than whole datagrams of the same stream.
    FlowHash,
    /// Round-robin.
    RoundRobin,
    /// By the cpu that received the frame.
    Cpu,
    /// By the interface's receive queue.
    Queue,
}

/// A packet socket bound to one interface.
///
/// ```no_run
/// use warmcore_linux::net::{Filter, FrameDevice, PacketOptions, PacketSocket};
///
/// let options = PacketOptions { filter: Filter::udp_ports([7]), ..PacketOptions::default() };
/// let mut socket = PacketSocket::open("eth0", &options)?;
/// socket.receive(32, |frame| println!("{frame:?}"));
/// # Ok::<(), warmcore_linux::net::DeviceError>(())
/// ```
#[derive(Debug)]
pub struct PacketSocket {
    ring: Ring,
    socket: OwnedFd,
    interface: Interface,
    outgoing: Outgoing,
    dropped: u64,
    /// Frames that did not fit into their slots; the kernel counts them as received.
    truncated: u64,
}

impl PacketSocket {
    /// Opens a packet socket on the interface `name` in the calling thread's network namespace. It
    /// receives frames that arrive from now on.
    ///
    /// # Errors
    /// If the capability `CAP_NET_RAW` is missing, there is no such interface or it is down, an
    /// option is out of range, or the group's other sockets have other options.
    pub fn open(name: &str, options: &PacketOptions) -> Result<Self, DeviceError> {
        let socket = Self::join(name, options)?;
        socket.accept(options)?;
        Ok(socket)
    }

    /// Opens `number` packet sockets of one [`Fanout`] group. None receives a frame before all have joined, so that
    /// the kernel's choice of a frame's socket is the same from the first frame on.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_group(name: &str, options: &PacketOptions, number: usize) -> Result<Vec<Self>, DeviceError> {
        let sockets: Vec<Self> =
            (0..number).map(|_| Self::join(name, options)).collect::<Result<_, DeviceError>>()?;
        sockets.iter().try_for_each(|socket| socket.accept(options))?;
        Ok(sockets)
    }

    /// Opens a packet socket that has joined its group, and rejects all frames.
    fn join(name: &str, options: &PacketOptions) -> Result<Self, DeviceError> {
        options.filter.check()?;
        let interface = Interface::find(name)?.require_up()?;
        let refused = DeviceError::from_kernel(OPENING, &interface.name, PRIVILEGE);
        let longest = options.longest_frame.unwrap_or_else(|| interface.longest_frame());
        let layout = RingLayout::new(options.slots, longest)?;
        let socket = unbound_socket().map_err(&refused)?;
        let ring = Ring::new(&socket, layout).map_err(&refused)?;
        join(&socket, &interface, options).map_err(&refused)?;
        let outgoing = Outgoing::new(&interface);
        Ok(Self { ring, socket, interface, outgoing, dropped: 0, truncated: 0 })
    }

    /// Receives the frames that the options ask for from now on.
    fn accept(&self, options: &PacketOptions) -> Result<(), DeviceError> {
        let refused = DeviceError::from_kernel(OPENING, &self.interface.name, PRIVILEGE);
        kernel::attach_filter(&self.socket, &options.filter.classic()).map_err(refused)
    }

    /// The interface, as it was when the socket was opened.
    #[must_use]
    pub fn interface(&self) -> &Interface {
        &self.interface
    }
}

/// Creates a packet socket that is not bound, and so receives nothing yet.
fn unbound_socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
    let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
    kernel::set_option(&socket, SOL_PACKET, libc::PACKET_VERSION, &version)?;
    Ok(socket)
}

/// Binds the socket and joins its group. A filter rejects all frames until another is attached;
/// otherwise the group's frames would be received twice meanwhile.
fn join(socket: &OwnedFd, interface: &Interface, options: &PacketOptions) -> Result<(), Errno> {
    kernel::attach_filter(socket, &Filter::classic_nothing())?;
    let ignore = libc::c_int::from(options.ignore_outgoing);
    kernel::set_option(socket, SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &ignore)?;
    kernel::bind_packet(socket, interface.index)?;
    if let Some(fanout) = options.fanout {
        kernel::set_option(socket, SOL_PACKET, libc::PACKET_FANOUT, &fanout.word(options.ignore_outgoing))?;
    }
    Ok(())
}

impl Fanout {
    /// Encodes the group, mode and flags for the kernel. A group has its own hook, so it must also be
    /// told to ignore outgoing frames.
    fn word(self, ignore_outgoing: bool) -> u32 {
        let mode = match self.mode {
            FanoutMode::FlowHash => libc::PACKET_FANOUT_HASH,
            FanoutMode::RoundRobin => libc::PACKET_FANOUT_LB,
            FanoutMode::Cpu => libc::PACKET_FANOUT_CPU,
            FanoutMode::Queue => libc::PACKET_FANOUT_QM,
        };
        let flags = if ignore_outgoing { libc::PACKET_FANOUT_FLAG_IGNORE_OUTGOING } else { 0 };
        u32::from(self.group) | (mode | flags) << 16
    }
}

impl FrameDevice for PacketSocket {
    fn receive(&mut self, limit: usize, mut take: impl FnMut(Frame<'_>)) -> usize {
        let mut received = 0;
        while received < limit {
            let Some(slot) = self.ring.filled() else { break };
            match slot.frame() {
                Some(frame) => {
                    received += 1;
                    take(frame);
                }
                None => self.truncated += 1,
            }
        }
        received
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), SendError> {
        check_length(frame, self.outgoing.longest)?;
        if self.outgoing.is_full() {
            self.flush()?;
        }
        self.outgoing.push(frame);
        self.outgoing.flush_whole_batches(self.socket.as_fd());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SendError> {
        self.outgoing.flush(self.socket.as_fd()).map_err(|error| match error {
            Errno::AGAIN => SendError::Full,
            source => SendError::Failed { interface: self.interface.name.clone(), source },
        })
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn dropped(&mut self) -> u64 {
        // Reading resets the kernel's counter.
        let (_, dropped) = kernel::packet_statistics(&self.socket).unwrap_or((0, 0));
        self.dropped += u64::from(dropped);
        self.dropped + self.truncated
    }

    fn lost_sending(&self) -> u64 {
        self.outgoing.lost
    }

    fn check(&mut self) -> Result<(), DeviceError> {
        check_packet_socket(self.socket.as_fd(), &self.interface)
    }
}
