//! What the server does with a request.

use crate::requests::source::HEADER;
use warmcore_runtime::server::{Reply, Request};

/// Bytes of a cache line.
const LINE: usize = 64;

/// Reads and writes each line of the flow's state, and sends back the request with this worker's number in it.
pub(crate) fn echo(state: &mut [u8], request: Request<'_>, reply: &mut Reply<'_>) {
    for byte in state.iter_mut().step_by(LINE) {
        *byte = byte.wrapping_add(1);
    }
    let mut answer = [0; crate::SocketPlan::MAX_PAYLOAD_BYTES];
    let (Some(answer), true) = (answer.get_mut(..request.bytes.len()), request.bytes.len() >= HEADER) else {
        return;
    };
    answer.copy_from_slice(request.bytes);
    answer[8..HEADER].copy_from_slice(&(reply.worker_number() as u16).to_le_bytes());
    reply.send(answer);
}
