//! A stack that was entered once for several frames: what is acquired for one frame serves all of them.

use crate::discipline::{Discipline, SpinLocked, Unshared};
use crate::drop_reason::DropReason;
use crate::layers::Layers;
use crate::message::{Delivery, Message};
use crate::pool::{Loan, Pool, Segment};

/// A stack for one frame after another, with a segment of a pool. As long as it is held, so are the segment and, with
/// independent stacks, the stack's lock.
pub struct Entered<'a> {
    layers: Held<'a>,
    loan: Loan<'a>,
}

enum Held<'a> {
    Locking(&'a Layers<SpinLocked>),
    Independent(spin::MutexGuard<'a, Layers<Unshared>>),
}

impl<'a> Entered<'a> {
    pub(crate) fn locking(layers: &'a Layers<SpinLocked>, pool: &'a Pool) -> Self {
        Self { layers: Held::Locking(layers), loan: pool.borrow() }
    }

    #[inline]
    pub(crate) fn independent(layers: spin::MutexGuard<'a, Layers<Unshared>>, pool: &'a Pool) -> Self {
        Self { layers: Held::Independent(layers), loan: pool.borrow() }
    }

    /// Receives one frame: builds a message, passes it up the layers, calls `deliver` at the top, unwinds, and
    /// returns what `deliver` returned.
    ///
    /// # Errors
    /// If the frame was dropped. Drops are counted, and `deliver` is not called.
    #[inline]
    pub fn receive<R>(
        &mut self,
        frame: &[u8],
        deliver: impl FnOnce(Delivery<'_>) -> R,
    ) -> Result<R, DropReason> {
        let segment = self.loan.segment();
        match &self.layers {
            Held::Locking(layers) => receive_locking(layers, segment, frame, deliver),
            Held::Independent(layers) => receive(layers, segment, frame, deliver),
        }
    }
}

#[inline(always)]
fn receive<D: Discipline, R>(
    layers: &Layers<D>,
    segment: Option<&mut Segment>,
    frame: &[u8],
    deliver: impl FnOnce(Delivery<'_>) -> R,
) -> Result<R, DropReason> {
    match segment {
        Some(segment) => layers.ascend(&mut Message::new(frame, segment), deliver),
        None => Err(layers.dropped(DropReason::PoolExhausted)),
    }
}

/// A function of its own, so that either form is compiled as well as if there were no other.
#[inline(never)]
fn receive_locking<R>(
    layers: &Layers<SpinLocked>,
    segment: Option<&mut Segment>,
    frame: &[u8],
    deliver: impl FnOnce(Delivery<'_>) -> R,
) -> Result<R, DropReason> {
    receive(layers, segment, frame, deliver)
}
