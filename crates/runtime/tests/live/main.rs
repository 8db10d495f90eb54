//! What must hold of a run, whatever happens: that no packet is lost or doubled unless it is
//! counted, that streams stay in order where that is promised, and that nobody waits in vain.
//!
//! Packets are numbered, so that each can be accounted for. Tests run one after the other (their
//! workers would otherwise sit on each other's processors), and none depends on how fast anything
//! is.

mod bad_options;
mod books;
mod faults;
mod moved;
mod numbered;
mod opening;
mod overload;
mod panics;
mod pauses;
mod soak;
mod stage;
mod timed;
