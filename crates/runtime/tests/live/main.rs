//! What must hold of every run: no packet is lost or duplicated without being counted, streams stay in
//! order where that is promised, and nothing hangs.
//!
//! Packets are numbered, so that each can be accounted for. Tests run one after the other, because
//! their workers would otherwise share processors. No test depends on speed.

mod accounting;
mod bad_options;
mod batches;
mod conversations;
mod faults;
mod moved;
mod numbered;
mod opening;
mod overload;
mod panics;
mod pauses;
mod soak;
mod stuck;
mod support;
mod timed;
