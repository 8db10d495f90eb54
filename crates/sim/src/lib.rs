//! The simulator: the same policies that run live, under a clock that jumps.
//!
//! [`packet`] is the model of packets on processors of Salehi, Kurose & Towsley 1994, §3;
//! [`completions`] is the part of an event list that such a model needs, and [`sweep`](mod@sweep)
//! runs many points of it.
//!
//! A run is a pure function of its scenario and seed: the same bits on any machine, on one
//! thread or many.

pub mod completions;
pub mod packet;
pub mod sweep;
