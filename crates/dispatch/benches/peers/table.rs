//! What came of it: a table, and `target/bench/dispatch.json`.

use crate::affinity::Moves;
use crate::latency::Waits;
use crate::material::{Handler, Mix};
use core::fmt;
use serde::Serialize;
use std::fs;
use std::path::Path;

#[derive(Serialize)]
pub(crate) struct Table {
    workload: String,
    handler: String,
    events: usize,
    /// Rounds in which the inline loop was near its median.
    rounds: usize,
    rounds_left_out: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    median_per_s: f64,
    runs_per_s: Vec<f64>,
    order_violations: u64,
}

impl Table {
    pub(crate) fn new(
        mix: Mix,
        handler: Handler,
        events: usize,
        names: &[&'static str],
        rates: &[Vec<f64>],
        violations: &[u64],
        drift: f64,
    ) -> Self {
        let inline = median(&rates[0]);
        let steady: Vec<usize> =
            (0..rates[0].len()).filter(|&round| (rates[0][round] / inline - 1.0).abs() <= drift).collect();
        let row = |((name, rates), &order_violations): ((&&'static str, &Vec<f64>), &u64)| {
            let runs_per_s: Vec<f64> = steady.iter().map(|&round| rates[round]).collect();
            Row { name, median_per_s: median(&runs_per_s), runs_per_s, order_violations }
        };
        Self {
            workload: mix.to_string(),
            handler: handler.to_string(),
            events,
            rounds: steady.len(),
            rounds_left_out: rates[0].len() - steady.len(),
            rows: names.iter().zip(rates).zip(violations).map(row).collect(),
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, {}: {} events, {} rounds ({} left out)",
            self.workload, self.handler, self.events, self.rounds, self.rounds_left_out
        )?;
        let inline = self.rows[0].median_per_s;
        for row in &self.rows {
            let least = row.runs_per_s.iter().copied().fold(f64::INFINITY, f64::min);
            let most = row.runs_per_s.iter().copied().fold(0.0, f64::max);
            write!(
                f,
                "  {:24} {:6.2} M/s  [{:6.2}, {:6.2}]  {:5.2} times inline",
                row.name,
                row.median_per_s / 1e6,
                least / 1e6,
                most / 1e6,
                row.median_per_s / inline
            )?;
            writeln!(
                f,
                "{}",
                if row.order_violations > 0 {
                    format!("  OUT OF ORDER: {}", row.order_violations)
                } else {
                    String::new()
                }
            )?;
        }
        Ok(())
    }
}

/// All that was measured.
#[derive(Serialize)]
pub(crate) struct All {
    pub(crate) tables: Vec<Table>,
    pub(crate) sequential_mix_ratio: f64,
    pub(crate) moves: Vec<Moves>,
    pub(crate) waits: Vec<Waits>,
}

/// Writes it for other programs.
pub(crate) fn write(all: &All) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    let text = serde_json::to_string_pretty(all).expect("tables are plain data");
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("dispatch.json"), text));
    match written {
        Ok(()) => println!("written: target/bench/dispatch.json"),
        Err(error) => eprintln!("target/bench/dispatch.json could not be written: {error}"),
    }
}
