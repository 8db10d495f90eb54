//! The simulator: runs the policies of the live runtime in simulated time.
//!
//! [`packet`] is the model of packets on processors of Salehi, Kurose & Towsley 1994, §3;
//! [`runqueue`] is that of a time-sharing multiprocessor of Torrellas, Tucker & Gupta 1995;
//! [`cluster`] is that of SMP clusters with fine-grain shared memory of Falsafi 1998;
//! [`protocol`] is that of processors set aside for protocol work or not, of Falsafi 1998, §4.3.2;
//! [`server`] is that of a server on the kernel's sockets, predicted from single requests;
//! [`completions`] holds the pending completions of the processors, which replace an event list;
//! [`sweep`](mod@sweep) runs many points in parallel.
//!
//! A run is a pure function of its scenario and seed: the same bits on any machine, on one thread or many.

#[cfg(test)]
extern crate self as warmcore_sim;

pub mod cluster;
pub mod completions;
pub mod packet;
pub mod protocol;
pub mod runqueue;
pub mod server;
pub mod sweep;
