//! Where the figures of benchmarks are written, and their peers installed.

use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};

/// The workspace's folder for what is built, wherever the compiler's own output goes.
#[must_use]
pub fn target() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.expect("this package lies in the workspace").join("target")
}

/// Writes `results` to `target/bench/NAME.json`, and prints where that is.
///
/// # Errors
/// If the file cannot be written, or the results are not plain data.
pub fn write(name: &str, results: &impl Serialize) -> io::Result<()> {
    let file = target().join("bench").join(name).with_extension("json");
    std::fs::create_dir_all(file.with_file_name(""))?;
    std::fs::write(&file, serde_json::to_string_pretty(results)? + "\n")?;
    println!("written to {}", file.display());
    Ok(())
}
