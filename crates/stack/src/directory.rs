//! The open streams: their identifiers, flows and 5-tuples.
//!
//! The directory is written when streams open and close. Packets only read it, so it needs no lock.

use crate::flow::{Flow, FlowKey};
use crate::identifiers::LinkAddress;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use hashbrown::HashMap;
use warmcore_units::{StackId, StreamId};

/// The open streams, each with the place `P` where it is processed.
pub(crate) struct Directory<P> {
    /// What the streams carry, as IP numbers it.
    protocol: u8,
    by_key: HashMap<FlowKey, StreamId>,
    /// Indexed by stream identifier.
    streams: Vec<Option<(Flow, P)>>,
    /// The identifiers below `streams.len()` that no stream has. The last is given first.
    vacant: Vec<StreamId>,
}

impl<P: Copy> Directory<P> {
    pub(crate) fn new(protocol: u8) -> Self {
        Self { protocol, by_key: HashMap::new(), streams: Vec::new(), vacant: Vec::new() }
    }

    /// Adds a stream. Its identifier is that of the stream closed last, or a new one.
    pub(crate) fn open(&mut self, flow: &Flow, place: P) -> Result<StreamId, OpenError> {
        validate(flow)?;
        let key = flow.key_of(self.protocol);
        if let Some(&stream) = self.by_key.get(&key) {
            return Err(OpenError::AlreadyOpen { stream });
        }
        let stream = self.vacant.pop().unwrap_or_else(|| {
            self.streams.push(None);
            StreamId::from(self.streams.len() - 1)
        });
        self.streams[stream.index()] = Some((*flow, place));
        self.by_key.insert(key, stream);
        Ok(stream)
    }

    /// The identifier that the next stream gets.
    pub(crate) fn next(&self) -> StreamId {
        self.vacant.last().copied().unwrap_or_else(|| StreamId::from(self.streams.len()))
    }

    /// Lets the next stream get a free identifier below `limit` that `fits`. Nothing changes if there is none.
    pub(crate) fn prefer(&mut self, limit: usize, fits: impl Fn(StreamId) -> bool) {
        if let Some(position) = self.vacant.iter().rposition(|stream| fits(*stream)) {
            let stream = self.vacant.remove(position);
            return self.vacant.push(stream);
        }
        let new = self.streams.len();
        if let Some(fitting) = (new..limit).find(|number| fits(StreamId::from(*number))) {
            self.streams.resize(fitting + 1, None);
            self.vacant.extend((new..fitting).rev().chain([fitting]).map(StreamId::from));
        }
    }

    /// Removes a stream, and returns its flow and place.
    pub(crate) fn close(&mut self, stream: StreamId) -> Result<(Flow, P), CloseError> {
        let entry = self.streams.get_mut(stream.index()).and_then(Option::take);
        let (flow, place) = entry.ok_or(CloseError { stream })?;
        self.by_key.remove(&flow.key_of(self.protocol));
        self.vacant.push(stream);
        Ok((flow, place))
    }

    pub(crate) fn find(&self, key: &FlowKey) -> Option<StreamId> {
        self.by_key.get(key).copied()
    }

    pub(crate) fn stream(&self, stream: StreamId) -> Option<&(Flow, P)> {
        self.streams.get(stream.index())?.as_ref()
    }
}

fn validate(flow: &Flow) -> Result<(), OpenError> {
    let Flow { source, source_link, destination_port, .. } = *flow;
    if source.is_unspecified() || source.is_multicast() || source.is_broadcast() {
        return Err(OpenError::SourceNotUnicast { address: source });
    }
    if !source_link.is_unicast() {
        return Err(OpenError::SourceLinkNotUnicast { address: source_link });
    }
    if destination_port == 0 {
        return Err(OpenError::PortZero);
    }
    Ok(())
}

/// Why a stream could not be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpenError {
    /// A stream with the same 5-tuple is open.
    #[error("{stream} has the same addresses and ports; close it, or use another port")]
    AlreadyOpen {
        /// The stream that has them.
        stream: StreamId,
    },
    /// No host can have the source IP address.
    #[error("{address} cannot be the address of a sender; give a unicast address")]
    SourceNotUnicast {
        /// The address given.
        address: Ipv4Addr,
    },
    /// No station can have the source MAC address.
    #[error("{address} cannot be the address of a sender; give a unicast address")]
    SourceLinkNotUnicast {
        /// The address given.
        address: LinkAddress,
    },
    /// Destination port 0 is reserved.
    #[error("nothing can be sent to port 0; give a port from 1 to 65535")]
    PortZero,
    /// A conversation cannot be open in every stack: its state is in one place.
    #[error("a conversation has one state, and cannot be open in every stack; open it in one")]
    OneState,
    /// There is no such stack.
    #[error("{stack} does not exist; there are {stacks} stacks, numbered from 0")]
    NoSuchStack {
        /// The stack asked for.
        stack: StackId,
        /// How many there are.
        stacks: usize,
    },
}

/// The stream to be closed is not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{stream} is not open; streams close once, and only where they were opened")]
pub struct CloseError {
    /// The stream that was to be closed.
    pub stream: StreamId,
}
