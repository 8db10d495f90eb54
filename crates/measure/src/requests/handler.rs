//! What the server does with a request.

use crate::requests::service::{Payloads, ServedHandler, Service};
use crate::requests::source::{HEADER, number_of};
use std::net::SocketAddr;
use std::sync::Arc;
use warmcore_linux::handler_library::{HandlerLibrary, LibraryFlow};
use warmcore_runtime::server::{Reply, Request};

/// Bytes of a cache line.
const LINE: usize = 64;

/// The state of a flow.
pub(crate) enum FlowState {
    /// Bytes that are read and written.
    Bytes(Vec<u8>),
    /// In a user's library, which learns of the flow with its first request, on the worker that handles it.
    Library { library: Arc<HandlerLibrary>, peer: SocketAddr, flow: Option<LibraryFlow> },
}

impl Service {
    /// The state of a flow that begins.
    pub(crate) fn open(&self, peer: SocketAddr) -> FlowState {
        match &self.handler {
            ServedHandler::State(bytes) => FlowState::Bytes(vec![0; *bytes]),
            ServedHandler::Library(library, _) => {
                FlowState::Library { library: Arc::clone(library), peer, flow: None }
            }
        }
    }
}

/// Lets the handler answer what follows the header. The reply has the header too, with this worker's number in it. A
/// handler that does not answer gets an empty reply of ours, so that the end of its work is seen.
pub(crate) fn answer(
    state: &mut FlowState,
    request: Request<'_>,
    reply: &mut Reply<'_>,
    payloads: &Payloads,
) {
    let mut out = [0; crate::SocketPlan::MAX_PAYLOAD_BYTES];
    let Some((header, data)) = request.bytes.split_at_checked(HEADER) else { return };
    let worker = reply.worker_number();
    out[..8].copy_from_slice(&header[..8]);
    out[8..HEADER].copy_from_slice(&(worker as u16).to_le_bytes());
    let length = match state {
        FlowState::Bytes(bytes) => {
            for byte in bytes.iter_mut().step_by(LINE) {
                *byte = byte.wrapping_add(1);
            }
            let length = data.len().min(out.len() - HEADER);
            out[HEADER..HEADER + length].copy_from_slice(&data[..length]);
            length
        }
        FlowState::Library { library, peer, flow } => {
            let number = number_of(u64::from_le_bytes(header[..8].try_into().unwrap_or_default()));
            // The number by which the user knows it.
            let number = if payloads.count() > 1 { number % payloads.count() as u64 } else { number };
            let flow = flow.get_or_insert_with(|| library.flow(*peer, worker, number));
            flow.request(worker, number, data, &mut out[HEADER..])
        }
    };
    reply.send(&out[..HEADER + length]);
}
