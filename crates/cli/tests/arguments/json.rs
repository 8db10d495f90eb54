//! Every object that `--json` prints says which layout it has.

use crate::{as_measured, folder_with, scenario, text, warmcore};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The commands with `--json`, as their manual pages say.
fn with_json() -> Vec<String> {
    let manual = text(&warmcore(&["man"], Path::new(".")).stdout);
    let pages = manual.split(".TH ").skip(1).filter(|page| page.contains("\\fB\\-\\-json\\fR"));
    let mut names: Vec<String> =
        pages.filter_map(|page| page.split_whitespace().next()).map(str::to_lowercase).collect();
    names.sort();
    names
}

#[test]
fn every_object_has_its_schema() {
    let (_folder, path) = folder_with(&scenario("sgi-challenge-xl", "[100.0]"));
    let costs = as_measured(&path);
    warmcore_linux::fake::hosts::two_socket_server()
        .write_to(&path.join("root"))
        .expect("a tree can be written");
    let example = warmcore(&["simulate", "runqueue", "--print-example"], &path);
    fs::write(path.join("mix.toml"), example.stdout).expect("a scenario can be written");
    let cluster =
        "schema = 1\n[machine]\nnodes = 2\nprocessors = 2\n[program]\nname = \"fft\"\npoints = 1024\n";
    fs::write(path.join("cluster.toml"), cluster).expect("a scenario can be written");
    let grid = "schema = 1\nmodel = \"packet\"\n[scenario]\nrate_per_s = 100\nrun.precision = 0.2\n\
                [[axes]]\nfield = \"seed\"\nvalues = [1, 2]\n";
    fs::write(path.join("grid.toml"), grid).expect("a grid can be written");
    let printed: [(&str, &str); 18] = [
        ("warmcore-study", "study --scenario mine.toml"),
        ("warmcore-simulate-packet", "simulate packet --rate 100 --profile sgi-challenge-xl --precision 20%"),
        ("warmcore-capacity-packet", "capacity packet --profile sgi-challenge-xl"),
        ("warmcore-sweep-packet", "sweep packet --rates 100 --profile sgi-challenge-xl --precision 20%"),
        ("warmcore-sweep-grid", "sweep grid grid.toml --out grid"),
        ("warmcore-run", "run --processors 1 --rate 100 --seconds 0.1 --work-kib 0"),
        ("warmcore-reproduce-salehi-1994", "reproduce salehi-1994 --quick --figure 12 --out salehi"),
        (
            "warmcore-reproduce-torrellas-1995",
            "reproduce torrellas-1995 --quick --figure table-2 --out torrellas",
        ),
        ("warmcore-reproduce-falsafi-1998", "reproduce falsafi-1998 --figure table-5-1 --out falsafi"),
        (
            "warmcore-reproduce-mosberger-1996",
            "reproduce mosberger-1996 --quick --figure table-1 --out mosberger",
        ),
        ("warmcore-simulate-runqueue", "simulate runqueue --scenario mix.toml --runs 2"),
        ("warmcore-sweep-runqueue", "sweep runqueue --scenario mix.toml --runs 2 --levels 0,6 --out swept"),
        ("warmcore-simulate-cluster", "simulate cluster --scenario cluster.toml"),
        (
            "warmcore-sweep-cluster",
            "sweep cluster --scenario cluster.toml --devices s-coma,hurricane:1 --out clusters",
        ),
        ("warmcore-advise-dedicated", "advise dedicated --processors 2 --occupancy 400 --interrupt 2us"),
        ("warmcore-machine", "machine"),
        ("warmcore-host-show", "host show"),
        ("warmcore-host-plan", "host plan --root root --for server"),
    ];
    for (_, line) in printed {
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let output = warmcore(&words, &path);
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert!(object["schema"].is_u64(), "{line}: {object}");
    }
    // What `calibrate` prints is the profile that it writes, which takes half a minute to measure.
    assert!(fs::read_to_string(path.join(costs)).unwrap().contains("schema = "));
    let elsewhere = [
        "warmcore-calibrate",
        "warmcore-compare",
        "warmcore-host-verify",
        "warmcore-layout-simulate",
        "warmcore-reproduce-foong-2004",
        "warmcore-transfer",
    ];
    let mut tested: Vec<&str> = printed.map(|(name, _)| name).into_iter().chain(elsewhere).collect();
    tested.sort_unstable();
    assert_eq!(with_json(), tested, "a command with --json that no test looks at");
}
