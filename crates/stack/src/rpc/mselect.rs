//! MSELECT: from the number of a procedure to who has it (O'Malley & Peterson 1992).

use crate::packet::{Packet, PacketFull};
use crate::wire::rpc::mselect::{MALFORMED, MselectHeader, OK, UNKNOWN_PROCEDURE};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hint::cold_path;
use zerocopy::network_endian::U16;

/// The procedures of a server, and the header of calls and replies.
#[derive(Debug)]
pub struct Mselect {
    /// Procedure and index of its handler, in ascending order of procedures.
    handlers: Box<[(u16, usize)]>,
}

/// What to do with a call that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MselectCalled {
    /// Pass it to a handler.
    Deliver {
        /// Index of the handler.
        handler: usize,
        /// The procedure, to be passed to [`Mselect::reply`].
        procedure: u16,
    },
    /// The packet is an error reply now: send it to the layer below. The call was truncated, or nobody
    /// has its procedure.
    Answer,
}

/// Why a call has no results, though the server replied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum MselectFailure {
    /// The server has no such procedure.
    #[error("the server has no such procedure")]
    UnknownProcedure,
    /// One side did not understand the other.
    #[error("the call or its reply is malformed")]
    Malformed,
}

impl Mselect {
    /// A server of these procedures. The index of the handler is the position of its number. If a number
    /// stands there twice, the first has it.
    #[must_use]
    pub fn new(procedures: &[u16]) -> Self {
        let mut handlers: Vec<_> = procedures.iter().copied().zip(0..).collect();
        handlers.sort_unstable();
        handlers.dedup_by_key(|(procedure, _)| *procedure);
        Self { handlers: handlers.into_boxed_slice() }
    }

    /// Sends a call of `procedure`: prepends the header.
    ///
    /// # Errors
    /// The packet has no room for it.
    #[inline]
    pub fn call(&self, procedure: u16, arguments: &mut Packet) -> Result<(), PacketFull> {
        push_header(arguments, procedure, OK)
    }

    /// Sends the reply to a call of `procedure`: prepends the header.
    ///
    /// # Errors
    /// The packet has no room for it.
    #[inline]
    pub fn reply(&self, procedure: u16, results: &mut Packet) -> Result<(), PacketFull> {
        push_header(results, procedure, OK)
    }

    /// Takes a call, strips its header, and says what to do with it. Every call is answered, since its
    /// client waits for that.
    ///
    /// # Errors
    /// The packet has no room for an error reply.
    #[inline]
    pub fn receive_call(&self, call: &mut Packet) -> Result<MselectCalled, PacketFull> {
        let Some(header) =
            call.strip_header::<MselectHeader>().filter(|header| header.status == U16::new(OK))
        else {
            cold_path();
            return answer(call, 0, MALFORMED);
        };
        let procedure = header.procedure.get();
        let Ok(at) = self.handlers.binary_search_by_key(&procedure, |(number, _)| *number) else {
            cold_path();
            return answer(call, procedure, UNKNOWN_PROCEDURE);
        };
        Ok(MselectCalled::Deliver { handler: self.handlers[at].1, procedure })
    }

    /// Takes a reply, strips its header, and passes it to the caller.
    ///
    /// # Errors
    /// It is an error reply, or malformed.
    #[inline]
    pub fn receive_reply(&self, reply: &mut Packet) -> Result<(), MselectFailure> {
        match reply.strip_header::<MselectHeader>().map(|header| header.status.get()) {
            Some(OK) => Ok(()),
            Some(UNKNOWN_PROCEDURE) => {
                cold_path();
                Err(MselectFailure::UnknownProcedure)
            }
            _ => {
                cold_path();
                Err(MselectFailure::Malformed)
            }
        }
    }
}

/// Makes the packet an error reply.
fn answer(call: &mut Packet, procedure: u16, status: u16) -> Result<MselectCalled, PacketFull> {
    call.clear();
    push_header(call, procedure, status)?;
    Ok(MselectCalled::Answer)
}

#[inline]
fn push_header(message: &mut Packet, procedure: u16, status: u16) -> Result<(), PacketFull> {
    message.push_header(&MselectHeader { procedure: U16::new(procedure), status: U16::new(status) })
}
