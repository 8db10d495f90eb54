//! `warmcore man`: a manual page for each command, from the descriptions of the parser, with its exit status and
//! its files.

use crate::args::{Arguments, ManArguments};
use crate::misuse::OrMisuse;
use crate::{exit, folder};
use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory};
use miette::{IntoDiagnostic, WrapErr};
use std::fs;
use std::io;
use warmcore_record::Existing;

/// A file that a command reads or writes, and what it holds.
type FileEntry = (&'static str, &'static str);

const REPORT: FileEntry =
    ("report.html", "The report: one file, which opens in a browser without a network.");
const RESULTS: FileEntry = (
    "results.parquet, results.csv",
    "The figures, a row for each point; units are in the metadata or the header.",
);
const JOURNAL: FileEntry = ("points.journal", "Finished points, from which --resume continues.");
const PROFILE: FileEntry = ("profile.toml", "What packets cost on one machine, in every situation.");
const CLAIMS: FileEntry =
    ("claims.json, claims.parquet, claims.csv", "Published values beside ours, with verdicts.");

/// The page of one command.
struct Page {
    /// `warmcore-host-show`.
    name: String,
    text: Vec<u8>,
}

pub(crate) fn run(arguments: &ManArguments) -> miette::Result<()> {
    let pages = pages().into_diagnostic()?;
    let Some(out) = &arguments.out else {
        return crate::output::print(&pages.into_iter().flat_map(|page| page.text).collect::<Vec<_>>());
    };
    fs::create_dir_all(out)
        .or_misuse()
        .wrap_err_with(|| format!("cannot create the folder {}", out.display()))?;
    let written = pages.iter().map(|page| {
        let path = out.join(format!("{}.1", page.name));
        folder::write(&path, &page.text, Existing::Replace)
    });
    let count = written.collect::<miette::Result<Vec<_>>>()?.len();
    crate::output::print(format!("{count} pages are in {}.\n", out.display()).as_bytes())
}

/// The pages of the program and of all its commands, without those that only the program itself starts.
fn pages() -> io::Result<Vec<Page>> {
    let mut command = Arguments::command();
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, "warmcore", &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &Command, name: &str, pages: &mut Vec<Page>) -> io::Result<()> {
    let mut text = Vec::new();
    // The exit statuses that end the help text have a section of their own here.
    let described = command.clone().after_long_help(Resettable::Reset).display_name(name.to_owned());
    let described = described.override_usage(synopsis(command));
    let source = concat!("warmcore ", env!("CARGO_PKG_VERSION"));
    // An empty date would be left out, and the source stand in its place.
    let page =
        clap_mangen::Man::new(described).title(name).date(" ").source(source).manual("Warmcore manual");
    page.render(&mut text)?;
    let statuses = exit::STATUSES.map(|(status, meaning)| (status.to_string(), meaning));
    text.extend(
        section("EXIT STATUS", statuses.iter().map(|(status, meaning)| (status.as_str(), *meaning))).bytes(),
    );
    let files = files(name);
    if !files.is_empty() {
        text.extend(section("FILES", files.iter().copied()).bytes());
    }
    pages.push(Page { name: name.to_owned(), text });
    for subcommand in command.get_subcommands().filter(|it| it.get_name() != "help" && !it.is_hide_set()) {
        add_pages(subcommand, &format!("{name}-{}", subcommand.get_name()), pages)?;
    }
    Ok(())
}

/// All arguments of `command`, each option with its value: `warmcore report [--open] [PATH]`.
fn synopsis(command: &Command) -> String {
    let (positionals, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|argument| !argument.is_hide_set()).partition(|it| it.is_positional());
    let (required, optional): (Vec<&Arg>, Vec<&Arg>) =
        options.into_iter().partition(|option| option.is_required_set());
    let short = |option: &Arg| option.get_short().map(|short| format!("-{short}|")).unwrap_or_default();
    let optional = optional.into_iter().map(|option| format!("[{}{option}]", short(option)));
    let required = required.into_iter().map(|option| format!("{}{option}", short(option)));
    let positionals = positionals.into_iter().map(ToString::to_string);
    let subcommand = match (command.has_subcommands(), command.is_subcommand_required_set()) {
        (false, _) => None,
        (true, true) => Some("<COMMAND>".to_owned()),
        (true, false) => Some("[COMMAND]".to_owned()),
    };
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let words = [name].into_iter().chain(optional).chain(required).chain(positionals).chain(subcommand);
    words.collect::<Vec<_>>().join(" ")
}

/// The files that the command of this page reads without being asked, and those it writes.
fn files(page: &str) -> Vec<FileEntry> {
    const FOUND: FileEntry = (
        "profile.toml, study/profile.toml",
        "The first of these that is there is used where --profile names none.",
    );
    const MACHINE: FileEntry = ("/proc, /sys", "Read; --root names another place for them.");
    const HOST_JOURNAL: FileEntry = (
        "/var/lib/warmcore, $XDG_STATE_HOME/warmcore, ~/.local/state/warmcore",
        "The journal of what a plan has changed: the first for root, the others for other users.",
    );
    match page {
        "warmcore-study" => vec![
            REPORT,
            PROFILE,
            RESULTS,
            ("summary.json", "What --json prints."),
            ("study.toml", "The scenario, with which --scenario repeats the study."),
        ],
        "warmcore-calibrate" => vec![PROFILE],
        "warmcore-simulate-packet" => vec![FOUND],
        "warmcore-sweep-packet" => {
            vec![REPORT, RESULTS, ("sweep.toml", "What was asked for."), JOURNAL, FOUND]
        }
        "warmcore-compare" => vec![
            REPORT,
            PROFILE,
            RESULTS,
            ("summary.json", "What --json prints."),
            ("scenario.toml", "What was compared, for --scenario."),
        ],
        "warmcore-reproduce-salehi-1994"
        | "warmcore-reproduce-foong-2004"
        | "warmcore-reproduce-mosberger-1996" => vec![REPORT, CLAIMS, RESULTS, JOURNAL],
        "warmcore-layout-simulate" => {
            vec![REPORT, ("figures.json", "The figures of the report, with --output.")]
        }
        "warmcore-report" => vec![REPORT],
        "warmcore-machine" | "warmcore-host-show" | "warmcore-host-capture" | "warmcore-host-plan" => {
            vec![MACHINE]
        }
        "warmcore-host-apply" | "warmcore-host-undo" | "warmcore-host-confirm" | "warmcore-host-verify" => {
            vec![HOST_JOURNAL]
        }
        _ => Vec::new(),
    }
}

/// A section of tagged paragraphs.
fn section<'a>(heading: &str, entries: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let entry = |(tag, text)| format!(".TP\n\\fB{}\\fR\n{}\n", escaped(tag), escaped(text));
    format!(".SH \"{heading}\"\n{}", entries.map(entry).collect::<String>())
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synopsis_shows_what_each_option_takes() {
        let mut command = Arguments::command();
        command.build();
        let of = |name: &str| synopsis(command.find_subcommand(name).expect("a command"));
        let report =
            "warmcore report [--open] [-q|--quiet] [-v|--verbose] [--color <WHEN>] [-h|--help] [PATH]";
        assert_eq!(of("report"), report);
        assert!(of("run").contains("[--seed <N>]"), "{}", of("run"));
        assert!(of("host").ends_with(" <COMMAND>") && of("transfer").ends_with(" [COMMAND]"));
        let pages = pages().expect("pages");
        let page = pages.iter().find(|page| page.name == "warmcore-report").expect("a page");
        let text = String::from_utf8_lossy(&page.text);
        assert!(text.contains("[\\-\\-color <WHEN>]"), "{text}");
        assert!(text.contains(".TH warmcore-report 1 \" \" \"warmcore "), "{text}");
    }

    #[test]
    fn every_command_has_a_page_with_its_exit_status() {
        let pages = pages().expect("pages");
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        for name in ["warmcore", "warmcore-study", "warmcore-host-apply", "warmcore-report", "warmcore-man"] {
            assert!(names.contains(&name), "{names:?}");
        }
        assert!(!names.contains(&"warmcore-host-watch") && !names.contains(&"warmcore-transfer-end"));
        for page in &pages {
            let text = String::from_utf8_lossy(&page.text);
            assert_eq!(text.matches(".SH \"EXIT STATUS\"").count(), 1, "{}", page.name);
            assert_eq!(text.contains(".SH \"FILES\""), !files(&page.name).is_empty(), "{}", page.name);
        }
    }
}
