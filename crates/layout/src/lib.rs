//! The latency laboratory: where the instructions of a path lie, and what that costs (Mosberger et al. 1996).
//!
//! ```text
//!  a program ──► trace ──► simulate ──► order ──► a linker's list, or clones
//!  riscv, x86    steps of   misses,      linear,
//!                one path   stalls       bipartite, …
//! ```
//!
//! [`present`] puts what came out before its readers: a page, a text, figures for programs.
//!
//! A [`trace`] is what one processor executed between two markers: its instructions, and what they loaded and stored.

pub mod lab;
pub mod linker;
pub mod order;
pub mod present;
pub mod relocate;
pub mod riscv;
#[cfg(test)]
mod sample;
pub mod simulate;
pub mod trace;
