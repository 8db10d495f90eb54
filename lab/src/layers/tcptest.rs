//! TCPTEST: a ping-pong of one byte (§2.1, §4.2).

use crate::layer::{Above, Below, Lost};
use crate::message::Message;
use crate::on_path;
use core::cell::Cell;
use core::hint::cold_path;

/// What a test has seen.
#[derive(Default)]
pub struct Counts {
    /// Messages that arrived.
    pub received: Cell<u64>,
    /// Messages that were not what was expected.
    pub unexpected: Cell<u64>,
}

/// The test, on either side.
pub struct TcpTest<B: Below + ?Sized + 'static> {
    /// Whether what arrives is answered at once.
    pub is_server: bool,
    /// What it has seen.
    pub counts: &'static Counts,
    /// The connection.
    pub below: &'static B,
}

impl<B: Below + ?Sized> TcpTest<B> {
    on_path! {
        /// Sends the next message.
        pub fn send(&self) -> Result<(), Lost> {
            self.send_byte(self.counts.received.get() as u8)
        }
    }

    #[inline(always)]
    fn send_byte(&self, byte: u8) -> Result<(), Lost> {
        let mut message = Message::new(1);
        let Some(bytes) = message.lengthen(1) else {
            cold_path();
            return Err(Lost::NoSpace);
        };
        bytes.fill(byte);
        self.below.push(&mut message)
    }
}

impl<B: Below + ?Sized> Above for TcpTest<B> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            let Counts { received, unexpected } = self.counts;
            let expected = received.get() as u8;
            received.set(received.get() + 1);
            if message.bytes() != [expected] {
                cold_path();
                unexpected.set(unexpected.get() + 1);
            }
            if self.is_server { self.send_byte(expected) } else { Ok(()) }
        }
    }
}
