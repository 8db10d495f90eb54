//! The latency laboratory: where the instructions of a path lie, and what that costs (Mosberger et al. 1996).
//!
//! ```text
//!  a program ──► trace ──┬──────────────────────► simulate ──► compare ──► present, linker
//!  native, lackey,       └─► order ──► relocate ──┘            layouts     a page, figures,
//!  riscv                     linear, bipartite, …              side by side   a list for a linker
//! ```
//!
//! - A [`trace`] is what one processor executed between two markers: its instructions, and what they loaded and stored.
//! - [`native`] traces a path of any x86-64 program, between two of its functions: [`program`] finds them by name, [`x86`]
//!   says what each executed instruction reads and writes.
//! - [`lackey`] reads traces that valgrind has made. [`riscv`] executes bare programs and traces them.
//! - [`simulate`] takes a trace through caches and a pipeline.
//! - [`order`] places functions, of a native program those that its linker can move ([`movable`]). [`relocate`] moves a
//!   trace to where they would be.
//! - [`compare`] simulates one path under several layouts.
//! - [`present`] puts what came out before its readers: a page, figures for programs. [`linker`] writes an order in the
//!   words of linkers.
//! - [`lab`] traces the source's own programs, [`cloning`] copies their functions to other places.

pub mod cloning;
pub mod compare;
pub mod lab;
pub mod lackey;
pub mod linker;
pub mod movable;
#[cfg(target_arch = "x86_64")]
pub mod native;
pub mod order;
pub mod present;
pub mod program;
pub mod relocate;
pub mod riscv;
#[cfg(test)]
mod sample;
pub mod simulate;
pub mod trace;
pub mod x86;
