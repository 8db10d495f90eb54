//! Calibration: what a cold cache and a migrating line cost the real protocol stack on this
//! machine.
//!
//! This is §5 of Salehi, Kurose & Towsley 1994 for today's machines: the receive times of experiments
//! A1 to B3 under Locking and under Independent Protocol Stacks, with the thread's stack cached and
//! migrating, hot and cold up to every level of the cache hierarchy; the fully cold times; and the
//! overheads of a free-memory pool that was last written elsewhere. It also measures what Salehi,
//! Kurose & Towsley could only model: t(x), the time of a packet after `x` of intervening work.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use warmcore_measure::{CalibrationPlan, calibrate};
//!
//! let machine = warmcore_linux::Probe::new().machine()?.machine;
//! let stop = AtomicBool::new(false); // set it to end early
//! let calibration = calibrate(&machine, &CalibrationPlan::quick(), &mut |progress| println!("{progress:?}"), &stop)?;
//! println!("{:?}", calibration.profile.times.locking.fully_cold);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From a packet to a profile
//!
//! ```text
//! clock ──────────┐ fenced readings, overhead subtracted
//! script, bench ──┤ which packet goes where; stacks, pools, buffers, in a new layout
//! eviction, flush ┼─► run ──► summary ──► rounds ──► profile
//! intervening ────┤    two or three pinned threads,    │
//! baton ──────────┘    one packet at a time            └─ curve: t(x)
//! ```
//!
//! A **packet** is prepared on another processor than the one that receives it ([`run`]), so that its
//! first reference misses, as after DMA. The exception is a plan with resident frames ([`FrameLines`]).
//! The receiver's timer runs from the dispatch of the protocol thread to the end of the unwind, when
//! all stores are done ([`clock`]).
//!
//! A **run** is 1,000 timed packets (fewer if evicting takes long). Its value is their mean, without
//! the few that an interrupt hit ([`summary`](calibrate::summary)). A run in which a measuring thread
//! was preempted, moved or took a page fault does not count. Every run has a new memory layout
//! ([`bench`](run::bench)), and runs of all values are interleaved in shuffled rounds
//! ([`rounds`](calibrate::rounds)), so that the interval of a value covers layout and drift. A run does
//! not count either if the processors were not as far apart as usual, because hypervisors move them
//! ([`proximity`](run::proximity)).
//!
//! A **cold state** is produced by walking through memory ([`eviction`](caches::eviction)) and verified
//! by a witness ([`cold`](caches::cold)).
//!
//! # What must hold
//!
//! * No two measuring threads share a core.
//! * However a calibration ends, it leaves no thread and no program of the user's behind, and no thread
//!   waits for another without end ([`baton`](run::baton), [`Program`](warmcore_linux::Program)).
//! * A value that missed its target is marked, and the profile's notes say why. No value is made up or
//!   silently left out.
//! * `unsafe` is confined to reading the counter ([`clock`]), flushing lines ([`flush`](caches::flush)) and the
//!   baton's state ([`baton`](run::baton)).

#![allow(rustdoc::private_intra_doc_links)]

pub mod blocks;
mod caches;
mod calibrate;
mod clock;
pub mod counts;
mod error;
pub mod invocation;
mod model;
pub mod programs;
pub mod requests;
mod run;
mod served_program;
mod sockets;
pub mod transfer;
pub mod verify;

pub use caches::cold::{ColdState, Latency};
pub use calibrate::plan::CalibrationPlan;
pub use calibrate::progress::{Observer, Progress};
pub use calibrate::rounds::RunCounts;
pub use calibrate::{Calibration, calibrate};
pub use clock::Timer;
pub use counts::{Coverage, Cycles, PerUnit};
pub use error::{CalibrateError, RunError};
pub use model::Model;
pub use run::handover::handover;
pub use run::proximity::Proximity;
pub use served_program::{Asked, ProgramPlan, ServedProgramError, calibrate_program};
pub use sockets::{SocketError, SocketPlan, calibrate_sockets};
pub use warmcore_costs::FrameLines;
pub use warmcore_linux::ProgramError;
