//! Work that processors do between packets.

mod built_in;

pub use built_in::BuiltIn;

/// Work that is done in small steps.
pub trait Work {
    /// Does one step of a fraction of a microsecond. Packets wait that long for a processor.
    fn step(&mut self);
}

impl<F: FnMut()> Work for F {
    fn step(&mut self) {
        self();
    }
}
