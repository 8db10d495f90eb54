//! Words that are no text in UTF-8: as names of files they are as good as others, and as anything else
//! they are refused at once.

use crate::{as_measured, folder_with, names, scenario, text};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A name that is no text.
const NAME: &[u8] = b"na\xefve";
/// The same, as a shell reads it.
const QUOTED: &str = r"$'na\xefve'";

fn name() -> &'static OsStr {
    OsStr::from_bytes(NAME)
}

/// What comes of `words`, and of [`NAME`] after them.
fn named(words: &[&str], folder: &Path) -> Output {
    let words = words.iter().map(OsString::from).chain([name().to_owned()]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).output().expect("the binary can be run")
}

#[test]
fn results_are_written_where_a_name_is_no_text() {
    let (_folder, path) = folder_with(&scenario("sgi-challenge-xl", "[100.0]"));
    let costs = as_measured(&path);
    let sweep = ["sweep", "packet", "--rates", "1000", "--precision", "20%", "--max-packets", "10000"];
    let compare = ["compare", "--profile", costs, "--processors", "1", "--loads", "0.5", "--seconds", "0.2"];
    for words in [
        &["study", "--scenario", "mine.toml", "--out"][..],
        &[&sweep[..], &["--out"]].concat(),
        &[&compare[..], &["--work-kib", "64", "--out"]].concat(),
        &["reproduce", "salehi-1994", "--quick", "--figure", "12", "--out"],
    ] {
        let output = named(words, &path);
        if text(&output.stderr).contains("could not be measured") {
            println!("skipped: the machine does too much else for {words:?}");
            continue;
        }
        assert!(
            names(&path.join(name())).contains(&"report.html".to_owned()),
            "{words:?}: {}",
            text(&output.stderr)
        );
        let report = fs::read_to_string(path.join(name()).join("report.html")).unwrap();
        assert!(report.contains(&QUOTED.replace('\'', "&#39;")), "{words:?}: the report has the command");
        fs::remove_dir_all(path.join(name())).unwrap();
    }
    let page = named(&["host", "show", "--html"], &path);
    assert!(page.status.success() && path.join(name()).exists(), "{}", text(&page.stderr));
}

#[test]
fn documents_are_read_where_a_name_is_no_text() {
    let (_folder, path) = folder_with("");
    let put = |content: &str| fs::write(path.join(name()), content).unwrap();
    put(&scenario("sgi-challenge-xl", "[100.0]"));
    let study = named(&["study", "--scenario"], &path);
    assert!(study.status.success(), "{}", text(&study.stderr));
    put("rate_per_s = 1000.0\n[run]\nprecision = 0.2\n[live]\nseconds = 0.1\nwork_kib = 0\n");
    for words in [&["simulate", "packet", "--scenario"][..], &["run", "--processors", "1", "--scenario"]] {
        let output = named(words, &path);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    }
    put("schema = 1\nmachine = { cpus = \"0\" }\nlines = [{ set = { global_flows = { flows = 4096 } } }]\n");
    let refused = text(&named(&["host", "persist"], &path).stderr);
    assert!(refused.contains(":2: not a usable plan: `machine."), "it was read: {refused}");
}

/// A document could not name such a file, so that nothing of it could be repeated.
#[test]
fn what_a_document_could_not_hold_is_refused_at_once() {
    let (_folder, path) = folder_with("");
    for (words, problem) in [
        (&["study", "--profile"][..], "invalid UTF-8"),
        (&["calibrate", "--intervening"], "invalid UTF-8"),
        (&["simulate", "packet", "--policy"], "invalid"),
        (&["simulate", "packet", "--rate", "100", "--trace"], "expected a path in UTF-8"),
        (&["sweep", "packet", "--loads", "0.5", "--trace"], "expected a path in UTF-8"),
        (&["run", "--trace"], "expected a path in UTF-8"),
        (&["run", "--profile"], "invalid UTF-8"),
        (&["compare", "--trace"], "expected a path in UTF-8"),
        (&["transfer", "--to"], "invalid UTF-8"),
        (&["reproduce", "foong-2004", "--size"], "invalid UTF-8"),
        (&["host", "plan", "--for"], "invalid UTF-8"),
        (&["host", "verify", "plan.toml", "--load"], "invalid UTF-8"),
    ] {
        let output = named(words, &path);
        let error = crate::on_one_line(&output.stderr);
        assert!(!output.status.success() && error.contains(problem), "{words:?}: {error}");
        assert_eq!(names(&path), ["mine.toml"], "{words:?}");
    }
}
