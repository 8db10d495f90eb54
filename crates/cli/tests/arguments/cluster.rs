//! Scenarios of clusters: their page names every input, and what is wrong is found where it stands.

use crate::{folder_with, refusal};
use std::fs;
use toml::{Table, Value};
use warmcore_workload::programs::{AnyProgram, Size};

const PAGE: &str = include_str!("../../../../docs/src/commands/cluster.md");

#[test]
fn every_input_of_a_program_is_on_the_page_with_its_value() {
    for name in AnyProgram::NAMES {
        let program = AnyProgram::from_name(name, Size::Published).expect("a name of the catalogue");
        let inputs = Table::try_from(&program).expect("a table");
        let row = PAGE.lines().find_map(|line| line.strip_prefix(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("{name} has no row"));
        for (input, value) in
            inputs.iter().filter(|(input, _)| !["name", "seed", "pace"].contains(&&input[..]))
        {
            let value = match value {
                Value::Float(number) => number.to_string(),
                value => value.to_string(),
            };
            let place = row.split(&format!("`{input}` ")).nth(1).unwrap_or_else(|| panic!("{name}: {input}"));
            assert!(place.starts_with(&value), "{name}: {input} is {value}, and the page says {place}");
        }
    }
}

#[test]
fn what_is_wrong_in_a_scenario_is_found_where_it_stands() {
    let fft = "[program]\nname = \"fft\"\n";
    for (scenario, expected) in [
        (
            format!("{fft}points = \"many\""),
            "mine.toml:4: not a usable scenario of a cluster: `program.points`: invalid type",
        ),
        (
            format!("{fft}[machine]\nnodes = 8\nprocessors = 0"),
            "mine.toml:6: not a usable scenario of a cluster: `machine.processors` is 0",
        ),
        (
            format!("{fft}points = 16\n[machine]\nnodes = 8\nprocessors = 2"),
            "`machine.processors` is 2 on each of 8 nodes, expected no more than √points on all nodes together",
        ),
        (format!("{fft}tile = 0"), "mine.toml:4: not a usable scenario of a cluster: `program.tile` is 0"),
        (
            format!(
                "{fft}[dispatch]\ndesign = \"static-binding\"\n[device]\nkind = \"hurricane-1\"\ndedicated = 0"
            ),
            "mine.toml:5: not a usable scenario of a cluster: `dispatch.design` is static-binding, expected dynamic demultiplexing",
        ),
        (
            format!("{fft}[dispatch]\nwindow = 0"),
            "mine.toml:5: not a usable scenario of a cluster: `dispatch.window` is 0",
        ),
        (
            format!("{fft}[machine]\nnodes = 64\nprocessors = 16\ncache_bytes = 1073741824"),
            "mine.toml:7: not a usable scenario of a cluster: `machine.cache_bytes` is 1073741824",
        ),
        (
            "[microbenchmark]\nname = \"remote-read\"\n[machine]\nnodes = 1".to_owned(),
            "`machine.nodes` is 1, expected 2 or more",
        ),
    ] {
        let (_folder, path) = folder_with("");
        fs::write(path.join("mine.toml"), format!("schema = 1\n{scenario}\n"))
            .expect("a scenario can be written");
        let error = refusal(&["simulate", "cluster", "--scenario", "mine.toml"], &path);
        assert!(error.contains(expected), "{scenario}\n{error}");
    }
}

#[test]
fn a_sweep_refuses_what_cannot_run_before_it_writes() {
    for (machine, expected) in [
        (
            "nodes = 8\nprocessors = 0",
            "mine.toml:4: not a usable scenario of a cluster: `machine.processors` is 0",
        ),
        ("nodes = 4\nprocessors = 8", "`machine.processors` is 8 on each of 4 nodes"),
    ] {
        let (_folder, path) = folder_with("");
        let text = format!("schema = 1\n[machine]\n{machine}\n[program]\nname = \"fft\"\npoints = 256\n");
        fs::write(path.join("mine.toml"), text).expect("a scenario can be written");
        let error = refusal(&["sweep", "cluster", "--scenario", "mine.toml", "--out", "swept"], &path);
        assert!(error.contains(expected), "{machine}\n{error}");
        assert!(!path.join("swept").exists(), "nothing is written");
    }
}
