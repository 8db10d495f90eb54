//! How deep models of one's own simulate within each other.
//!
//! A policy may simulate to decide. Without an end that would overflow the stack, which ends the interpreter; Python's own limit of
//! recursion counts too few of our frames.

use std::cell::Cell;
use warmcore_units::Fault;

/// Levels that may be within each other. The stack of a thread of 8 MB holds a few hundred.
const MOST: u32 = 50;

thread_local! {
    /// Simulations with code of one's own that are under way on this thread.
    static LEVELS: Cell<u32> = const { Cell::new(0) };
}

/// A simulation that is under way on this thread, until it is dropped.
pub(super) struct Level(());

impl Level {
    /// Begins a simulation.
    ///
    /// # Errors
    /// If too many are under way, each asked for by a model of the one before.
    pub(super) fn enter() -> Result<Self, Fault> {
        let within = LEVELS.get();
        if within >= MOST {
            let found = format!("simulating within itself, {within} levels deep");
            let expected = "a policy or cost that does not simulate with itself without end";
            return Err(Fault::new("policy", found, expected));
        }
        LEVELS.set(within + 1);
        Ok(Self(()))
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        LEVELS.set(LEVELS.get() - 1);
    }
}
