//! Everything that talks to the kernel, and the only room that does: elsewhere in Warmcore
//! nothing makes a system call.
//!
//! | module | asks or tells the kernel |
//! |---|---|
//! | [`probe`] | which machine this is, as a [`Machine`](warmcore_topology::Machine) |
//! | [`host`] | under which conditions it runs: kernel, memory, hypervisor, clock, load |
//! | [`affinity`] | which cpu this thread runs on, and may run on |
//! | [`near`] | which cpu takes in a socket's packets, and to stay near it |
//! | [`cpu_time`] | for how long threads have run |
//! | [`disturbance`] | whether a measurement was preempted, migrated or faulted |
//! | [`program`] | to run a user's program, and to end it with all it has started |
//! | [`counters`] | what the processor counts on cpus: cycles, instructions, cache misses |
//! | [`meter`] | what a run took of the cpus, and what others had of them meanwhile |
//! | [`scheduler_counts`] | how often a thread was moved and kept waiting |
//! | [`steal`] | how long a hypervisor ran something else |
//! | [`executable`] | a block of code large enough to displace an instruction cache |
//! | [`region`] | resident memory for walks that displace a data cache, in huge pages if wanted |
//! | [`net`] | for the frames of a network interface, and to carry ours |
//! | [`inventory`] | who touches what: interrupts, queues, steering, threads, and who else changes them |
//! | [`tuning`] | where interrupts, packets and threads go, so that it can be taken back |
//! | [`capture`] | nothing: it copies what the others have read, for a look from elsewhere |
//! | [`fake`] | nothing: it writes the files that [`probe`] and [`inventory`] read, of machines we made up |
//!
//! What is read from files is read below a root that can be moved, so that other machines can be
//! looked at from here ([`Probe::root`]).
//!
//! `unsafe` is confined to a few modules: the call of a counter that no safe crate offers (`usage`),
//! memory mappings (`mapping`), the jump into a code block (`executable`); and for [`net`] its system
//! calls (`net::kernel`), memory shared with the kernel (`net::shared`), and the two devices whose
//! protocols say whose a frame in that memory is (`net::packet`, `net::xdp`).

#![deny(unsafe_code)]

pub mod affinity;
pub mod capture;
pub mod counters;
pub mod cpu_time;
pub mod disturbance;
#[allow(unsafe_code)]
pub mod executable;
pub mod fake;
pub mod host;
pub mod inventory;
#[allow(unsafe_code)]
mod mapping;
pub mod meter;
pub mod near;
pub mod net;
mod pid_stat;
pub mod probe;
mod proc_stat;
pub mod program;
#[allow(unsafe_code)]
pub mod protocol_thread;
pub mod region;
pub mod scheduler_counts;
pub mod steal;
mod tree;
pub mod tuning;
#[allow(unsafe_code)]
mod usage;

pub use affinity::{AffinityError, Pinned, current_cpu, pin_to};
pub use capture::Recording;
pub use counters::{Counters, EventCounts};
pub use disturbance::{Disturbance, Snapshot};
pub use executable::{CodeBlock, CodeBlockError};
pub use host::{HostConditions, HugePageMode, Hypervisor};
pub use inventory::{Inventory, Rates};
pub use mapping::MappingError;
pub use meter::{CpuUsage, Meter};
pub use probe::{Probe, ProbeError, Probed, Shortfall, Warning};
pub use program::{Program, ProgramError};
pub use protocol_thread::ProtocolThread;
pub use region::{Pages, Region};
pub use scheduler_counts::{SchedulerCounts, ThreadNumber};
pub use steal::Steal;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
