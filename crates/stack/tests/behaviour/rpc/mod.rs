//! The RPC layers: one by one, and two endpoints against each other over a faulty link.

mod any_frame;
mod bid;
mod blast;
mod chan;
mod drivers;
mod endpoint;
mod ledger;
mod link;
mod pair;
mod pool;
mod simulated;
mod sizes;
