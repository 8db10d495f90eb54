//! A device as a server sees it: datagrams in, datagrams out.

use super::batch::Batch;
use super::neighbours::{Neighbour, Neighbours};
use crate::frames::{arp_reply, transmit};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warmcore_linux::net::sockets::{Outbox, Sent};
use warmcore_linux::net::{DeviceError, Frame, FrameDevice};
use warmcore_stack::wire::vlan::{MAX_TAGS, Tags};
use warmcore_stack::wire::{FrameBuilder, LinkKind, ipv4, udp};
use warmcore_stack::{DropReason, Flow, LinkAddress};

/// The link type of all devices.
const LINK: LinkKind = LinkKind::Ethernet;

/// A queue of an interface. No call blocks.
pub(in super::super) trait Link: Send {
    /// Adds datagrams that have arrived to `batch`, as many as it has room for. Answers ARP. Returns the number of frames.
    fn receive(&mut self, batch: &mut Batch) -> usize;

    /// Sends everything in `outbox` and empties it.
    fn send(&mut self, outbox: &mut Outbox) -> Sent;

    /// Checks whether frames can still arrive, now or later.
    ///
    /// # Errors
    /// If the device receives nothing any more, whatever is sent to it.
    fn check(&mut self) -> Result<(), DeviceError>;

    /// Frames that the kernel dropped because the queue was full, so far.
    fn dropped(&mut self) -> u64;

    /// Frames for the server that were no valid datagram, so far.
    fn refused(&self) -> u64;

    /// What is readable when a frame arrives.
    fn descriptor(&self) -> BorrowedFd<'_>;
}

/// A queue that one thread receives from and any may send to. The lock is held while frames are copied, and never while
/// a thread waits or a handler runs.
pub(in super::super) type SharedLink = Arc<Mutex<dyn Link>>;

/// Locks a queue.
pub(in super::super) fn lock<'a>(link: &'a Mutex<dyn Link + 'static>) -> MutexGuard<'a, dyn Link + 'static> {
    // No code of the user runs under the lock, so a poisoned one is as good.
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The frames of a device.
pub(super) struct Frames<D> {
    device: D,
    /// The address that is served.
    address: SocketAddrV4,
    /// The link address that it is at.
    station: LinkAddress,
    neighbours: Neighbours,
    /// Where all peers are, if the interface has one other end.
    only_neighbour: Option<Neighbour>,
    /// Replies to ARP requests.
    answers: Vec<Vec<u8>>,
    /// The frame that is sent.
    frame: Vec<u8>,
    refused: u64,
    /// What the device lost after it had accepted it, as far as that is counted.
    lost: u64,
}

impl<D: FrameDevice> Frames<D> {
    pub(super) fn new(
        device: D,
        address: SocketAddrV4,
        station: LinkAddress,
        neighbours: Neighbours,
        only_neighbour: Option<LinkAddress>,
    ) -> Self {
        Self {
            device,
            address,
            station,
            neighbours,
            only_neighbour: only_neighbour.map(|station| Neighbour { station, tags: Tags::NONE }),
            answers: Vec::new(),
            frame: Vec::new(),
            refused: 0,
            lost: 0,
        }
    }

    /// Sends one datagram. Returns whether the device accepted it.
    fn send_one(&mut self, bytes: &[u8], to: SocketAddr) -> bool {
        let SocketAddr::V4(to) = to else { return false };
        let neighbour = self.only_neighbour.or_else(|| self.neighbours.of(*to.ip()));
        let Some(Neighbour { station, tags }) = neighbour else { return false };
        let flow = Flow {
            source_link: self.station,
            destination_link: station,
            source: *self.address.ip(),
            destination: *to.ip(),
            source_port: self.address.port(),
            destination_port: to.port(),
        };
        let builder = FrameBuilder { tags, ..FrameBuilder::new(LINK, flow) };
        self.frame.resize(builder.frame_length(bytes.len()) + MAX_TAGS, 0);
        let frame = builder.write(bytes, &mut self.frame);
        frame.is_ok_and(|frame| transmit(&mut self.device, frame).is_ok())
    }
}

impl<D: FrameDevice> Link for Frames<D> {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        let Self { device, address, station, neighbours, only_neighbour, answers, refused, .. } = self;
        let frames = device.receive(batch.room(), |frame| match Content::new(&frame, *address) {
            Content::Datagram { from, neighbour, payload } => {
                if only_neighbour.is_none() {
                    neighbours.seen(*from.ip(), neighbour);
                }
                batch.push(payload, from);
            }
            Content::Other => answers.extend(arp_reply(frame.bytes, *address.ip(), *station)),
            Content::Invalid => *refused += 1,
        });
        if !self.answers.is_empty() {
            for answer in core::mem::take(&mut self.answers) {
                // Who gets none asks again.
                let _ = transmit(&mut self.device, &answer);
            }
            let _ = self.device.flush();
        }
        frames
    }

    fn send(&mut self, outbox: &mut Outbox) -> Sent {
        let total = outbox.len() as u64;
        let accepted = outbox.datagrams().filter(|&(bytes, to)| self.send_one(bytes, to)).count() as u64;
        outbox.truncate(0);
        // What the device cannot send now it keeps for the next call.
        let _ = self.device.flush();
        let lost = self.device.lost_sending();
        let sent = accepted.saturating_sub(lost - core::mem::replace(&mut self.lost, lost));
        Sent { sent, refused: total - sent }
    }

    fn check(&mut self) -> Result<(), DeviceError> {
        match self.device.check() {
            // It may come up again.
            Err(DeviceError::Down { .. }) => Ok(()),
            checked => checked,
        }
    }

    fn dropped(&mut self) -> u64 {
        self.device.dropped()
    }

    fn refused(&self) -> u64 {
        self.refused
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.device.descriptor()
    }
}

/// What a frame carries.
#[derive(Debug)]
enum Content<'a> {
    /// A datagram for the server.
    Datagram { from: SocketAddrV4, neighbour: Neighbour, payload: &'a [u8] },
    /// Something else, such as ARP, or something for somebody else.
    Other,
    /// Something that cannot be received: it is spoilt or a fragment, or its sender cannot be answered.
    Invalid,
}

impl<'a> Content<'a> {
    fn new(frame: &Frame<'a>, address: SocketAddrV4) -> Self {
        Self::parse(frame, address).unwrap_or_else(|reason| match reason {
            DropReason::LinkEtherType | DropReason::IpProtocol => Self::Other,
            _ => Self::Invalid,
        })
    }

    fn parse(frame: &Frame<'a>, address: SocketAddrV4) -> Result<Self, DropReason> {
        let link = LINK.parse(frame.bytes)?;
        let ip = ipv4::parse(link.data)?;
        let udp = udp::parse(ip.data)?;
        let to = SocketAddrV4::new(ip.header.destination(), udp.header.destination_port.get());
        if to != address {
            return Ok(Self::Other);
        }
        // Between programs of one machine the sender leaves it to hardware that is not there.
        if !frame.checksum_left_out {
            udp.verify(ip.header)?;
        }
        let from = SocketAddrV4::new(ip.header.source(), udp.header.source_port.get());
        if !is_answerable(from, link.source) {
            return Ok(Self::Invalid);
        }
        let tags = match frame.vlan {
            // The kernel has taken the tag out.
            Some(customer) => Tags { customer: Some(customer), ..Tags::NONE },
            None => LINK.tags(frame.bytes),
        };
        let neighbour = Neighbour { station: link.source, tags };
        Ok(Self::Datagram { from, neighbour, payload: udp.payload })
    }
}

/// Whether a datagram can be sent to who claims to have sent one.
fn is_answerable(from: SocketAddrV4, station: LinkAddress) -> bool {
    let address = from.ip();
    let is_one_host = !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast();
    is_one_host && from.port() != 0 && station.is_unicast()
}
