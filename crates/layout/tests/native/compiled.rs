//! Programs of the tests, compiled by the compilers that developers have.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a compiler on a file beside this one. Each test has a folder of its own.
pub(crate) fn compile(folder: &Path, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let program = folder.join(source.split('.').next().expect("a name"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native").join(source);
    let output = Command::new(compiler).args(options).arg("-o").arg(&program).arg(source).output();
    let output = output.unwrap_or_else(|error| panic!("{compiler} is installed: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}
