//! `warmcore reproduce`: the files of a reproduction, and its checkpoint.

use super::json;
use crate::{names, refusal, text, warmcore};
use std::fs;

const FILES: [&str; 7] = [
    "claims.csv",
    "claims.json",
    "claims.parquet",
    "points.journal",
    "report.html",
    "results.csv",
    "results.parquet",
];

#[test]
fn a_figure_is_reproduced_with_its_claims_and_goes_on_from_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let figure = ["reproduce", "salehi-1994", "--figure", "12", "--quick", "--out", "mine"];
    let summary = json(&figure, folder.path());
    assert!(summary["claims"].as_array().is_some_and(|claims| !claims.is_empty()), "{summary}");
    let out = folder.path().join("mine");
    assert_eq!(names(&out), FILES);
    let results = fs::read(out.join("results.parquet")).unwrap();

    // Half of the points are lost, and the last of the rest is unfinished.
    let journal = fs::read(out.join("points.journal")).unwrap();
    fs::write(out.join("points.journal"), &journal[..journal.len() / 2]).unwrap();
    assert_eq!(json(&[&figure[..], &["--resume"]].concat(), folder.path()), summary);
    assert!(fs::read(out.join("results.parquet")).unwrap() == results);

    let claims = fs::read(out.join("claims.json")).unwrap();
    for other in [["--figure", "4"], ["--seed", "7"], ["--precision", "4%"]] {
        let mut arguments = [&figure[..], &["--resume"]].concat();
        match arguments.iter().position(|&argument| argument == other[0]) {
            Some(place) => arguments[place + 1] = other[1],
            None => arguments.extend(other),
        }
        let error = refusal(&arguments, folder.path());
        assert!(error.contains("is of another run"), "{error}");
        assert!(fs::read(out.join("claims.json")).unwrap() == claims, "nothing is lost");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, problem) in [
        (["--figure", "99"], "there is no figure `99`, expected"),
        (["--figure", "12,12"], "--figure: 12 is given twice"),
        (["--precision", "150%"], "'150%' for '--precision <FRACTION>'"),
        (["--profile", "nowhere.toml"], "cannot read the profile nowhere.toml"),
    ] {
        let error = refusal(&[&["reproduce", "salehi-1994"][..], &flags].concat(), folder.path());
        assert!(error.contains(problem), "{error}");
    }
    let help = text(&warmcore(&["reproduce", "foong-2004", "--help"], folder.path()).stdout);
    assert!(help.contains("Only these figures, of 2, 3 and 5") && !help.contains("7a"), "{help}");
    let output = warmcore(&["reproduce", "knuth-1968"], folder.path());
    assert!(text(&output.stderr).contains("unrecognized subcommand"), "{}", text(&output.stderr));
    assert!(names(folder.path()).is_empty());
}
