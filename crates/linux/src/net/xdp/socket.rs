//! The socket of one receive queue, its buffers and its rings.
//!
//! Buffers are chunks of equal size in one block of memory. The kernel owns a chunk while its address is
//! in the fill or the transmit ring. We own it once it has come out of the receive or the completion
//! ring, and while it is in `free`. The receive chunks circulate between the fill and the receive ring,
//! the send chunks between `free`, the transmit ring and the completion ring.

use super::ring::{ConsumerRing, Descriptor, ProducerRing};
use super::{Attachment, NEEDS, XdpOptions};
use crate::net::{DeviceError, Frame, FrameDevice, Interface, SendError, check_length, check_socket, kernel};
use crate::shared_memory::SharedMemory;
use core::time::Duration;
use rustix::io::Errno;
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING, XDP_UMEM_PGOFF_COMPLETION_RING,
    XDP_UMEM_PGOFF_FILL_RING, XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, socket_with, sockopt};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// The size of a buffer in bytes: the smallest page size, which copy mode accepts on every machine.
const CHUNK: usize = 4096;
/// The bytes that the kernel leaves free in front of a received frame (`XDP_PACKET_HEADROOM`).
const HEADROOM: usize = 256;
/// The longest frame that is received into one buffer.
pub(super) const LONGEST_IN_ONE_BUFFER: usize = CHUNK - HEADROOM;
/// The most pieces of one frame: the kernel's limit on the parts of a packet (`MAX_SKB_FRAGS`).
const MOST_PIECES: usize = 17;
/// How long the kernel may take to release the queue of a closed socket.
const RELEASE: Duration = Duration::from_millis(200);
/// The most slots of a ring.
const MOST_SLOTS: u32 = 1 << 20;

/// An AF_XDP socket on one receive queue of an [`XdpInterface`](super::XdpInterface).
#[derive(Debug)]
pub struct XdpSocket {
    // Dropped first, so that the kernel releases the memory before it is unmapped.
    socket: OwnedFd,
    incoming: Incoming,
    outgoing: Outgoing,
    buffers: SharedMemory,
    longest: usize,
    attachment: Arc<Attachment>,
}

/// The receive ring, and the fill ring with buffers for future frames.
#[derive(Debug)]
struct Incoming {
    received: ConsumerRing<Descriptor>,
    fill: ProducerRing<u64>,
    /// The pieces received so far of a frame in several buffers.
    pieces: Vec<u8>,
}

/// The transmit ring, the completion ring with buffers of sent frames, and free buffers.
#[derive(Debug)]
struct Outgoing {
    transmit: ProducerRing<Descriptor>,
    completed: ConsumerRing<u64>,
    free: Vec<u64>,
}

impl XdpSocket {
    pub(super) fn open(
        attachment: &Arc<Attachment>,
        queue: u32,
        options: XdpOptions,
    ) -> Result<Self, DeviceError> {
        options.check()?;
        let interface = &attachment.interface;
        if queue >= interface.queues {
            let queues = interface.queues;
            return Err(DeviceError::NoQueue { interface: interface.name.clone(), queue, queues });
        }
        let opened =
            Self::create(attachment, options).and_then(|socket| socket.start(queue).map(|()| socket));
        opened.map_err(|error| match error {
            Errno::BUSY => DeviceError::QueueTaken { interface: interface.name.clone(), queue },
            // Kernels before 6.6 support only frames in one buffer.
            Errno::INVAL if attachment.several_buffers => {
                DeviceError::MtuTooLarge { interface: interface.name.clone(), mtu: interface.mtu }
            }
            error => DeviceError::from_kernel("opening an AF_XDP socket", &interface.name, NEEDS)(error),
        })
    }

    /// Creates a socket with buffers and rings that is not bound yet.
    fn create(attachment: &Arc<Attachment>, options: XdpOptions) -> Result<Self, Errno> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::XDP, SocketType::RAW, flags, None)?;
        let (receive, transmit) = (options.receive_slots, options.send_slots);
        let buffers = SharedMemory::anonymous((receive + transmit) as usize * CHUNK)?;
        register(&socket, &buffers)?;
        sockopt::set_xdp_umem_fill_ring_size(&socket, receive)?;
        sockopt::set_xdp_umem_completion_ring_size(&socket, transmit)?;
        sockopt::set_xdp_rx_ring_size(&socket, receive)?;
        sockopt::set_xdp_tx_ring_size(&socket, transmit)?;
        let at = sockopt::xdp_mmap_offsets(&socket)?;
        let mut fill = ProducerRing::map(&socket, XDP_UMEM_PGOFF_FILL_RING, &at.fr, receive)?;
        let completed = ConsumerRing::map(&socket, XDP_UMEM_PGOFF_COMPLETION_RING, &at.cr, transmit)?;
        let received = ConsumerRing::map(&socket, XDP_PGOFF_RX_RING, &at.rx, receive)?;
        let transmitted = ProducerRing::map(&socket, XDP_PGOFF_TX_RING, &at.tx, transmit)?;
        for chunk in 0..receive {
            fill.push(u64::from(chunk) * CHUNK as u64);
        }
        fill.publish();
        let free = (receive..receive + transmit).map(|chunk| u64::from(chunk) * CHUNK as u64).collect();
        let pieces_sent = if attachment.several_buffers { MOST_PIECES } else { 1 };
        Ok(Self {
            socket,
            incoming: Incoming { received, fill, pieces: Vec::new() },
            outgoing: Outgoing { transmit: transmitted, completed, free },
            buffers,
            longest: attachment.interface.longest_frame().min(CHUNK * pieces_sent),
            attachment: Arc::clone(attachment),
        })
    }

    /// Binds the socket to its queue and adds it to the program's map.
    fn start(&self, queue: u32) -> Result<(), Errno> {
        let mut flags = SocketAddrXdpFlags::XDP_COPY;
        flags.set(SocketAddrXdpFlags::XDP_USE_SG, self.attachment.several_buffers);
        let address = SocketAddrXdp::new(flags, self.attachment.interface.index, queue);
        let start = Instant::now();
        while let Err(error) = bind(&self.socket, &address) {
            if error != Errno::BUSY || start.elapsed() > RELEASE {
                return Err(error);
            }
            thread::sleep(RELEASE / 100);
        }
        kernel::add_socket(&self.attachment.map, queue, &self.socket)
    }

    /// The interface, as it was when the program was attached.
    #[must_use]
    pub fn interface(&self) -> &Interface {
        &self.attachment.interface
    }

    fn failed(&self, source: Errno) -> SendError {
        SendError::Failed { interface: self.attachment.interface.name.clone(), source }
    }
}

impl XdpOptions {
    fn check(self) -> Result<(), DeviceError> {
        let named = [
            ("the number of receive slots", self.receive_slots),
            ("the number of send slots", self.send_slots),
        ];
        for (option, value) in named {
            if !value.is_power_of_two() || !(32..=MOST_SLOTS).contains(&value) {
                let expected = "a power of two from 32 to 1,048,576";
                return Err(DeviceError::BadOption { option, value: u64::from(value), expected });
            }
        }
        Ok(())
    }
}

/// Registers the frame memory with the kernel.
fn register(socket: &OwnedFd, buffers: &SharedMemory) -> Result<(), Errno> {
    let registration = XdpUmemReg {
        addr: buffers.address(),
        len: buffers.len() as u64,
        chunk_size: CHUNK as u32,
        headroom: 0,
        flags: XdpUmemRegFlags::empty(),
        tx_metadata_len: 0,
    };
    sockopt::set_xdp_umem_reg(socket, registration)
}

/// A batch of frames being received. Dropping it, even by a panic, returns the buffers to the kernel.
struct Batch<'a>(&'a mut Incoming);

impl Batch<'_> {
    /// Returns the next piece. Its buffer is put into the fill ring, but is published to the kernel only
    /// when the batch ends.
    fn next(&mut self) -> Option<Descriptor> {
        let piece = self.0.received.pop()?;
        self.0.fill.push(piece.address & !(CHUNK as u64 - 1));
        Some(piece)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.0.received.publish();
        self.0.fill.publish();
    }
}

impl Outgoing {
    /// Reclaims the buffers of frames that have been sent.
    fn reclaim(&mut self) {
        while let Some(address) = self.completed.pop() {
            self.free.push(address & !(CHUNK as u64 - 1));
        }
        self.completed.publish();
    }

    fn has_room(&self, pieces: usize) -> bool {
        self.free.len() >= pieces && self.transmit.free_slots() as usize >= pieces
    }
}

impl FrameDevice for XdpSocket {
    fn receive(&mut self, limit: usize, mut take: impl FnMut(Frame<'_>)) -> usize {
        let mut batch = Batch(&mut self.incoming);
        let mut received = 0;
        while received < limit {
            let Some(piece) = batch.next() else { break };
            // SAFETY: the piece came out of the receive ring, so we own its buffer until `batch`, which
            // outlives this slice, publishes it in the fill ring.
            let bytes = unsafe { self.buffers.bytes(piece.address as usize, piece.length as usize) };
            let pieces = &mut batch.0.pieces;
            if piece.continued {
                pieces.extend_from_slice(bytes);
                continue;
            }
            received += 1;
            if pieces.is_empty() {
                take(Frame::plain(bytes));
            } else {
                let mut whole = core::mem::take(pieces);
                whole.extend_from_slice(bytes);
                take(Frame::plain(&whole));
                whole.clear();
                batch.0.pieces = whole;
            }
        }
        received
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), SendError> {
        check_length(frame, self.longest)?;
        let pieces = frame.len().div_ceil(CHUNK);
        if !self.outgoing.has_room(pieces) {
            self.flush()?;
            if !self.outgoing.has_room(pieces) {
                return Err(SendError::Full);
            }
        }
        for (index, bytes) in frame.chunks(CHUNK).enumerate() {
            let Some(address) = self.outgoing.free.pop() else { return Err(SendError::Full) };
            // SAFETY: only we own a free buffer.
            unsafe { self.buffers.bytes_mut(address as usize, bytes.len()) }.copy_from_slice(bytes);
            let continued = index + 1 < pieces;
            self.outgoing.transmit.push(Descriptor { address, length: bytes.len() as u32, continued });
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SendError> {
        self.outgoing.transmit.publish();
        let mut pending = self.outgoing.transmit.pending();
        while pending > 0 {
            let kicked = send(&self.socket, &[], SendFlags::DONTWAIT);
            self.outgoing.reclaim();
            let left = self.outgoing.transmit.pending();
            match kicked {
                // The kernel sends a few frames per call, and says "again" if there are more.
                Ok(_) | Err(Errno::AGAIN | Errno::BUSY | Errno::INTR) if left < pending => pending = left,
                Ok(_) | Err(Errno::AGAIN | Errno::BUSY | Errno::INTR | Errno::NOBUFS) => {
                    return Err(SendError::Full);
                }
                Err(source) => return Err(self.failed(source)),
            }
        }
        self.outgoing.reclaim();
        Ok(())
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn dropped(&mut self) -> u64 {
        sockopt::xdp_statistics(&self.socket)
            .map_or(0, |statistics| statistics.rx_dropped + statistics.rx_ring_full.unwrap_or(0))
    }

    /// Frames that the kernel found malformed. AF_XDP does not report frames that the driver drops later.
    fn lost_sending(&self) -> u64 {
        sockopt::xdp_statistics(&self.socket).map_or(0, |statistics| statistics.tx_invalid_descs)
    }

    /// An AF_XDP socket is told only when its interface is gone, not when it is down (`xsk_notifier` in the
    /// kernel's `net/xdp/xsk.c`).
    fn check(&mut self) -> Result<(), DeviceError> {
        check_socket(self.socket.as_fd(), &self.attachment.interface.name).map_err(|error| match error {
            DeviceError::Down { name } => DeviceError::Gone { name },
            error => error,
        })
    }
}
