//! Programs for tests: words put together by hand, and small bare ones in Rust, compiled on the way.

use super::image::{Image, Segment, Symbols};
use std::path::Path;
use std::process::Command;

/// Where the words of [`image_of`] begin.
pub(crate) const CODE: u64 = 0x1_0000;
/// Where the data of [`image_of`] is, 64 bytes of it.
pub(crate) const DATA: u64 = 0x2_0000;

/// What every bare program has.
const SURROUNDINGS: &str = include_str!("../../tests/programs/surroundings.rs");
const TARGET: &str = "riscv64imac-unknown-none-elf";

/// A program of `words`, with the bytes 0x80 to 0xbf as data.
pub(crate) fn image_of(words: &[u32]) -> Image {
    let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let segment =
        |address, bytes, executable: bool| Segment { address, bytes, writable: !executable, executable };
    Image {
        segments: vec![segment(CODE, code, true), segment(DATA, (0x80..0xc0).collect(), false)],
        symbols: Symbols::default(),
        relocations: Vec::new(),
        entry: CODE,
    }
}

/// The bytes of the executable that `source`, a bare program without its surroundings, becomes. Its relocations are kept
/// and nothing is relaxed. The functions `roots` stay in it.
///
/// # Panics
/// If it does not compile. The target is installed if it is not there.
pub(crate) fn compile(source: &str, roots: &[&str]) -> Vec<u8> {
    install_target();
    let folder = tempfile::tempdir().expect("a folder for the program");
    let (program, executable) = (folder.path().join("program.rs"), folder.path().join("program"));
    std::fs::write(&program, format!("{SURROUNDINGS}{source}")).expect("the program can be written");
    let output = rustc(&program, &executable, roots).output().expect("rustc starts");
    assert!(output.status.success(), "rustc: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(&executable).expect("rustc has written the executable")
}

fn rustc(program: &Path, executable: &Path, roots: &[&str]) -> Command {
    let mut command = Command::new("rustc");
    command.args(["--edition=2024", "--crate-type=bin", "--target", TARGET, "-O"]);
    command.args(["-C", "target-feature=-c,-zca,-a", "-C", "panic=abort", "-C", "strip=debuginfo"]);
    command.args(["-C", "link-arg=--emit-relocs", "-C", "link-arg=--no-relax"]);
    for root in roots {
        command.arg("-C").arg(format!("link-arg=--undefined={root}"));
    }
    command.arg(program).arg("-o").arg(executable);
    command
}

/// Adds the target. Of several tests that do so at once, one may fail although the target is there afterwards.
fn install_target() {
    let is_installed = || {
        let output =
            Command::new("rustup").args(["target", "list", "--installed"]).output().expect("rustup starts");
        String::from_utf8_lossy(&output.stdout).lines().any(|line| line == TARGET)
    };
    for _ in 0..30 {
        if is_installed() {
            return;
        }
        let added = Command::new("rustup").args(["target", "add", TARGET]).status().expect("rustup starts");
        if added.success() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    panic!("this test needs the target {TARGET}: `rustup target add {TARGET}`");
}
