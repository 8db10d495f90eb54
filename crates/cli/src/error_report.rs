//! Printing errors on standard error.
//!
//! Our errors quote their causes, so that one line says everything, and also have them as sources, for programs
//! that ask. [`once`] leaves out the causes that are quoted already.

use crate::messages::{self, Color};
use crate::visible::visible_lines;
use console::style;
use miette::{MietteHandlerOpts, Report, miette};
use std::io::{self, IsTerminal};

/// Colours errors, or not, from now on. `auto` leaves it to the terminal and to NO_COLOR.
pub(crate) fn set_color(color: Color) {
    let is_colored = match color {
        Color::Auto => return,
        Color::Always => true,
        Color::Never => false,
    };
    console::set_colors_enabled(is_colored);
    console::set_colors_enabled_stderr(is_colored);
    // It fails where a handler is set already, and nobody else sets one.
    let _ = miette::set_hook(Box::new(move |_| Box::new(MietteHandlerOpts::new().color(is_colored).build())));
}

/// Prints `report`: wrapped to the width of a terminal, and elsewhere one line for each message, which `grep`
/// finds whole.
pub(crate) fn print(report: &Report) {
    let report = once(report);
    match io::stderr().is_terminal() {
        true => messages::print(format_args!("Error: {report:?}")),
        false => {
            let error = style("error:").red().bold().for_stderr();
            messages::print(format_args!("{error} {}", plain(&report)));
        }
    }
}

/// `report` with its causes, unwrapped. A message of several lines keeps them: each is about a thing of its own.
fn plain(report: &Report) -> String {
    let causes: Vec<String> = report.chain().map(ToString::to_string).collect();
    causes.join(": ")
}

/// `report` without the causes that it quotes already, and with control characters escaped.
fn once(report: &Report) -> Report {
    let mut said: Vec<String> = Vec::new();
    for cause in report.chain().map(|cause| visible_lines(&cause.to_string())) {
        if !said.iter().any(|words| words.contains(&cause)) {
            said.push(cause);
        }
    }
    let innermost = said.pop().unwrap_or_default();
    said.into_iter().rev().fold(miette!("{innermost}"), Report::wrap_err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::{IntoDiagnostic, WrapErr};
    use warmcore_record::atomic_file::WriteError;

    fn messages_of(source: io::Error) -> Vec<String> {
        let full = Err::<(), _>(WriteError::Full { path: "report.html".into(), bytes: 7, source });
        let report = full.into_diagnostic().wrap_err("cannot finish").unwrap_err();
        once(&report).chain().map(ToString::to_string).collect()
    }

    #[test]
    fn a_cause_that_is_named_already_is_not_told_again() {
        let [context, error] = &messages_of(io::Error::other("no room"))[..] else { panic!("two lines") };
        assert_eq!(context, "cannot finish");
        assert_eq!(error.matches("no room").count(), 1, "{error}");
    }

    #[test]
    fn an_error_does_not_move_the_cursor() {
        let report = once(&miette!("unknown field `\x1b[2J\r`\nin line 3"));
        assert_eq!(plain(&report), "unknown field `\\u{1b}[2J\\r`\nin line 3");
    }

    #[test]
    fn outside_of_a_terminal_an_error_is_one_line_with_its_causes() {
        let long =
            "no space is left on the device that holds this folder, which is a very long name ".repeat(9);
        let report = Err::<(), _>(io::Error::other(long.clone()))
            .into_diagnostic()
            .wrap_err("cannot write")
            .unwrap_err();
        assert_eq!(plain(&report), format!("cannot write: {long}"));
    }

    #[test]
    fn a_cause_that_is_not_named_is_told() {
        let denied = WriteError::Denied {
            path: "report.html".into(),
            directory: ".".into(),
            source: io::Error::other("somebody else's"),
        };
        let report = Err::<(), _>(denied).into_diagnostic().unwrap_err();
        assert_eq!(once(&report).chain().count(), 2);
    }
}
