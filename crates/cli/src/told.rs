//! How an error is told.
//!
//! Errors of the house name their causes in their own words, so that one line says all of it, and have
//! them as sources too, for programs that ask. Told with all its sources, such an error would say
//! everything twice.

use miette::{Report, miette};

/// `report` without the causes that it has named already.
pub(crate) fn once(report: &Report) -> Report {
    let mut said: Vec<String> = Vec::new();
    for cause in report.chain().map(ToString::to_string) {
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
    use std::io;
    use warmcore_record::atomic_file::WriteError;

    fn told(source: io::Error) -> Vec<String> {
        let full = Err::<(), _>(WriteError::Full { path: "report.html".into(), bytes: 7, source });
        let report = full.into_diagnostic().wrap_err("cannot finish").unwrap_err();
        once(&report).chain().map(ToString::to_string).collect()
    }

    #[test]
    fn a_cause_that_is_named_already_is_not_told_again() {
        let [context, error] = &told(io::Error::other("no room"))[..] else { panic!("two lines") };
        assert_eq!(context, "cannot finish");
        assert_eq!(error.matches("no room").count(), 1, "{error}");
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
