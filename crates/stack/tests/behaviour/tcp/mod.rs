//! TCP connections: against a scripted peer, and against each other over a faulty link.

mod pair;
mod simulated;
mod user;
