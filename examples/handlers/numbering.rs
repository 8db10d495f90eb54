//! A handler for Warmcore in Rust: numbers the requests of each flow, and sends each back behind its number.
//!
//! ```text
//! rustc -O --edition 2024 --crate-type cdylib -o libnumbering_rs.so examples/handlers/numbering.rs
//! warmcore run --driver udp-socket --rate 5000 --handler ./libnumbering_rs.so
//! ```
//!
//! The functions are those of `include/warmcore_handler.h`. A panic that reaches one of them ends the process.

use std::ffi::c_void;
use std::slice;

/// The state of a flow.
#[derive(Default)]
struct Flow {
    requests: u64,
}

impl Flow {
    /// Writes the reply to `request` and returns its length.
    fn answer(&mut self, request: &[u8], reply: &mut [u8]) -> usize {
        self.requests += 1;
        let Some((number, rest)) = reply.split_first_chunk_mut() else { return 0 };
        *number = self.requests.to_ne_bytes();
        let length = request.len().min(rest.len());
        rest[..length].copy_from_slice(&request[..length]);
        number.len() + length
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn warmcore_handler_version() -> u32 {
    1
}

#[unsafe(no_mangle)]
pub extern "C" fn warmcore_flow_open(_peer: *const c_void) -> *mut c_void {
    Box::into_raw(Box::<Flow>::default()).cast()
}

/// # Safety
/// As the header says: `flow` is open and used by nobody else, `request` and `reply` are valid for their lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warmcore_flow_request(
    flow: *mut c_void,
    request: *const c_void,
    length: usize,
    reply: *mut c_void,
    capacity: usize,
) -> usize {
    // SAFETY: the caller guarantees it; the state is a `Flow` of `warmcore_flow_open`.
    let (flow, request, reply) = unsafe {
        let reply = slice::from_raw_parts_mut(reply.cast::<u8>(), capacity);
        (&mut *flow.cast::<Flow>(), slice::from_raw_parts(request.cast::<u8>(), length), reply)
    };
    flow.answer(request, reply)
}

/// # Safety
/// `flow` is open, and not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warmcore_flow_close(flow: *mut c_void) {
    // SAFETY: it is a box that `warmcore_flow_open` gave away, and the caller gives it back once.
    drop(unsafe { Box::from_raw(flow.cast::<Flow>()) });
}
