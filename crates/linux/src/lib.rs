//! Everything in Warmcore that talks to the Linux kernel. No other crate makes system calls.
//!
//! | module | purpose |
//! |---|---|
//! | [`probe`] | reads cpus, caches and limits of the machine, as a [`Machine`](warmcore_topology::Machine) |
//! | [`host`] | reads the conditions of a run: kernel, memory, hypervisor, clock, load |
//! | [`affinity`] | reads and sets which cpus this thread may run on |
//! | [`near`] | finds the cpu that receives a socket's packets, and keeps a thread near it |
//! | [`cpu_time`] | the processor time of this thread and process |
//! | [`interruption`] | interrupts the processors that run other threads of this process |
//! | [`disturbance`] | detects preemptions, migrations and page faults during a measurement |
//! | [`program`] | runs a user's program, and ends it with all its children |
//! | [`orphans`] | ends what a user's program has left behind |
//! | [`counters`] | performance counters: cycles, instructions, cache misses |
//! | [`meter`] | the cpu usage of a run, and of other programs meanwhile |
//! | [`sched_ext`] | whether the kernel takes a scheduler, and which is loaded |
//! | [`sched_trace`] | records who runs where, who blocks and who migrates, from the scheduler's tracepoints |
//! | [`scheduler_counts`] | how often a thread was switched out and migrated |
//! | [`steal`] | the time a hypervisor took away |
//! | [`stepping`] | steps a thread of another program between two markers, instruction by instruction |
//! | [`executable`] | blocks of code large enough to displace an instruction cache |
//! | [`realtime`] | a thread that runs before all others, at a moment |
//! | [`region`] | resident memory to displace a data cache, in huge pages if wanted |
//! | [`handler_library`] | loads a user's request handler, in a process of its own that is watched |
//! | [`net`] | receives and sends Ethernet frames; shares UDP and TCP ports among workers |
//! | [`ethtool`] | what the driver of an interface says: channels, rings, coalescing, RSS, NAPI |
//! | [`inventory`] | lists interrupts, queues, packet steering and threads, and programs that change them |
//! | [`tuning`] | changes where interrupts, packets and threads go, and undoes the changes |
//! | [`capture`] | records the files that a probe reads, to examine a machine elsewhere |
//! | [`fake`] | writes the files that [`probe`] and [`inventory`] read, for fake machines |
//!
//! All files are read below a root directory that can be changed, so that the files of other machines
//! can be examined ([`Probe::root`]).
//!
//! `unsafe` is confined to a few modules: `getrusage`, which no safe crate offers (`usage`), a thread's priority (`realtime`), memory
//! mappings (`mapping`), the jump into a code block (`executable`), the stack of a
//! [`protocol_thread`], what a child does before it becomes a program (`parent_death`), and the requests of a tracer (`stepping::ptrace`, `stepping::launch`). In [`handler_library`] it is the library
//! itself. In [`net`] these are its system calls (`net::kernel`, `net::sockets::kernel`), memory shared with the kernel or
//! another process (`shared_memory`), and the two devices whose protocols decide who owns a frame in that memory
//! (`net::packet`, `net::xdp`).

#![deny(unsafe_code)]

pub mod affinity;
mod bitmap;
pub mod capture;
pub mod counters;
pub mod cpu_time;
mod detached;
pub mod disturbance;
pub mod ethtool;
#[allow(unsafe_code)]
pub mod executable;
pub mod fake;
pub mod handler_library;
pub mod host;
pub mod interruption;
pub mod inventory;
#[allow(unsafe_code)]
mod mapping;
pub mod meter;
pub mod near;
pub mod net;
mod netlink;
pub mod orphans;
#[allow(unsafe_code)]
mod parent_death;
mod pid_stat;
pub mod probe;
mod proc_stat;
pub mod program;
#[allow(unsafe_code)]
pub mod protocol_thread;
#[allow(unsafe_code)]
pub mod realtime;
pub mod region;
mod regular;
mod rooted;
pub mod sched_ext;
pub mod sched_trace;
pub mod scheduler_counts;
#[allow(unsafe_code)]
mod shared_memory;
pub mod steal;
#[cfg(target_arch = "x86_64")]
pub mod stepping;
mod stop_point;
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
pub use stop_point::StopPoint;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
