//! What can be done about files that are in the way, in the words of the command line.

use crate::misuse::{OrMisuse, misuse};
use warmcore_record::remedy::{Remedied, Remedy};

/// The option that does what `remedy` says.
const fn option(remedy: Remedy) -> Option<&'static str> {
    match remedy {
        Remedy::Resume => Some("--resume"),
        Remedy::BeginAnew => Some("--force"),
        Remedy::OtherFolder => Some("--out"),
        Remedy::SameArguments
        | Remedy::Wait
        | Remedy::OtherProgram
        | Remedy::Fetch
        | Remedy::RemoveFile
        | Remedy::RewriteFile => None,
    }
}

/// What `error` says, and what can be done.
pub(crate) fn with_remedies(error: &impl Remedied) -> String {
    error.in_words(option)
}

/// Turns what is in the way of a run into wrong usage, with what can be done.
pub(crate) trait OrRemedies<T> {
    /// Marks an error as wrong usage.
    fn or_remedies(self) -> miette::Result<T>;
}

impl<T, E: Remedied + Send + Sync + 'static> OrRemedies<T> for Result<T, E> {
    fn or_remedies(self) -> miette::Result<T> {
        match self {
            Err(error) if !error.remedies().is_empty() => Err(misuse(with_remedies(&error))),
            other => other.or_misuse(),
        }
    }
}
