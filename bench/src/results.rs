//! Where results are written and peers are installed.

use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};

/// The workspace's `target` folder, even if cargo builds elsewhere.
#[must_use]
pub fn target() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.expect("this package is in the workspace").join("target")
}

/// Writes `results` to `target/bench/NAME.json` and prints the path.
///
/// # Errors
/// If the file cannot be written or the results cannot be serialised.
pub fn write(name: &str, results: &impl Serialize) -> io::Result<()> {
    let file = target().join("bench").join(name).with_extension("json");
    std::fs::create_dir_all(file.with_file_name(""))?;
    std::fs::write(&file, serde_json::to_string_pretty(results)? + "\n")?;
    println!("written to {}", file.display());
    Ok(())
}
