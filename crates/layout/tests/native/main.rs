//! Native programs, traced between two of their functions: by the processor's steps, and by valgrind.
#![cfg(target_arch = "x86_64")]

mod agreement;
mod compiled;
mod markers;
mod page;
mod served;
