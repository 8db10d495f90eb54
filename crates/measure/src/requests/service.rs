//! What a server is asked, and what it does with it.

use crate::requests::source::HEADER;
use crate::sockets::SocketPlan;
use std::sync::Arc;
use warmcore_costs::server::{ServerCosts, UserFile};
use warmcore_linux::handler_library::HandlerLibrary;
use warmcore_units::Transport;

/// What sources send, and what the server does with it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service {
    /// What the server does.
    pub handler: ServedHandler,
    /// What is sent.
    pub payloads: Payloads,
    /// How: as datagrams, or on TCP connections, preceded by their lengths.
    pub transport: Transport,
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum ServedHandler {
    /// It reads and writes so many bytes of the flow's state, and sends the request back; with 0 it is an echo.
    State(usize),
    /// It calls a user's library, loaded from this file.
    Library(Arc<HandlerLibrary>, UserFile),
}

/// The data of requests, in the order in which they are sent, again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payloads {
    /// At least one.
    data: Arc<[Box<[u8]>]>,
    capture: Option<UserFile>,
}

/// Payloads cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PayloadsError {
    /// There are none.
    #[error("there are no requests to send; expected at least one")]
    None,
    /// One is too long.
    #[error(
        "request {number} has {bytes} bytes, expected at most {}, what one frame carries beside a header of ours",
        Payloads::LONGEST
    )]
    TooLong {
        /// Its number, from 1.
        number: usize,
        /// Its length.
        bytes: usize,
    },
}

impl Service {
    /// A handler that uses `state_bytes` of the flow's state, and requests of `payload_bytes` bytes.
    #[must_use]
    pub fn touching(state_bytes: usize, payload_bytes: usize) -> Self {
        Self {
            handler: ServedHandler::State(state_bytes),
            payloads: Payloads::equal(payload_bytes),
            transport: Transport::Udp,
        }
    }

    /// The same over `transport`.
    #[must_use]
    pub fn over(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }

    /// Whether `costs` are about this.
    #[must_use]
    pub fn is_of(&self, costs: &ServerCosts) -> bool {
        self.transport == costs.transport
            && self.state_bytes() == costs.state_bytes
            && self.library() == costs.library.as_ref()
            && self.payloads.capture() == costs.requests.as_ref()
            && self.payloads.mean_bytes() == costs.payload_bytes
    }

    /// Whether a reply is as long as its request.
    pub(crate) const fn is_echo(&self) -> bool {
        matches!(self.handler, ServedHandler::State(_))
    }

    /// The library that handles requests.
    pub(crate) const fn library(&self) -> Option<&UserFile> {
        match &self.handler {
            ServedHandler::State(_) => None,
            ServedHandler::Library(_, file) => Some(file),
        }
    }

    /// Bytes of the flow's state that the server itself keeps.
    pub(crate) const fn state_bytes(&self) -> usize {
        match self.handler {
            ServedHandler::State(bytes) => bytes,
            ServedHandler::Library(..) => 0,
        }
    }
}

impl Payloads {
    /// The most bytes of one.
    pub const LONGEST: usize = SocketPlan::MAX_PAYLOAD_BYTES - HEADER;

    /// Zeros, so that a request has `bytes` bytes with the header of ours.
    #[must_use]
    pub fn equal(bytes: usize) -> Self {
        Self { data: Arc::new([vec![0; bytes.saturating_sub(HEADER)].into()]), capture: None }
    }

    /// So many zeros, without a header: for a program that is no server of ours.
    #[must_use]
    pub fn zeros(bytes: usize) -> Self {
        Self::equal(HEADER + bytes)
    }

    /// The requests of a user's `capture`.
    ///
    /// # Errors
    /// If there are none, or one is too long.
    pub fn captured(payloads: Vec<Vec<u8>>, capture: UserFile) -> Result<Self, PayloadsError> {
        let long = payloads.iter().position(|payload| payload.len() > Self::LONGEST);
        if let Some(at) = long {
            return Err(PayloadsError::TooLong { number: at + 1, bytes: payloads[at].len() });
        }
        if payloads.is_empty() {
            return Err(PayloadsError::None);
        }
        let data = payloads.into_iter().map(Vec::into_boxed_slice).collect();
        Ok(Self { data, capture: Some(capture) })
    }

    /// The capture that they are from.
    pub(crate) const fn capture(&self) -> Option<&UserFile> {
        self.capture.as_ref()
    }

    /// How many there are, at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        self.data.len()
    }

    /// The data of the request with this number.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> &[u8] {
        &self.data[(number % self.data.len() as u64) as usize]
    }

    /// The bytes of a request on average, with the header of ours.
    #[must_use]
    pub fn mean_bytes(&self) -> usize {
        let all: usize = self.data.iter().map(|payload| payload.len()).sum();
        HEADER + (all as f64 / self.data.len() as f64).round() as usize
    }

    /// The bytes of the longest request, with the header of ours.
    pub(crate) fn longest(&self) -> usize {
        HEADER + self.data.iter().map(|payload| payload.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(payloads: Vec<Vec<u8>>) -> Result<Payloads, PayloadsError> {
        Payloads::captured(payloads, UserFile { name: "some.pcap".to_owned(), crc32: 0 })
    }

    #[test]
    fn requests_are_sent_again_and_again() {
        let payloads = captured(vec![b"one".to_vec(), b"three".to_vec()]).unwrap();
        assert_eq!((payloads.get(0), payloads.get(3)), (&b"one"[..], &b"three"[..]));
        assert_eq!((payloads.mean_bytes(), payloads.longest()), (HEADER + 4, HEADER + 5));
        assert_eq!(Payloads::equal(64).mean_bytes(), 64);
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        assert_eq!(captured(Vec::new()), Err(PayloadsError::None));
        let long = vec![vec![0; Payloads::LONGEST], vec![0; Payloads::LONGEST + 1]];
        let bytes = Payloads::LONGEST + 1;
        assert_eq!(captured(long), Err(PayloadsError::TooLong { number: 2, bytes }));
    }
}
