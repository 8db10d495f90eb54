//! What every receiver of an interface's frames does: answers ARP, and sends while the device has no room.

use std::net::Ipv4Addr;
use warmcore_linux::net::{FrameDevice, SendError};
use warmcore_stack::LinkAddress;
use warmcore_stack::wire::arp;

/// How often to try a send when the device's queue is full.
const SEND_ATTEMPTS: u32 = 100;

/// The reply to `frame` if it is an ARP request for `address`, which is at `station`.
pub(crate) fn arp_reply(frame: &[u8], address: Ipv4Addr, station: LinkAddress) -> Option<Vec<u8>> {
    let request = arp::request(frame).filter(|request| request.target == address)?;
    let mut buffer = [0; arp::MAX_REPLY];
    // The buffer is long enough for any reply.
    request.reply(station, &mut buffer).ok().map(|reply| reply.to_vec())
}

/// Sends `frame`, with several attempts while the device's queue is full.
///
/// # Errors
/// If the queue stays full, or the device cannot send the frame.
pub(crate) fn transmit(device: &mut impl FrameDevice, frame: &[u8]) -> Result<(), SendError> {
    for _ in 0..SEND_ATTEMPTS {
        match device.send(frame) {
            Err(SendError::Full) => drop(device.flush()),
            sent => return sent,
        }
    }
    Err(SendError::Full)
}
