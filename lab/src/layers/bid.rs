//! BID: boot ids, by peer.

use crate::host::Host;
use crate::layer::{Above, Below, Lost};
use crate::map::Map;
use crate::message::Message;
use crate::on_path;
use alloc::boxed::Box;
use core::cell::RefCell;
use core::hint::cold_path;
use warmcore_stack::LinkAddress;
use warmcore_stack::rpc::{Bid, BidDecision, BootId, PeerChange};

/// The state for each peer.
pub struct Bids {
    host: &'static Host,
    map: Map,
    peers: Box<[RefCell<Bid>]>,
}

impl Bids {
    /// For these peers, of the incarnation `boot`.
    #[must_use]
    pub fn new(host: &'static Host, boot: BootId, peers: &[LinkAddress]) -> Self {
        let map = Map::default();
        for (index, peer) in (0..).zip(peers) {
            map.bind(&peer.0, index);
        }
        Self { host, map, peers: peers.iter().map(|_| RefCell::new(Bid::new(boot))).collect() }
    }
}

/// The way down, to one peer.
pub struct BidOut<B: Below + ?Sized + 'static> {
    /// All state.
    pub bids: &'static Bids,
    /// The peer.
    pub peer: u32,
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> Below for BidOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            if self.bids.peers[self.peer as usize].borrow_mut().send(message.packet()).is_err() {
                cold_path();
                return Err(Lost::NoSpace);
            }
            self.below.push(message)
        }
    }
}

/// Who must know of what is new about a peer.
pub trait PeerWatch {
    /// The peer's incarnation is known, or it has rebooted.
    fn peer_changed(&self, change: PeerChange);
}

/// The way up: messages for this incarnation.
pub struct BidIn<A: Above + PeerWatch + 'static, B: Below + ?Sized + 'static, U: Above + ?Sized + 'static> {
    /// All state.
    pub bids: &'static Bids,
    /// Who is above.
    pub above: &'static U,
    /// Who is told of reboots: the same.
    pub watch: &'static A,
    /// The way down for answers, below this layer.
    pub below: &'static B,
}

impl<A: Above + PeerWatch, B: Below + ?Sized, U: Above + ?Sized> Above for BidIn<A, B, U> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            let inline_test = self.bids.host.switches.inline_cache_test;
            let Some(peer) = self.bids.map.resolve(&message.peer.0, inline_test) else {
                cold_path();
                return Err(Lost::Unclaimed);
            };
            let received = self.bids.peers[peer as usize].borrow_mut().receive(message.packet());
            if received.peer != PeerChange::Same {
                cold_path();
                self.watch.peer_changed(received.peer);
            }
            match received.decision {
                BidDecision::Deliver => self.above.pop(message),
                BidDecision::Answer => {
                    cold_path();
                    self.below.push(message)
                }
                BidDecision::Done => {
                    cold_path();
                    Ok(())
                }
                BidDecision::Drop(_) => {
                    cold_path();
                    Err(Lost::Malformed)
                }
            }
        }
    }
}
