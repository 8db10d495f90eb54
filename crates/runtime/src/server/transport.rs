//! What lies beneath a [`Service`](super::service): datagrams or connections.

use super::connections::{Directory, Frames, Stream};
use super::datagrams::DatagramPort;
use super::flows::{NEVER, TimerChange};
use super::handler::{Closed, Handler};
use super::service::{Kept, Local, Place, Service};
use core::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use warmcore_linux::net::connections::ListeningPort;
use warmcore_linux::net::sockets::Sent;

/// A transport. All of a server that is chosen by it is compiled for it.
pub(super) trait Transport: Sized + Send + Sync + 'static {
    /// How the peer of a flow is reached.
    type Link: Clone + Send + Sync;
    /// What lies beside the state of a flow.
    type Beside: Send;
    /// What a thread sends.
    type Out: Outgoing + Send;
    /// A worker's share of the port.
    type Share: Send;

    /// Where the replies of a handler go.
    fn target<'a>(out: &'a mut Self::Out, peer: SocketAddr, link: &Self::Link) -> Target<'a>;

    /// Calls the handler because a flow's timer has come.
    fn timer<S, W, H: Handler<S, W>>(
        service: &Service<S, H, Self>,
        local: &mut Local<W, Self>,
        place: Place<Self>,
        kept: Box<Kept<S, Self>>,
    );

    /// A flow was ended by the server.
    fn ended<W>(local: &mut Local<W, Self>, link: Self::Link, beside: Self::Beside, reason: Closed, now: u64);

    /// Works until the port is closed and what is queued is done.
    ///
    /// # Errors
    /// The error of the kernel that made going on impossible.
    fn work<S, W, H: Handler<S, W>>(
        service: &Service<S, H, Self>,
        local: Local<W, Self>,
        share: Self::Share,
    ) -> Result<(), String>;
}

/// What a thread sends.
pub(super) trait Outgoing {
    /// A handler is about to be called.
    fn mark(&mut self);
    /// Takes back what was sent since, as far as it has not left.
    fn back_to_mark(&mut self);
    /// Sends everything.
    fn flush(&mut self);
    /// What was sent so far.
    fn sent(&self) -> Sent;
    /// Does what is due otherwise. Returns when to do so again.
    fn tend(&mut self, now: u64) -> u64 {
        let _ = now;
        NEVER
    }
}

/// Where the replies of a handler go.
pub(super) enum Target<'a> {
    /// Datagrams, to leave from the address that the peer knows.
    Datagrams(&'a mut super::datagrams::Out, Option<IpAddr>),
    /// The connection that has its turn.
    Connection(&'a mut super::connections::Out),
}

/// The port of a server.
pub(super) enum ServedPort {
    /// Of UDP.
    Datagrams(DatagramPort),
    /// Of TCP.
    Connections {
        port: ListeningPort,
        frames: Frames,
        /// Knows the connections.
        directory: Arc<dyn Directory>,
    },
}

impl ServedPort {
    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::Datagrams(port) => port.address(),
            Self::Connections { port, .. } => port.address(),
        }
    }

    /// What the kernel dropped: datagrams, or requests for a connection.
    pub(super) fn dropped(&self) -> u64 {
        match self {
            Self::Datagrams(port) => port.dropped(),
            Self::Connections { port, .. } => port.dropped().into_iter().map(u64::from).sum(),
        }
    }

    /// Frames that were no valid datagram. What comes to a socket the kernel has checked.
    pub(super) fn refused(&self) -> u64 {
        match self {
            Self::Datagrams(port) => port.refused(),
            Self::Connections { .. } => 0,
        }
    }

    pub(super) fn close(&self) {
        match self {
            Self::Datagrams(port) => port.close(),
            Self::Connections { port, .. } => port.close(),
        }
    }

    /// Gives all flows to the first `workers`, where flows can move.
    pub(super) fn gather(&self, workers: usize) {
        if let Self::Datagrams(port) = self {
            port.gather(workers);
        }
    }

    /// Sends to any peer, from any thread. Returns whether the kernel took it, or will.
    pub(super) fn send(&self, bytes: &[u8], peer: SocketAddr) -> bool {
        match self {
            Self::Datagrams(port) => port.send(bytes, peer),
            Self::Connections { frames, directory, .. } => {
                let stream: Option<Arc<Stream>> = directory.find(&peer);
                stream.is_some_and(|stream| stream.offer(frames, bytes))
            }
        }
    }
}

impl fmt::Debug for ServedPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Datagrams(port) => port.fmt(f),
            Self::Connections { port, .. } => port.fmt(f),
        }
    }
}

/// How a flow goes on after a call of its handler.
pub(super) enum Ended {
    /// With a change of its timer.
    Goes(TimerChange),
    /// Not at all. Without a reason its state is dropped.
    Over(Option<Closed>),
}
