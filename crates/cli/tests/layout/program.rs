//! The program of the tests: a request that goes through functions which a compiler does not lay out in that order.

use std::path::{Path, PathBuf};
use std::process::Command;

/// In Rust: a path of four functions and one that all of them call; it prints a number last.
const RUST: &str = r#"
use std::hint::black_box;

#[inline(never)]
fn mix(word: u64) -> u64 {
    black_box(word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3
}
#[inline(never)]
fn reply(word: u64) -> u64 {
    black_box(mix(word) + 1)
}
#[inline(never)]
fn look_up(word: u64) -> u64 {
    reply((0..black_box(3)).fold(word, |word, round| mix(word) ^ round))
}
#[inline(never)]
fn parse(word: u64) -> u64 {
    look_up(mix(word) + 7)
}
#[inline(never)]
fn receive(word: u64) -> u64 {
    parse(mix(word) + 3)
}
#[inline(never)]
fn done(word: u64) {
    black_box(word);
}
fn main() {
    for request in 0..20 {
        done(receive(request));
    }
    println!("{} requests at 12.5us", 20);
}
"#;

/// The same in C.
const C: &str = r#"
#define STAGE __attribute__((noinline, noclone)) unsigned long
volatile unsigned long rounds = 3;
STAGE mix(unsigned long word) { return word * rounds >> 3; }
STAGE reply(unsigned long word) { return mix(word) + rounds; }
STAGE look_up(unsigned long word) { for (unsigned long i = 0; i < rounds; i++) word ^= mix(word); return reply(word); }
STAGE parse(unsigned long word) { return look_up(mix(word) + 7) + rounds; }
STAGE receive(unsigned long word) { return parse(mix(word) + 3) + rounds; }
__attribute__((noinline, noclone)) void done(unsigned long word) { rounds += word == 1; }
int main(void) { for (unsigned long i = 0; i < 20; i++) done(receive(i)); return 0; }
"#;

/// Compiles the program in Rust in `folder` as `name`, with `flags`.
pub(crate) fn rust(folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let source = folder.join("request.rs");
    std::fs::write(&source, RUST).expect("a source");
    let fixed = ["-O", "-Ccodegen-units=1", "--crate-name=request", "--edition=2024"];
    run(Command::new("rustc").args(fixed).args(flags).arg(source), folder, name)
}

/// The same in C.
pub(crate) fn c(folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let source = folder.join("request.c");
    std::fs::write(&source, C).expect("a source");
    run(
        Command::new("cc")
            .args(["-O1", "-ffunction-sections", "-fno-reorder-functions"])
            .args(flags)
            .arg(source),
        folder,
        name,
    )
}

fn run(compiler: &mut Command, folder: &Path, name: &str) -> PathBuf {
    let program = folder.join(name);
    let output = compiler.arg("-o").arg(&program).current_dir(folder).output().expect("a compiler is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}
