//! TCP connections: against a scripted peer, and against each other over a faulty link.

mod any_bytes;
mod any_segment;
mod pair;
mod peer;
mod recovery;
mod resets;
mod simulated;
mod transitions;
mod user;
mod windows;
