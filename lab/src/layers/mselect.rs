//! MSELECT: procedures.

use crate::layer::{Above, Below, Lost};
use crate::message::Message;
use crate::on_path;
use core::hint::cold_path;
use warmcore_stack::rpc::{Mselect, MselectCalled};

/// The way down: a call of one procedure.
pub struct MselectOut<B: Below + ?Sized + 'static> {
    /// The procedures that are known.
    pub mselect: &'static Mselect,
    /// The one that is called.
    pub procedure: u16,
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> Below for MselectOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            if self.mselect.call(self.procedure, message.packet()).is_err() {
                cold_path();
                return Err(Lost::NoSpace);
            }
            self.below.push(message)
        }
    }
}

/// The way up of replies.
pub struct MselectIn<A: Above + ?Sized + 'static> {
    /// The procedures that are known.
    pub mselect: &'static Mselect,
    /// Who is above.
    pub above: &'static A,
}

impl<A: Above + ?Sized> Above for MselectIn<A> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            if self.mselect.receive_reply(message.packet()).is_err() {
                cold_path();
                return Err(Lost::Unclaimed);
            }
            self.above.pop(message)
        }
    }
}

/// The way up of calls, which come back as replies.
pub struct MselectServer<A: Above + ?Sized + 'static> {
    /// The procedures that are served.
    pub mselect: &'static Mselect,
    /// Who serves them.
    pub above: &'static A,
}

impl<A: Above + ?Sized> Above for MselectServer<A> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            match self.mselect.receive_call(message.packet()) {
                Ok(MselectCalled::Deliver { procedure, .. }) => {
                    self.above.pop(message)?;
                    let sent = self.mselect.reply(procedure, message.packet());
                    sent.map_err(|_| Lost::NoSpace)
                }
                Ok(MselectCalled::Answer) => {
                    cold_path();
                    Ok(())
                }
                Err(_) => {
                    cold_path();
                    Err(Lost::NoSpace)
                }
            }
        }
    }
}
