//! CHAN: channels, each with one call at a time, and threads that wait for replies.

use super::bid::PeerWatch;
use crate::event::EventId;
use crate::host::Host;
use crate::layer::{Above, Below, Lost};
use crate::map::Map;
use crate::message::{HEADERS, Message};
use crate::on_path;
use crate::thread::{Condition, Threads};
use alloc::boxed::Box;
use core::cell::RefCell;
use core::hint::cold_path;
use warmcore_stack::Packet;
use warmcore_stack::rpc::{Chan, ChanConfig, ChanReceived, PeerChange};

/// The channels of a host.
pub struct Channels {
    host: &'static Host,
    threads: &'static Threads,
    chan: RefCell<Chan>,
    map: Map,
    /// Replies that nobody has taken yet, by channel.
    replies: Box<[RefCell<Option<Message>>]>,
    timer: EventId,
}

impl Channels {
    /// Idle channels.
    #[must_use]
    pub fn new(host: &'static Host, threads: &'static Threads) -> Self {
        let chan = Chan::new(ChanConfig { max_message: 1400, ..ChanConfig::default() });
        let map = Map::default();
        for channel in 0..chan.channels() {
            map.bind(&channel.to_be_bytes(), u32::from(channel));
        }
        let replies = (0..chan.channels()).map(|_| RefCell::new(None)).collect();
        Self { host, threads, chan: RefCell::new(chan), map, replies, timer: host.events.add() }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u16 {
        self.chan.borrow().channels()
    }

    /// The reply on `channel`, for the thread that has waited for it.
    #[inline(never)]
    pub fn take_reply(&self, channel: Condition) -> Option<Message> {
        self.replies.get(channel.0 as usize)?.take()
    }

    #[inline(never)]
    fn set_timer(&self, chan: &Chan) {
        self.host.events.set(self.timer, chan.deadline());
    }
}

/// The way down on one channel: a call.
pub struct ChanOut<B: Below + ?Sized + 'static> {
    /// All channels.
    pub channels: &'static Channels,
    /// This one.
    pub channel: u16,
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> Below for ChanOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            let channels = self.channels;
            {
                let mut chan = channels.chan.borrow_mut();
                if chan.call(channels.host.now.get(), self.channel, message.packet()).is_err() {
                    cold_path();
                    return Err(Lost::NoSpace);
                }
                channels.set_timer(&chan);
            }
            self.below.push(message)?;
            channels.threads.block(Condition(u32::from(self.channel)));
            Ok(())
        }
    }
}

/// The way up: calls to their server, replies to the threads that wait.
pub struct ChanIn<A: Above + ?Sized + 'static, B: Below + ?Sized + 'static> {
    /// All channels.
    pub channels: &'static Channels,
    /// Who serves calls: turns the message into the reply.
    pub server: &'static A,
    /// The way down.
    pub below: &'static B,
}

impl<A: Above + ?Sized, B: Below + ?Sized> Above for ChanIn<A, B> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            let channels = self.channels;
            let received = {
                let mut chan = channels.chan.borrow_mut();
                let received = chan.receive(channels.host.now.get(), message.packet());
                channels.set_timer(&chan);
                received
            };
            match received {
                ChanReceived::Reply(call) => {
                    let inline_test = channels.host.switches.inline_cache_test;
                    let Some(at) = channels.map.resolve(&call.channel.to_be_bytes(), inline_test) else {
                        cold_path();
                        return Err(Lost::Unclaimed);
                    };
                    // The frame's memory is the driver's: what is kept is a copy, and short.
                    *channels.replies[at as usize].borrow_mut() = message.copy();
                    channels.threads.signal(Condition(at));
                    Ok(())
                }
                ChanReceived::Request(call) => {
                    self.server.pop(message)?;
                    if channels.chan.borrow_mut().reply(call, message.packet()).is_err() {
                        cold_path();
                        return Err(Lost::NoSpace);
                    }
                    self.below.push(message)
                }
                ChanReceived::Answer => {
                    cold_path();
                    self.below.push(message)
                }
                ChanReceived::Acknowledged(_) => {
                    cold_path();
                    Ok(())
                }
                ChanReceived::Drop(_) => {
                    cold_path();
                    Err(Lost::Malformed)
                }
            }
        }
    }
}

impl<A: Above + ?Sized, B: Below + ?Sized> PeerWatch for ChanIn<A, B> {
    #[inline(never)]
    fn peer_changed(&self, change: PeerChange) {
        let now = self.channels.host.now.get();
        {
            let mut chan = self.channels.chan.borrow_mut();
            match change {
                PeerChange::Same => {}
                PeerChange::Learned => chan.peer_learned(now),
                PeerChange::Rebooted => chan.peer_rebooted(),
            }
        }
        let _ = self.flush();
    }
}

impl<A: Above + ?Sized, B: Below + ?Sized> ChanIn<A, B> {
    /// Sends what is due: requests again, acknowledgements.
    #[inline(never)]
    pub fn flush(&self) -> Result<(), Lost> {
        let mut packet = Packet::with_capacity(HEADERS, 1500);
        while self.channels.chan.borrow_mut().transmit(&mut packet) {
            let mut message = Message::new(1500);
            if message.packet().append(packet.payload()).is_err() {
                return Err(Lost::NoSpace);
            }
            self.below.push(&mut message)?;
        }
        Ok(())
    }

    /// Lets time pass.
    pub fn expire(&self) {
        self.channels.chan.borrow_mut().time_passes(self.channels.host.now.get());
        let _ = self.flush();
    }
}
