//! The examples of the README and the book do what they say: every line of their shell blocks with a
//! `warmcore` command is run, each page in a folder of its own, in order; those with `sudo` before them if this process has
//! the privilege. What stands behind `  # ` in such a line has to be among what it prints. Links and paths
//! lead somewhere, and no page is left out of the summary.

use std::env;
use std::fs;
use std::iter::from_fn;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use warmcore_linux::net::privilege_missing;

#[test]
fn the_readmes_commands_run() {
    let page = root().join("README.md");
    let count = run_examples(&page);
    assert!(count.run >= 4 && count.checked > 0, "{count:?}");
}

#[test]
fn the_books_commands_run() {
    // Two pages at a time: their commands wait for each other's results, for timers and for packets.
    let pages = Mutex::new(pages().into_iter());
    let next = || pages.lock().expect("no page panics while it is taken").next();
    let reader = || from_fn(next).map(|page| run_examples(&page)).collect::<Vec<_>>();
    let counts: Vec<Count> = thread::scope(|scope| {
        let readers = [(); 2].map(|()| scope.spawn(reader));
        readers.into_iter().flat_map(|reader| reader.join().expect("the examples run")).collect()
    });
    let run: usize = counts.iter().map(|count| count.run).sum();
    let checked: usize = counts.iter().map(|count| count.checked).sum();
    assert!(run >= 30 && checked >= 10, "{run} lines, {checked} outcomes");
}

#[test]
fn links_and_paths_lead_somewhere() {
    for page in [vec![root().join("README.md")], pages()].concat() {
        let text = read(&page);
        let folder = page.parent().expect("a page lies in a folder");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            assert!(folder.join(link).exists(), "{}: {link}", page.display());
        }
        for path in text.split('`').filter(|quoted| quoted.starts_with("crates/")) {
            assert!(root().join(path).exists(), "{}: {path}", page.display());
        }
    }
}

#[test]
fn the_summary_names_every_page() {
    let summary = read(&book().join("SUMMARY.md"));
    for page in pages() {
        let name = page.strip_prefix(book()).expect("a page of the book").display().to_string();
        assert!(summary.contains(&format!("({name})")), "{name}");
    }
}

/// How many lines of a page were run, and of how many the outcome was checked.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    run: usize,
    checked: usize,
}

/// Runs the examples of `page` in an empty folder.
fn run_examples(page: &Path) -> Count {
    let text = read(page);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut count = Count::default();
    for line in shell_lines(&text).filter_map(permitted) {
        let output = run(line, folder.path());
        count.run += 1;
        if let Some((_, expected)) = line.split_once("  # ") {
            assert!(output.contains(expected), "{}: `{line}`: {output}", page.display());
            count.checked += 1;
        }
    }
    count
}

/// What `line` prints, the wrapping within the cells of tables undone.
fn run(line: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_warmcore")).parent().expect("a folder");
    let path = format!("{}:{}", binary.display(), env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    let output =
        shell.args(["-c", line]).env("PATH", path).current_dir(folder).output().expect("a shell is there");
    assert!(output.status.success(), "`{line}`: {}", String::from_utf8_lossy(&output.stderr));
    assert!(!output.stdout.is_empty(), "`{line}` says nothing");
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of the shell blocks in `text`, which may be indented.
fn shell_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .flat_map(str::lines)
        .map(str::trim)
}

/// The command in `line`, if it is one of ours and may be run here.
fn permitted(line: &str) -> Option<&str> {
    let (is_privileged, command) =
        line.strip_prefix("sudo ").map_or((false, line), |command| (true, command));
    let missing = privilege_missing().filter(|_| is_privileged);
    if let Some(missing) = &missing {
        println!("skipped: `{line}` needs {missing}");
    }
    let code = command.split(" # ").next().unwrap_or(command);
    let is_ours = code.split_whitespace().any(|word| word == "warmcore");
    (is_ours && missing.is_none()).then_some(command)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn book() -> PathBuf {
    root().join("docs/src")
}

/// The pages of the book, in the order of their names.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![book()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of the book") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md")
                && !path.ends_with("SUMMARY.md")
            {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}
