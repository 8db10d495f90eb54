//! A connection as all threads see it, and what waits to be sent on it.

use super::frames::Frames;
use core::mem;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use warmcore_linux::net::connections::{Connection, ConnectionError, Interest, Registry};

/// Bytes that a peer may leave unread. While there are more its requests wait, and what is sent to it unasked is refused.
pub(super) const MOST_UNSENT: usize = 4 << 20;

/// A connection. Bytes are handed to the kernel at once; what it does not take waits here.
#[derive(Debug)]
pub(in crate::server) struct Stream {
    connection: Connection,
    registry: Registry,
    sending: Mutex<Sending>,
}

/// Framed replies.
#[derive(Default, Debug)]
pub(super) struct Replies {
    pub(super) bytes: Vec<u8>,
    /// Where each of them ends in the bytes.
    pub(super) ends: Vec<usize>,
}

/// What was not sent yet.
#[derive(Default, Debug)]
struct Sending {
    bytes: VecDeque<u8>,
    /// The position of the first of them in all that was ever queued.
    position: u64,
    /// The positions at which replies end.
    ends: VecDeque<u64>,
    /// Its number in the registry, and what is asked for there; `None` before it is registered and after its end.
    registered: Option<(u64, Interest)>,
    /// Whether the connection has failed, or was given up.
    over: bool,
}

/// What came of sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Given {
    /// Replies that the kernel took.
    pub(super) sent: u64,
    /// Replies that are lost, with the connection.
    pub(super) lost: u64,
    /// Bytes that wait.
    pub(super) waiting: usize,
    /// Whether the connection is over.
    pub(super) over: bool,
}

impl Stream {
    pub(super) fn new(connection: Connection, registry: Registry) -> Self {
        Self { connection, registry, sending: Mutex::default() }
    }

    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Registers it under `number`, to receive. Returns whether the kernel could.
    pub(super) fn register(&self, number: u64) -> bool {
        let mut sending = self.lock();
        let added = self.registry.add(&self.connection, number, Interest::RECEIVE).is_ok();
        sending.registered = added.then_some((number, Interest::RECEIVE));
        added
    }

    /// Sends what waits, and then `replies`, which it empties. What the kernel does not take waits.
    pub(super) fn give(&self, replies: &mut Replies) -> Given {
        let mut sending = self.lock();
        let given = sending.give(&self.connection, replies);
        replies.bytes.clear();
        replies.ends.clear();
        given
    }

    /// Sends a reply unasked, from any thread. Returns whether the kernel or the queue took it.
    pub(in crate::server) fn offer(&self, frames: &Frames, reply: &[u8]) -> bool {
        let mut replies = Replies::default();
        if !frames.append(&mut replies.bytes, reply) {
            return false;
        }
        replies.ends.push(replies.bytes.len());
        let mut sending = self.lock();
        if sending.over || sending.bytes.len() > MOST_UNSENT {
            return false;
        }
        let given = sending.give(&self.connection, &replies);
        if given.waiting > 0 {
            // Who has its turn now will ask for the same, or send it.
            let receive = sending.registered.is_some_and(|(_, interest)| interest.receive);
            self.ask(&mut sending, Interest { receive, send: true });
        }
        !given.over
    }

    /// Asks for what comes next: something to receive if `receive`, and the next turn at once if `again`. A peer
    /// that leaves too much unread is not listened to.
    pub(super) fn arm(&self, receive: bool, again: bool) {
        let mut sending = self.lock();
        let waiting = sending.bytes.len();
        let interest = Interest { receive: receive && waiting <= MOST_UNSENT, send: again || waiting > 0 };
        self.ask(&mut sending, interest);
    }

    fn ask(&self, sending: &mut Sending, interest: Interest) {
        if let Some((number, asked)) = &mut sending.registered
            && (self.registry.tells_once() || *asked != interest)
        {
            *asked = interest;
            self.registry.set(&self.connection, *number, interest);
        }
    }

    /// Gives it up: nothing more is told of it or sent on it. Returns how many replies are lost.
    pub(super) fn give_up(&self) -> u64 {
        let mut sending = self.lock();
        if sending.registered.take().is_some() {
            self.registry.remove(&self.connection);
        }
        sending.lose()
    }

    fn lock(&self) -> MutexGuard<'_, Sending> {
        // Nothing under the lock panics.
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sending {
    fn give(&mut self, connection: &Connection, replies: &Replies) -> Given {
        if self.over {
            return Given { lost: replies.ends.len() as u64, over: true, ..Given::default() };
        }
        let mut given = Given::default();
        match self.send(connection, replies) {
            Ok(sent) => given.sent = sent,
            Err(_) => {
                given.lost = self.lose() + replies.ends.len() as u64;
                given.over = true;
            }
        }
        given.waiting = self.bytes.len();
        given
    }

    /// Sends what waits, then `replies`. Returns how many replies left.
    fn send(&mut self, connection: &Connection, replies: &Replies) -> Result<u64, ConnectionError> {
        let mut sent = 0;
        while !self.bytes.is_empty() {
            let count = connection.send(self.bytes.as_slices().0)?;
            if count == 0 {
                break;
            }
            self.bytes.drain(..count);
            self.position += count as u64;
            while self.ends.pop_front_if(|end| *end <= self.position).is_some() {
                sent += 1;
            }
        }
        let taken = if self.bytes.is_empty() && !replies.bytes.is_empty() {
            connection.send(&replies.bytes)?
        } else {
            0
        };
        if self.bytes.is_empty() {
            self.bytes.shrink_to(0);
            self.position += taken as u64;
        }
        let whole = replies.ends.partition_point(|end| *end <= taken);
        let start = self.position + self.bytes.len() as u64 - taken as u64;
        self.ends.extend(replies.ends[whole..].iter().map(|end| start + *end as u64));
        self.bytes.extend(&replies.bytes[taken..]);
        Ok(sent + whole as u64)
    }

    fn lose(&mut self) -> u64 {
        self.over = true;
        self.bytes = VecDeque::new();
        mem::take(&mut self.ends).len() as u64
    }
}
