//! The user's function that handles requests.

use super::Reply;
use std::net::SocketAddr;

/// A received datagram, or a request on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request<'a> {
    /// Its data, without its frame on a connection.
    pub bytes: &'a [u8],
    /// Who sent it. Address and port name the flow.
    pub peer: SocketAddr,
    /// Whether it was longer than the [longest request](super::Server::longest_request): the rest is lost. Never so on
    /// connections, which are closed then.
    pub truncated: bool,
}

/// Handles the requests of flows with state `S`, on workers with state `W`. A function of a flow's state, a request and
/// a reply is a handler.
///
/// Several workers call a handler at once, but never two for the same flow.
pub trait Handler<S, W = ()>: Send + Sync {
    /// Handles one request.
    fn request(&self, state: &mut S, request: Request<'_>, reply: &mut Reply<'_, W>);

    /// The time that the flow [asked for](Reply::after) has come.
    fn timer(&self, state: &mut S, reply: &mut Reply<'_, W>) {
        let _ = (state, reply);
    }

    /// A flow has ended, and gives back its state.
    fn closed(&self, peer: SocketAddr, state: S, reason: Closed) {
        let _ = (peer, state, reason);
    }

    /// [`request`](Self::request) or [`timer`](Self::timer) panicked with `message`. What it had replied is not sent,
    /// unless it was more than a batch. Returns what becomes of the flow.
    fn panicked(&self, peer: SocketAddr, message: &str) -> AfterPanic {
        let _ = (peer, message);
        AfterPanic::Drop
    }
}

impl<S, W, F: Fn(&mut S, Request<'_>, &mut Reply<'_, W>) + Send + Sync> Handler<S, W> for F {
    fn request(&self, state: &mut S, request: Request<'_>, reply: &mut Reply<'_, W>) {
        self(state, request, reply);
    }
}

/// What becomes of a flow whose handler panicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AfterPanic {
    /// Its state is dropped. It begins anew with the sender's next request. A connection is closed, since its peer would take
    /// the next reply for the one that is missing.
    #[default]
    Drop,
    /// It goes on with the state that the panic left.
    Keep,
}

/// Why a flow ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closed {
    /// Nothing came for the [idle time](super::Server::idle_after).
    Expired,
    /// There were too many flows, and this one had been idle longest.
    Evicted,
    /// The handler [closed](Reply::close) it.
    ByHandler,
    /// The server stopped.
    Stopped,
    /// The peer closed or reset its connection.
    ByPeer,
    /// The peer sent what is no request, or a longer one than allowed; says what was wrong.
    Invalid(&'static str),
}
