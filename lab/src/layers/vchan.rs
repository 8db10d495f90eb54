//! VCHAN: a virtual channel of several real ones.

use crate::layer::{Above, Below, Lost};
use crate::message::Message;
use crate::on_path;
use alloc::boxed::Box;
use core::cell::{Cell, RefCell};
use core::hint::cold_path;
use warmcore_stack::rpc::Vchan;

/// Which channels are free.
pub struct Pool {
    vchan: RefCell<Vchan>,
    /// Calls for which none was.
    refused: Cell<u64>,
}

impl Pool {
    /// All of `channels` are.
    #[must_use]
    pub fn new(channels: u16) -> Self {
        Self { vchan: RefCell::new(Vchan::new(channels)), refused: Cell::new(0) }
    }

    #[inline(never)]
    fn acquire(&self) -> Option<u16> {
        self.vchan.borrow_mut().acquire()
    }

    #[inline(never)]
    fn release(&self, channel: u16) {
        self.vchan.borrow_mut().release(channel);
    }
}

/// The way down: on a channel that is free.
pub struct VchanOut<B: Below + ?Sized + 'static> {
    /// Which are free.
    pub pool: &'static Pool,
    /// The channels.
    pub channels: Box<[&'static B]>,
}

impl<B: Below + ?Sized> Below for VchanOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            let Some(channel) = self.pool.acquire() else {
                cold_path();
                self.pool.refused.set(self.pool.refused.get() + 1);
                return Err(Lost::NoSpace);
            };
            let result = self.channels[usize::from(channel)].push(message);
            if result.is_err() {
                cold_path();
                self.pool.release(channel);
            }
            result
        }
    }
}

/// The way up on one channel: it is free again.
pub struct VchanIn<A: Above + ?Sized + 'static> {
    /// Which are free.
    pub pool: &'static Pool,
    /// This one.
    pub channel: u16,
    /// Who is above.
    pub above: &'static A,
}

impl<A: Above + ?Sized> Above for VchanIn<A> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            self.pool.release(self.channel);
            self.above.pop(message)
        }
    }
}
