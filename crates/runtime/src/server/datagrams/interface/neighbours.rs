//! At which link address a peer is: the one from which its last frame came. For peers behind a router it is the router's.

use hashbrown::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use warmcore_stack::LinkAddress;
use warmcore_stack::wire::vlan::Tags;

/// Where frames to a peer go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Neighbour {
    pub(super) station: LinkAddress,
    /// The VLAN that the peer is in.
    pub(super) tags: Tags,
}

/// The neighbours of one device, and those that any device of the same server has seen. A clone is another device's.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    own: Recent,
    all: Arc<Mutex<Recent>>,
}

impl Neighbours {
    /// Those of the first of `devices`. Each knows at least the `most` peers that it has heard of last.
    pub(super) fn new(devices: usize, most: usize) -> Self {
        Self { own: Recent::new(most), all: Arc::new(Mutex::new(Recent::new(devices.saturating_mul(most)))) }
    }

    /// A frame from `peer` came from `neighbour`.
    pub(super) fn seen(&mut self, peer: Ipv4Addr, neighbour: Neighbour) {
        // So a peer that goes on sending is told to the others anew before they may have forgotten it.
        if self.own.new.get(&peer) != Some(&neighbour) {
            self.own.insert(peer, neighbour);
            self.all.lock().unwrap_or_else(PoisonError::into_inner).insert(peer, neighbour);
        }
    }

    /// Where `peer` is. `None` if nothing came from it, or so long ago that it is forgotten.
    pub(super) fn of(&self, peer: Ipv4Addr) -> Option<Neighbour> {
        self.own.get(peer).or_else(|| self.all.lock().unwrap_or_else(PoisonError::into_inner).get(peer))
    }
}

/// A bounded table of what was entered last: when the new generation is full it becomes the old one, and the old one is
/// forgotten.
#[derive(Clone, Debug)]
struct Recent {
    new: HashMap<Ipv4Addr, Neighbour>,
    old: HashMap<Ipv4Addr, Neighbour>,
    /// The most peers of a generation.
    most: usize,
}

impl Recent {
    fn new(most: usize) -> Self {
        Self { new: HashMap::new(), old: HashMap::new(), most }
    }

    fn get(&self, peer: Ipv4Addr) -> Option<Neighbour> {
        self.new.get(&peer).or_else(|| self.old.get(&peer)).copied()
    }

    fn insert(&mut self, peer: Ipv4Addr, neighbour: Neighbour) {
        if self.new.len() >= self.most && !self.new.contains_key(&peer) {
            self.old = core::mem::take(&mut self.new);
        }
        self.new.insert(peer, neighbour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbour(last: u8) -> Neighbour {
        Neighbour { station: LinkAddress([2, 0, 0, 0, 0, last]), tags: Tags::NONE }
    }

    fn peer(number: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(number)
    }

    #[test]
    fn a_device_knows_what_others_have_seen_and_what_it_saw_last() {
        let mut one = Neighbours::new(2, 10);
        let mut other = one.clone();
        assert_eq!(other.of(peer(1)), None);
        one.seen(peer(1), neighbour(1));
        assert_eq!(other.of(peer(1)), Some(neighbour(1)));
        other.seen(peer(1), neighbour(2));
        assert_eq!(other.of(peer(1)), Some(neighbour(2)));
    }

    #[test]
    fn who_goes_on_sending_is_known_to_all_devices_however_many_others_come() {
        let mut devices = [Neighbours::new(3, 10), Neighbours::new(3, 10), Neighbours::new(3, 10)];
        devices[1] = devices[0].clone();
        devices[2] = devices[0].clone();
        for other in 0..1000 {
            devices[1].seen(peer(7), neighbour(1));
            for device in &mut devices {
                device.seen(peer(1000 + other), neighbour(2));
                assert_eq!(device.of(peer(7)), Some(neighbour(1)), "after {other}");
            }
        }
        assert_eq!(devices[0].of(peer(1000)), None);
        let all = devices[0].all.lock().unwrap();
        assert!(all.new.len() <= 30 && all.old.len() <= 30 && devices[0].own.new.len() <= 10);
    }
}
