//! What UDP and TCP find their sessions by.

use crate::active_map::SessionId;
use crate::flow::Flow;

/// Key of an active map: the session below, and the ports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PortKey {
    pub(super) below: SessionId,
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
}

impl PortKey {
    pub(super) const fn new(flow: &Flow, below: SessionId) -> Self {
        Self { below, source_port: flow.source_port, destination_port: flow.destination_port }
    }
}
