//! What processors do beside protocol work.

mod built_in;

pub use built_in::BuiltIn;

/// Work that is done a little at a time.
pub trait Work {
    /// Does a piece that takes a fraction of a microsecond: packets wait that long for a processor.
    fn step(&mut self);
}

impl<F: FnMut()> Work for F {
    fn step(&mut self) {
        self();
    }
}
