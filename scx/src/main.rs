//! Loads a scheduler with cache affinity into the kernel by `sched_ext`, and prints what it does until it is
//! interrupted: the program behind `warmcore host scx start`.
//!
//! `bpf/` holds the scheduler, in C for the kernel's virtual machine: `decide.h` decides what
//! [`warmcore_policy::runqueue`] decides, and `scheduler.bpf.c` tells it what happens. Here it is given its constants,
//! loaded and watched. The kernel unloads it when this process ends, however it ends.
//!
//! It is no room and no default member of the workspace, since building it wants clang and libelf.

mod decisions;
mod loader;
mod start;
mod statistics;

use std::process::ExitCode;

/// What the build wrote of the scheduler's maps and variables.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    clippy::cast_lossless,
    clippy::semicolon_if_nothing_returned,
    clippy::uninlined_format_args,
    reason = "generated"
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/scheduler.skel.rs"));
}

fn main() -> ExitCode {
    let ended = start::Start::from_words(std::env::args().skip(1))
        .map_err(Into::into)
        .and_then(|start| loader::run(&start));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
