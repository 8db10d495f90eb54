//! `warmcore report`.

use crate::args::ReportArguments;
use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use miette::miette;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use warmcore_report::is_report;

/// Opens a file on a desktop, if `$BROWSER` names nothing.
const OPENER: &str = "xdg-open";
/// The start of a file that is read to find out whether it is a report, in bytes.
const HEAD: u64 = 4096;

pub(crate) fn run(arguments: &ReportArguments) -> miette::Result<()> {
    let report = find(&arguments.path)?;
    if arguments.open {
        open(&report)?;
    }
    crate::output::print(format!("The report: {}\n", report.display()).as_bytes())
}

/// The report at `path`, or in the folder there.
fn find(path: &Path) -> miette::Result<PathBuf> {
    let file = if path.is_dir() { path.join("report.html") } else { path.to_owned() };
    if file.symlink_metadata().is_err() {
        return Err(misuse(format!("there is no report at {}: `warmcore study` writes one", file.display())));
    }
    let head = head(&file).or_misuse().map_err(|error| error.wrap_err(file.display().to_string()))?;
    match is_report(&head) {
        true => Ok(file),
        false => Err(misuse(format!(
            "{} is no report of Warmcore: expected a report.html that a command wrote, or the folder it is in",
            file.display()
        ))),
    }
}

/// The start of the regular `file`.
fn head(file: &Path) -> io::Result<String> {
    warmcore_files::check(file, u64::MAX)?;
    let mut bytes = Vec::new();
    File::open(file)?.take(HEAD).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens `report` with the first program that takes it.
fn open(report: &Path) -> miette::Result<()> {
    let file = std::path::absolute(report).map_err(|error| miette!("{}: {error}", report.display()))?;
    let mut failures = Vec::new();
    for browser in browsers() {
        let line = command_line(&browser, file.as_os_str());
        let Some((program, arguments)) = line.split_first() else { continue };
        messages::detail(format_args!("starting `{browser}` with {}", file.display()));
        match Command::new(program).args(arguments).status() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => failures.push(format!("`{browser}` ended with {status}")),
            Err(error) => failures.push(format!("`{browser}`: {error}")),
        }
    }
    Err(miette!(
        "cannot open the report in a browser ({}): set BROWSER to a browser's command, or open {} yourself",
        failures.join("; "),
        file.display()
    ))
}

/// The commands that `$BROWSER` lists, separated by colons; the desktop's opener where it lists none.
fn browsers() -> Vec<String> {
    let list = env::var("BROWSER").unwrap_or_default();
    let browsers: Vec<String> =
        list.split(':').map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if browsers.is_empty() { vec![OPENER.to_owned()] } else { browsers }
}

/// The program of a `browser` command and its arguments: `file` takes the place of `%s`, or comes last.
fn command_line(browser: &str, file: &OsStr) -> Vec<OsString> {
    let words = shlex::split(browser).unwrap_or_else(|| vec![browser.to_owned()]);
    let takes_file = words.iter().any(|word| word.contains("%s"));
    let with_file = |word: &String| word.split("%s").map(OsStr::new).collect::<Vec<_>>().join(file);
    words.iter().map(with_file).chain((!takes_file).then(|| file.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_a_command_that_may_say_where_the_file_goes() {
        let line = |browser| command_line(browser, OsStr::new("/a b.html"));
        assert_eq!(line("firefox"), ["firefox", "/a b.html"]);
        assert_eq!(line("firefox --new-tab"), ["firefox", "--new-tab", "/a b.html"]);
        assert_eq!(line("lynx -dump %s -width 80"), ["lynx", "-dump", "/a b.html", "-width", "80"]);
        assert_eq!(line("'my browser' --url=%s"), ["my browser", "--url=/a b.html"]);
    }
}
