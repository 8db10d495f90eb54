//! Wrong usage ends with status 2, in one line, before anything is measured or written.

use crate::{folder_with, names, scenario, text, warmcore};

/// The command line, and what the error names.
const WRONG: [(&str, &str); 64] = [
    ("stduy", "stduy"),
    ("study --sped", "--sped"),
    ("study --processors 0", "'0' for '--processors"),
    ("study --processors many", "--processors"),
    ("study --seed=-1", "--seed"),
    ("study --profile none.toml", "none.toml"),
    ("study --profile measured-elsewhere", "measured-elsewhere"),
    ("study --scenario none.toml", "none.toml"),
    ("study --scenario wrong.toml", "wrong.toml:1:"),
    ("study --scenario mine.toml --seed 3", "--seed"),
    ("study --scenario mine.toml --out mine.toml", "mine.toml"),
    ("calibrate --out .", "is a directory"),
    ("calibrate --out mine.toml", "exists already"),
    ("calibrate --out /dev/full", "`/dev/full` is a device"),
    ("calibrate --quick --out null --force", "`null` is a device"),
    ("host plan --out null --force", "`null` is a device"),
    ("host show --html null --force", "`null` is a device"),
    ("calibrate --out none/profile.toml", "none"),
    ("calibrate --intervening no-such-program", "no-such-program"),
    ("calibrate --transport quic", "--transport"),
    ("calibrate --transport tcp --payload 0", "at least 1 byte"),
    ("calibrate --transport rpc --payload 2000", "2000 bytes of payload"),
    ("calibrate --reply 64", "not answered"),
    ("simulate packet", "--rate is missing"),
    ("simulate packet --rate 0", "--rate is 0"),
    ("simulate packet --rate fast", "--rate"),
    ("simulate packet --rate 100 --streams 0", "'0' for '--streams"),
    ("simulate packet --rate 100 --processors 0", "'0' for '--processors"),
    ("simulate packet --rate 100 --policy best", "--policy"),
    ("simulate packet --rate 100 --precision 200%", "--precision"),
    ("simulate packet --rate 100 --time-scale 2", "--time-scale"),
    ("simulate packet --rate 100 --thread-order lru", "--thread-order"),
    ("simulate packet --scenario wrong.toml", "wrong.toml:1:"),
    ("simulate packet --trace wrong.toml", "--trace"),
    ("sweep packet", "--rate"),
    ("sweep packet --rates 0", "0"),
    ("sweep packet --rates 10 --rate 10", "--rate"),
    ("sweep packet --rates 10 --out there", "exists already"),
    ("run --rate 100 --seconds 0", "--seconds is 0"),
    ("run --rate 100 --streams 0", "'0' for '--streams"),
    ("run --rate 100 --cpus 0,0", "--cpus"),
    ("run --interface eth0", "--interface"),
    ("compare --loads 2", "--loads has 2"),
    ("compare --profile wrong.toml", "wrong.toml:1:"),
    ("reproduce salehi-1994 --figure 99", "--figure"),
    ("reproduce salehi-1994 --precision 0", "'0' for '--precision"),
    (
        "advise dedicated --processors 2 --occupancy 30s --interrupt 2us",
        "--occupancy is 30.0 s, expected less",
    ),
    ("advise dedicated --processors 2 --occupancy 1us --interrupt 2us --latency 60s", "--latency is 60.0 s"),
    (
        "advise dedicated --processors 2 --occupancy 1us --interrupt 2us --compute 7200s",
        "--compute is 7200 s",
    ),
    ("machine --root none", "--root none"),
    ("machine --root empty", "--root empty: it has neither a `proc` nor a `sys` folder"),
    ("host plan --root empty", "--root empty"),
    ("host capture /proc/copy", "cannot create the folder /proc/copy"),
    ("host show --root mine.toml", "--root mine.toml"),
    ("host capture there", "exists already"),
    ("host apply none.toml", "none.toml"),
    ("host apply wrong.toml", "wrong.toml:1:"),
    ("transfer --blocks 1", "'1' for '--blocks"),
    ("study --processors 8,8", "--processors: 8 is given twice"),
    ("study --seed 99999999999999999999", "from 0 to 9223372036854775807"),
    ("host plan --rate -1", "'-1' for '--rate"),
    ("host verify plan.toml --time 1", "expected a time with its unit, such as 1s, 2m or 500ms"),
    ("compare --driver tun", "what peers will send cannot be predicted"),
    ("compare --policies mru,MRU", "--policies: MRU is given twice"),
];

#[test]
fn wrong_usage_ends_with_status_2_and_leaves_nothing() {
    let (_folder, path) = folder_with(&scenario("sgi-challenge-xl", "[100.0]"));
    std::fs::write(path.join("wrong.toml"), "colour = \"red\"\n").unwrap();
    std::fs::create_dir(path.join("there")).unwrap();
    std::fs::write(path.join("there/results.parquet"), "").unwrap();
    std::fs::create_dir(path.join("empty")).unwrap();
    std::os::unix::fs::symlink("/dev/null", path.join("null")).unwrap();
    let before = names(&path);
    for (line, problem) in WRONG {
        let words: Vec<&str> = line.split(' ').collect();
        let output = warmcore(&words, &path);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.starts_with("error: ") && error.contains(problem), "{line}: {error}");
        assert!(output.stdout.is_empty(), "{line}");
        assert_eq!(names(&path), before, "{line}");
    }
}

/// A message into a pipe is one line, however long, so that `grep` finds it whole.
#[test]
fn an_error_into_a_pipe_is_one_line() {
    let (_folder, path) = folder_with("");
    let far = format!("{}profile.toml", "a-folder-that-is-not-there/".repeat(8));
    let output = warmcore(&["simulate", "packet", "--rate", "100", "--profile", &far], &path);
    let error = text(&output.stderr);
    assert!(error.trim_end().lines().count() == 1 && error.contains(&far), "{error}");
}
