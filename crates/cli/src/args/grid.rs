//! The arguments of `sweep grid`, and of a `sweep packet` that varies any field.

use super::ResumableArguments;
use clap::Args;
use std::path::PathBuf;
use toml::Value;
use warmcore_scenario::grid::{Axis, Spacing};
use warmcore_study::grid::scheduler_address;
use warmcore_units::Fault;

/// The greatest time that a scheduler is waited for.
const LONGEST_WAIT_S: u64 = 3_600;

#[derive(Args, Debug)]
pub(crate) struct SweepGridArguments {
    /// The grid: a base scenario and the fields that are varied
    #[arg(value_name = "GRID.toml", required_unless_present = "print_example")]
    pub(crate) document: Option<PathBuf>,

    /// Print a grid to begin with
    #[arg(long)]
    pub(crate) print_example: bool,

    #[command(flatten)]
    pub(crate) engine: EngineArguments,

    #[command(flatten)]
    pub(crate) output: ResumableArguments,
}

/// Where points are simulated, and how the data set is divided.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Data set and workers")]
pub(crate) struct EngineArguments {
    /// Write a folder FIELD=VALUE for each value of this field
    #[arg(long, value_name = "FIELD")]
    pub(crate) partition_by: Option<String>,

    /// Simulate this many points at a time [default: as many as this machine has processors]
    #[arg(long, value_name = "N", value_parser = super::whole::count::<u32>(1..=4096), conflicts_with = "dask")]
    pub(crate) jobs: Option<u32>,

    /// Simulate on the workers of this Dask scheduler, such as tcp://scheduler:8786. Its workers need the Python package
    /// `warmcore` of this version
    #[arg(long, value_name = "ADDRESS", value_parser = scheduler)]
    pub(crate) dask: Option<String>,

    /// The Python that has the packages `warmcore` and `distributed` [default: python3]
    #[arg(long, value_name = "PATH", requires = "dask")]
    pub(crate) python: Option<PathBuf>,

    /// Give up a scheduler that does not answer within this many seconds [default: 10]
    #[arg(long, value_name = "SECONDS", requires = "dask", value_parser = super::whole::count::<u64>(1..=LONGEST_WAIT_S))]
    pub(crate) dask_timeout: Option<u64>,
}

/// Any field of a scenario and its values.
#[derive(Args, Debug, Default)]
pub(crate) struct VaryArguments {
    /// Any field of the scenario by its dotted path, and its values: traffic.streams=8,64; a range, seed=1..10; or so many
    /// values of one, load=0.1..0.9/9 by equal steps, rate_per_s=1e3..1e5/9log by equal ratios. May be given several times;
    /// the results are then a data set, as `sweep grid` writes it
    #[arg(long, value_name = "FIELD=VALUES", value_parser = axis, help_heading = "What is varied")]
    pub(crate) vary: Vec<Axis>,
}

/// The address of a scheduler as it is typed.
fn scheduler(text: &str) -> Result<String, String> {
    scheduler_address(text).map_err(|Fault { found, expected, .. }| format!("{found}, expected {expected}"))
}

/// An axis as it is typed: `traffic.streams=8,64`, `seed=1..10`, `load=0.1..0.9/9`.
fn axis(text: &str) -> Result<Axis, String> {
    let expected = "a field and its values, such as traffic.streams=8,64 or seed=1..10";
    let (field, values) = text.split_once('=').ok_or_else(|| format!("expected {expected}"))?;
    let (field, values) = (field.trim(), values.trim());
    if field.is_empty() || values.is_empty() {
        return Err(format!("expected {expected}"));
    }
    let axis = match values.split_once("..") {
        Some((from, rest)) if !values.starts_with(['"', '\'', '{', '[']) => range(field, from, rest)?,
        _ => Axis::new(field, elements(values).into_iter().map(value)),
    };
    axis.rows().map(|_| axis).map_err(|fault| fault.to_string())
}

fn range(field: &str, from: &str, rest: &str) -> Result<Axis, String> {
    let (to, count) = rest.split_once('/').map_or((rest, None), |(to, count)| (to, Some(count)));
    let mut axis = Axis {
        field: Some(field.to_owned()),
        from: Some(value(from)),
        to: Some(value(to)),
        ..Axis::default()
    };
    if let Some(count) = count {
        let (count, spacing) = match count.strip_suffix("log") {
            Some(count) => (count, Spacing::Log),
            None => (count, Spacing::Linear),
        };
        let number = count
            .trim()
            .parse()
            .map_err(|_| format!("`{count}` values of a range, expected a whole number"))?;
        (axis.count, axis.spacing) = (Some(number), Some(spacing));
    }
    Ok(axis)
}

/// The elements between commas, of which those within brackets, braces and quotes divide nothing.
fn elements(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut begin, mut all) = (0_u32, None, 0, Vec::new());
    for (place, letter) in text.char_indices() {
        match (letter, quote) {
            (letter, Some(open)) => quote = (letter != open).then_some(open),
            ('"' | '\'', None) => quote = Some(letter),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                all.push(&text[begin..place]);
                begin = place + 1;
            }
            _ => {}
        }
    }
    all.push(&text[begin..]);
    all
}

/// A value as TOML reads it; what TOML does not read is a name.
fn value(text: &str) -> Value {
    let text = text.trim();
    let read = format!("value = {text}").parse::<toml::Table>().ok();
    read.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let rows = axis(text).expect(text).rows().expect("possible");
        rows.into_iter().flatten().map(|value| value.to_string()).collect()
    }

    #[test]
    fn values_are_numbers_names_tables_and_ranges() {
        assert_eq!(values("traffic.streams=8,64"), ["8", "64"]);
        assert_eq!(values("scheduling.policy=mru,\"lru\""), ["\"mru\"", "\"lru\""]);
        assert_eq!(values("seed=1..3"), ["1", "2", "3"]);
        assert_eq!(values("load=0.1..0.9/3"), ["0.1", "0.5", "0.9"]);
        assert_eq!(values("rate_per_s=1e2..1e4/3log").len(), 3);
        let tables = values("traffic.process=poisson,{ trains = { cars = 8.0, gap_us = 40.0 } }");
        assert_eq!((tables.len(), tables[0].as_str()), (2, "\"poisson\""));
    }

    #[test]
    fn what_is_no_axis_says_what_one_is() {
        for text in
            ["traffic.streams", "=8", "seed=", "seed=3..1", "load=0.1..0.9", "seed=1..2/x", "seed=1,1"]
        {
            axis(text).expect_err(text);
        }
    }
}
