//! The parallel dispatch queue for simulators: its rules under drawn events, and what the thesis says of its designs.

mod designs;
mod ledger;
mod misuse;
mod throughput;
