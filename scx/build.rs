//! Compiles the scheduler for the kernel's virtual machine, and writes how Rust sees its maps and variables.

use libbpf_cargo::SkeletonBuilder;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    let written =
        PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("scheduler.skel.rs");
    // Loads and stores of 32 bits, and jumps on them: half the instructions.
    let mut builder = SkeletonBuilder::new();
    builder.source("bpf/scheduler.bpf.c").clang_args([
        "-mcpu=v3",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
    ]);
    if let Err(error) = builder.build_and_generate(written) {
        println!("cargo:warning=needs clang 16 or later, on the path or named by CLANG");
        panic!("the scheduler does not compile: {error:?}");
    }
}
