//! XRPCTEST: calls without arguments and replies without results (§2.1, §4.2).

use super::tcptest::Counts;
use crate::layer::{Above, Below, Lost};
use crate::message::Message;
use crate::on_path;
use core::hint::cold_path;

/// The client.
pub struct XrpcTest<B: Below + ?Sized + 'static> {
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> XrpcTest<B> {
    on_path! {
        /// Makes the next call.
        pub fn send(&self) -> Result<(), Lost> {
            self.below.push(&mut Message::new(0))
        }
    }
}

/// Where replies come to the client, and calls to the server.
pub struct XrpcEnd {
    /// What it has seen.
    pub counts: &'static Counts,
}

impl Above for XrpcEnd {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            let Counts { received, unexpected } = self.counts;
            received.set(received.get() + 1);
            if !message.is_empty() {
                cold_path();
                unexpected.set(unexpected.get() + 1);
                message.packet().clear();
            }
            Ok(())
        }
    }
}
