//! Plans on made-up machines: applied whole or not at all, and taken back byte for byte, whatever
//! fails and whenever the process dies.

mod faults;
mod killed;
mod outcomes;
mod refusals;
mod scene;
mod threads;
