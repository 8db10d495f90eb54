//! Programs that a user names, and how a long command says that it goes on.

use crate::{folder_with, names, refusal, scenario};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn an_intervening_program_that_cannot_serve_is_refused_before_anything_is_measured() {
    let measured = scenario("measure", "[]");
    let (_folder, path) = folder_with("");
    fs::write(path.join("plain"), "").unwrap();
    for (program, problem) in [
        ("/nonexistent/program", "cannot start `/nonexistent/program`"),
        ("no-such-program-here", "cannot start `no-such-program-here`"),
        ("./plain", "cannot start `./plain`"),
        ("true", "`true` ended"),
    ] {
        let named =
            measured.replace("target = 0.01", &format!("target = 0.01\nintervening = [\"{program}\"]"));
        fs::write(path.join("mine.toml"), named).unwrap();
        for words in [
            &["study", "--intervening", program][..],
            &["study", "--scenario", "mine.toml"],
            &["calibrate", "--intervening", program],
        ] {
            let error = refusal(words, &path);
            assert!(error.contains("--intervening") && error.contains(problem), "{words:?}: {error}");
            assert_eq!(names(&path), ["mine.toml", "plain"], "{words:?}");
        }
    }
}

/// Nobody looks at a bar, and nobody waits for minutes without a word.
#[test]
fn where_there_is_no_terminal_a_long_command_says_how_far_it_is() {
    let (_folder, path) = folder_with("");
    let mut child = Command::new(env!("CARGO_BIN_EXE_warmcore"))
        .args(["calibrate", "--quick"])
        .current_dir(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be run");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
    let line = (&mut said).lines().map_while(Result::ok).find(|line| line.ends_with(" s so far"));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(kill.success());
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().expect("a child can be waited for").code(), Some(130), "{rest}");
    let line = line.unwrap_or_else(|| panic!("nothing was said before the end: {rest}"));
    assert!(line.contains("%, ") && !line.contains('\u{1b}'), "{line}");
}
