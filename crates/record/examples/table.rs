//! Writes a made-up table as Parquet, to read with other programs:
//! `cargo run -p warmcore-record --example table [FILE]`.

use std::path::PathBuf;
use warmcore_record::{Column, Columns, Existing, Manifest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("table.parquet"), PathBuf::from);
    let columns = Columns::new(vec![
        Column::texts("policy", ["MRU", "LRU", "Wired-Streams"].map(|name| Some(name.to_owned()))),
        Column::floats("delay", "µs", [Some(142.1), Some(187.5), None]),
        Column::integers("replications", [Some(20), Some(20), None]),
        Column::flags("missed_target", [Some(false), Some(true), None]),
    ])?;
    columns.write_parquet(&path, Existing::Replace, &Manifest::now("warmcore", "0.1.0"))?;
    println!("{}: {} rows", path.display(), columns.rows());
    Ok(())
}
