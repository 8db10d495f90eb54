//! BLAST: fragments of messages, by peer.

use crate::event::EventId;
use crate::host::Host;
use crate::layer::{Above, Below, Lost};
use crate::map::Map;
use crate::message::{HEADERS, Message};
use crate::on_path;
use alloc::boxed::Box;
use core::cell::RefCell;
use core::hint::cold_path;
use warmcore_stack::rpc::{Blast, BlastConfig, BlastReceived, BlastSent};
use warmcore_stack::{LinkAddress, Packet};

const MTU: usize = 1500;

/// The state for each peer.
pub struct Blasts {
    host: &'static Host,
    map: Map,
    peers: Box<[RefCell<Blast>]>,
    timer: EventId,
}

impl Blasts {
    /// For these peers.
    #[must_use]
    pub fn new(host: &'static Host, peers: &[LinkAddress]) -> Self {
        let map = Map::default();
        for (index, peer) in (0..).zip(peers) {
            map.bind(&peer.0, index);
        }
        let peers = peers.iter().map(|_| RefCell::new(Blast::new(BlastConfig::default(), 1))).collect();
        Self { host, map, peers, timer: host.events.add() }
    }

    /// Sets the timer of `peer`.
    #[inline(never)]
    fn set_timer(&self, blast: &Blast) {
        self.host.events.set(self.timer, blast.deadline());
    }
}

/// The way down, to one peer.
pub struct BlastOut<B: Below + ?Sized + 'static> {
    /// All state.
    pub blasts: &'static Blasts,
    /// The peer.
    pub peer: u32,
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> Below for BlastOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            let mut blast = self.blasts.peers[self.peer as usize].borrow_mut();
            match blast.send(message.packet()) {
                Ok(BlastSent::Frame) => {
                    drop(blast);
                    self.below.push(message)
                }
                Ok(BlastSent::Fragments) => {
                    cold_path();
                    drop(blast);
                    self.flush()
                }
                Err(_) => {
                    cold_path();
                    Err(Lost::NoSpace)
                }
            }
        }
    }
}

impl<B: Below + ?Sized> BlastOut<B> {
    /// Sends what is due: fragments, and requests for missing ones.
    #[inline(never)]
    pub fn flush(&self) -> Result<(), Lost> {
        let now = self.blasts.host.now.get();
        let mut frame = Packet::with_capacity(HEADERS, MTU);
        loop {
            let mut blast = self.blasts.peers[self.peer as usize].borrow_mut();
            if !blast.transmit(now, &mut frame) {
                self.blasts.set_timer(&blast);
                return Ok(());
            }
            drop(blast);
            let mut message = Message::new(MTU);
            if message.packet().append(frame.payload()).is_err() {
                return Err(Lost::NoSpace);
            }
            self.below.push(&mut message)?;
        }
    }
}

/// The way up: whole messages.
pub struct BlastIn<A: Above + ?Sized + 'static, B: Below + ?Sized + 'static> {
    /// All state.
    pub blasts: &'static Blasts,
    /// Who is above.
    pub above: &'static A,
    /// The way down.
    pub out: &'static BlastOut<B>,
}

impl<A: Above + ?Sized, B: Below + ?Sized> Above for BlastIn<A, B> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            let inline_test = self.blasts.host.switches.inline_cache_test;
            let Some(peer) = self.blasts.map.resolve(&message.peer.0, inline_test) else {
                cold_path();
                return Err(Lost::Unclaimed);
            };
            let mut blast = self.blasts.peers[peer as usize].borrow_mut();
            let received = blast.receive(self.blasts.host.now.get(), message.packet());
            self.blasts.set_timer(&blast);
            drop(blast);
            match received {
                BlastReceived::Deliver => self.above.pop(message),
                BlastReceived::Kept => {
                    cold_path();
                    Ok(())
                }
                BlastReceived::Resend => {
                    cold_path();
                    self.out.flush()
                }
                BlastReceived::Drop(_) => {
                    cold_path();
                    Err(Lost::Malformed)
                }
            }
        }
    }
}
