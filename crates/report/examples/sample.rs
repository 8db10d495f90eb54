//! Renders a made-up document to check its appearance: `cargo run -p warmcore-report --example sample
//! [FILE]`.
//!
//! No figure in it was measured; the document says so.

#[path = "sample/document.rs"]
mod document;

use std::path::PathBuf;
use warmcore_record::{Existing, atomic_file};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("sample.html"), PathBuf::from);
    let document = document::sample();
    document.validate()?;
    let begun = std::time::Instant::now();
    let page = warmcore_report::render(&document);
    let took = begun.elapsed();
    atomic_file::write(&path, page.as_bytes(), Existing::Replace)?;
    println!("{}: {} bytes, rendered in {took:.1?}", path.display(), page.len());
    Ok(())
}
