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
//!
//! Slot protocol: the status word is 0 while the kernel owns the slot. The kernel writes frame
//! and header, then sets `TP_STATUS_USER`, which we read with acquire; we read the frame, then
//! store 0 with release.

use super::error::SendError;
use super::shared::SharedMemory;
use super::{DeviceError, Filter, Frame, FrameDevice, Interface, check_length, check_socket, kernel};
use core::mem::{offset_of, size_of};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use libc::{SOL_PACKET, sockaddr_ll, tpacket2_hdr};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

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

/// How many batches of outgoing frames may be queued. One system call sends one batch.
const QUEUED_BATCHES: usize = 4;

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
        options.filter.check()?;
        let interface = Interface::find(name)?.require_up()?;
        let refused = DeviceError::from_kernel("opening a packet socket", &interface.name, "CAP_NET_RAW");
        let longest = options.longest_frame.unwrap_or_else(|| interface.longest_frame());
        let layout = RingLayout::new(options.slots, longest)?;
        let socket = unbound_socket().map_err(&refused)?;
        let ring = Ring::new(&socket, layout).map_err(&refused)?;
        join(&socket, &interface, options).map_err(&refused)?;
        let outgoing = Outgoing::new(&interface);
        Ok(Self { ring, socket, interface, outgoing, dropped: 0, truncated: 0 })
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

/// Binds the socket and joins its group. A filter rejects all frames until the setup is complete;
/// otherwise the group's frames would be received twice meanwhile.
fn join(socket: &OwnedFd, interface: &Interface, options: &PacketOptions) -> Result<(), Errno> {
    kernel::attach_filter(socket, &Filter::classic_nothing())?;
    let ignore = libc::c_int::from(options.ignore_outgoing);
    kernel::set_option(socket, SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &ignore)?;
    kernel::bind_packet(socket, interface.index)?;
    if let Some(fanout) = options.fanout {
        kernel::set_option(socket, SOL_PACKET, libc::PACKET_FANOUT, &fanout.word(options.ignore_outgoing))?;
    }
    kernel::attach_filter(socket, &options.filter.classic())
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

/// The layout of a ring: blocks of memory, each with as many whole slots as fit.
#[derive(Clone, Copy, Debug)]
struct RingLayout {
    block: usize,
    slot: usize,
    slots_per_block: usize,
    blocks: usize,
}

impl RingLayout {
    /// The least size of a block in bytes: a power of two pages, small enough that the kernel finds
    /// contiguous memory.
    const BLOCK: usize = 1 << 16;
    const ALIGNMENT: usize = 16;
    /// Bytes before a frame in its slot: header and address, padded so that the network header is
    /// aligned after a link header of up to 16 bytes.
    const BEFORE: usize =
        (size_of::<tpacket2_hdr>() + size_of::<sockaddr_ll>() + 16).next_multiple_of(Self::ALIGNMENT);
    const MOST_SLOTS: usize = 1 << 20;
    /// The longest frame of any interface: that of the loopback interface.
    const LONGEST: usize = 65_536 + super::ETHERNET_HEADER + super::VLAN_TAG;

    fn new(slots: usize, longest_frame: usize) -> Result<Self, DeviceError> {
        let bad = |option, value, expected| DeviceError::BadOption { option, value: value as u64, expected };
        if !(1..=Self::MOST_SLOTS).contains(&slots) {
            return Err(bad("the number of ring slots", slots, "1 to 1,048,576"));
        }
        if !(60..=Self::LONGEST).contains(&longest_frame) {
            return Err(bad("the longest frame of the ring", longest_frame, "60 to 65,554 bytes"));
        }
        let slot = (Self::BEFORE + longest_frame).next_multiple_of(Self::ALIGNMENT);
        let block = slot.next_power_of_two().max(Self::BLOCK);
        let slots_per_block = block / slot;
        Ok(Self { block, slot, slots_per_block, blocks: slots.div_ceil(slots_per_block) })
    }

    fn slots(self) -> usize {
        self.slots_per_block * self.blocks
    }

    fn request(self) -> libc::tpacket_req {
        // All fit into 32 bits: at most 2^20 slots and blocks.
        libc::tpacket_req {
            tp_block_size: self.block as u32,
            tp_block_nr: self.blocks as u32,
            tp_frame_size: self.slot as u32,
            tp_frame_nr: self.slots() as u32,
        }
    }
}

/// The receive ring and the position of the next slot to read.
#[derive(Debug)]
struct Ring {
    memory: SharedMemory,
    layout: RingLayout,
    block: usize,
    slot_in_block: usize,
}

impl Ring {
    fn new(socket: &OwnedFd, layout: RingLayout) -> Result<Self, Errno> {
        kernel::set_option(socket, SOL_PACKET, libc::PACKET_RX_RING, &layout.request())?;
        let memory = SharedMemory::of_descriptor(socket, layout.blocks * layout.block, 0)?;
        Ok(Self { memory, layout, block: 0, slot_in_block: 0 })
    }

    /// Returns the oldest filled slot, if any.
    fn filled(&mut self) -> Option<Slot<'_>> {
        let at = self.block * self.layout.block + self.slot_in_block * self.layout.slot;
        let status = self.memory.u32_at(at + offset_of!(tpacket2_hdr, tp_status)).load(Acquire);
        // Only create a `Slot` that we own: dropping it gives the slot to the kernel.
        (status & libc::TP_STATUS_USER != 0).then(|| Slot { ring: self, at, status })
    }

    fn advance(&mut self) {
        self.slot_in_block += 1;
        if self.slot_in_block == self.layout.slots_per_block {
            self.slot_in_block = 0;
            self.block = (self.block + 1) % self.layout.blocks;
        }
    }
}

/// A filled slot. Dropping it gives it back to the kernel.
struct Slot<'a> {
    ring: &'a mut Ring,
    at: usize,
    status: u32,
}

impl Slot<'_> {
    fn u32_at(&self, offset: usize) -> u32 {
        self.ring.memory.u32_at(self.at + offset).load(Relaxed)
    }

    /// Reads the 16 bits at `offset`, as a half of the aligned 32 bits that contain it.
    fn u16_at(&self, offset: usize) -> u16 {
        let [a, b, c, d] = self.u32_at(offset & !3).to_ne_bytes();
        u16::from_ne_bytes(if offset & 2 == 0 { [a, b] } else { [c, d] })
    }

    /// Returns the frame, or `None` if it did not fit into the slot.
    fn frame(&self) -> Option<Frame<'_>> {
        let length = self.u32_at(offset_of!(tpacket2_hdr, tp_snaplen));
        if length < self.u32_at(offset_of!(tpacket2_hdr, tp_len)) {
            return None;
        }
        let start = self.at + usize::from(self.u16_at(offset_of!(tpacket2_hdr, tp_mac)));
        // SAFETY: the status was read with acquire and shows that we own the slot. We own it until
        // `drop`, and the slice borrows `self`.
        let bytes = unsafe { self.ring.memory.bytes(start, length as usize) };
        let tagged = self.status & libc::TP_STATUS_VLAN_VALID != 0;
        Some(Frame {
            bytes,
            vlan: tagged.then(|| self.u16_at(offset_of!(tpacket2_hdr, tp_vlan_tci))),
            checksum_left_out: self.status & libc::TP_STATUS_CSUMNOTREADY != 0,
        })
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let status = self.ring.memory.u32_at(self.at + offset_of!(tpacket2_hdr, tp_status));
        status.store(libc::TP_STATUS_KERNEL, Release);
        self.ring.advance();
    }
}

/// The queue of frames to send, oldest first, and buffers to reuse.
#[derive(Debug)]
struct Outgoing {
    queue: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    longest: usize,
    lost: u64,
}

impl Outgoing {
    fn new(interface: &Interface) -> Self {
        Self { queue: VecDeque::new(), spare: Vec::new(), longest: interface.longest_frame(), lost: 0 }
    }

    fn push(&mut self, frame: &[u8]) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(frame);
        self.queue.push_back(buffer);
    }

    fn pop(&mut self, count: usize) {
        self.spare.extend(self.queue.drain(..count));
    }

    fn is_full(&self) -> bool {
        self.queue.len() >= kernel::BATCH * QUEUED_BATCHES
    }

    /// Sends until the queue is empty or the kernel accepts no more. A frame that the kernel refuses, or
    /// drops on the way ("no buffer space"), is counted as lost.
    fn flush(&mut self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        while !self.queue.is_empty() {
            match kernel::send_batch(socket, self.queue.iter().map(Vec::as_slice)) {
                Ok(sent) => self.pop(sent),
                Err(Errno::INTR) => {}
                Err(Errno::NOBUFS | Errno::MSGSIZE | Errno::INVAL) => {
                    self.lost += 1;
                    self.pop(1);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
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
        // Frames that the kernel does not accept yet stay queued; the next flush reports errors.
        if self.outgoing.queue.len().is_multiple_of(kernel::BATCH) {
            let _ = self.outgoing.flush(self.socket.as_fd());
        }
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
        check_socket(self.socket.as_fd(), &self.interface.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_has_enough_slots_and_each_fits_its_frame() {
        for longest in [60, 1518, 1522, 2048, 9018, 9022, RingLayout::LONGEST] {
            for slots in [1, 7, 64, 4096] {
                let layout = RingLayout::new(slots, longest).unwrap();
                assert!(layout.slots() >= slots);
                assert!(
                    layout.slot >= longest + RingLayout::BEFORE
                        && layout.slot.is_multiple_of(RingLayout::ALIGNMENT)
                );
                // The kernel's own condition on a request.
                assert_eq!(layout.block / layout.slot, layout.slots_per_block);
                assert!(layout.slots_per_block > 0);
            }
        }
    }

    #[test]
    fn rings_out_of_range_are_refused_with_the_valid_range() {
        let none = RingLayout::new(0, 1514).unwrap_err().to_string();
        assert_eq!(none, "the number of ring slots is 0: expected 1 to 1,048,576");
        assert!(RingLayout::new(RingLayout::MOST_SLOTS + 1, 1514).is_err());
        let long = RingLayout::new(64, RingLayout::LONGEST + 1).unwrap_err().to_string();
        assert!(long.contains("expected 60 to 65,554 bytes"), "{long}");
        assert_eq!(RingLayout::LONGEST, 65_554);
    }
}
