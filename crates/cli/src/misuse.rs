//! Wrong usage: the command line, or a file that it names, cannot be used. A command finds this out before it
//! measures, simulates or changes anything, and the process then ends with status 2.

use miette::{Diagnostic, Report};
use std::error::Error;
use std::fmt;

/// Marks an error as wrong usage. It reads and sources like the error that it wraps.
#[derive(Debug)]
pub(crate) struct Misuse(Box<dyn Error + Send + Sync>);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Misuse {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl Diagnostic for Misuse {}

/// Wrong usage, in these words.
pub(crate) fn misuse(words: impl Into<String>) -> Report {
    Misuse(words.into().into()).into()
}

/// Refuses a list in which a value stands twice: the work would be done twice.
pub(crate) fn refuse_repeats<T: PartialEq + fmt::Display>(flag: &str, values: &[T]) -> miette::Result<()> {
    let repeated = values.iter().enumerate().find(|(place, value)| values[..*place].contains(value));
    repeated.map_or(Ok(()), |(_, value)| Err(misuse(format!("--{flag}: {value} is given twice"))))
}

/// Turns the errors of a check of what the user gave into [`Misuse`].
pub(crate) trait OrMisuse<T> {
    /// Marks an error as wrong usage.
    fn or_misuse(self) -> miette::Result<T>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrMisuse<T> for Result<T, E> {
    fn or_misuse(self) -> miette::Result<T> {
        self.map_err(|error| Misuse(error.into()).into())
    }
}

/// Whether `report` is wrong usage.
pub(crate) fn is_misuse(report: &Report) -> bool {
    report.downcast_ref::<Misuse>().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::{IntoDiagnostic, WrapErr, miette};
    use std::io;

    #[test]
    fn misuse_is_known_under_any_context_and_keeps_its_causes() {
        let failed = || io::Error::other("no such file");
        let report = Err::<(), _>(failed()).or_misuse().wrap_err("--scenario").unwrap_err();
        assert!(is_misuse(&report));
        let inner = Err::<(), _>(failed()).into_diagnostic().wrap_err("cannot read").or_misuse().unwrap_err();
        let told: Vec<String> = inner.chain().map(ToString::to_string).collect();
        assert_eq!(told, ["cannot read", "no such file"]);
        assert!(is_misuse(&inner) && !is_misuse(&miette!("no room")));
    }
}
