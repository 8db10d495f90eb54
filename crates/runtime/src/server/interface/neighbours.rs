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

/// The neighbours of one device, and those that any device of the same server has seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    own: Recent,
    all: Arc<Mutex<Recent>>,
}

impl Neighbours {
    /// A frame from `peer` came from `neighbour`.
    pub(super) fn seen(&mut self, peer: Ipv4Addr, neighbour: Neighbour) {
        if self.own.get(peer) != Some(neighbour) {
            self.own.insert(peer, neighbour);
            self.all.lock().unwrap_or_else(PoisonError::into_inner).insert(peer, neighbour);
        }
    }

    /// Where `peer` is. `None` if nothing came from it, or so long ago that it is forgotten.
    pub(super) fn of(&mut self, peer: Ipv4Addr) -> Option<Neighbour> {
        self.own.get(peer).or_else(|| {
            let neighbour = self.all.lock().unwrap_or_else(PoisonError::into_inner).get(peer)?;
            self.own.insert(peer, neighbour);
            Some(neighbour)
        })
    }
}

/// A bounded table that forgets what was not used recently: when the new generation is full it becomes the old one, and
/// the old one is forgotten.
#[derive(Clone, Debug, Default)]
struct Recent {
    new: HashMap<Ipv4Addr, Neighbour>,
    old: HashMap<Ipv4Addr, Neighbour>,
}

impl Recent {
    /// The most peers of a generation.
    const MOST: usize = 1 << 16;

    fn get(&mut self, peer: Ipv4Addr) -> Option<Neighbour> {
        if let Some(neighbour) = self.new.get(&peer) {
            return Some(*neighbour);
        }
        let neighbour = *self.old.get(&peer)?;
        self.insert(peer, neighbour);
        Some(neighbour)
    }

    fn insert(&mut self, peer: Ipv4Addr, neighbour: Neighbour) {
        if self.new.len() >= Self::MOST {
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

    #[test]
    fn a_device_knows_what_others_have_seen_and_what_it_saw_last() {
        let mut one = Neighbours::default();
        let mut other = one.clone();
        let peer = Ipv4Addr::new(10, 0, 0, 1);
        assert_eq!(other.of(peer), None);
        one.seen(peer, neighbour(1));
        assert_eq!(other.of(peer), Some(neighbour(1)));
        other.seen(peer, neighbour(2));
        assert_eq!(other.of(peer), Some(neighbour(2)));
    }

    #[test]
    fn who_is_in_use_is_kept_however_many_others_come() {
        let mut table = Recent::default();
        let kept = Ipv4Addr::from_bits(1);
        table.insert(kept, neighbour(1));
        for other in 0..4 * Recent::MOST as u32 {
            table.insert(Ipv4Addr::from_bits(1000 + other), neighbour(2));
            if other % 1000 == 0 {
                assert_eq!(table.get(kept), Some(neighbour(1)));
            }
        }
        assert_eq!(table.get(Ipv4Addr::from_bits(1000)), None);
        assert!(table.new.len() + table.old.len() <= 2 * Recent::MOST);
    }
}
