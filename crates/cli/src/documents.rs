//! Reading the documents that a command line names.

use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use std::path::Path;
use warmcore_costs::Profile;
use warmcore_files::{LONGEST_DOCUMENT, read_text};
use warmcore_scenario::ProfileSource;
use warmcore_scenario::document::{self, Checked};

/// The profile that a checked scenario names.
pub(crate) fn profile(source: &ProfileSource) -> miette::Result<Profile> {
    match source {
        ProfileSource::File(path) => read(path),
        ProfileSource::SgiChallengeXl => Ok(Profile::sgi_challenge_xl()),
        ProfileSource::Measure => Err(misuse(
            "--profile is measure, expected sgi-challenge-xl or a profile's file: `warmcore calibrate` measures one",
        )),
    }
}

/// Reads and checks the document at `path`.
pub(crate) fn read<D: Checked>(path: &Path) -> miette::Result<D> {
    messages::detail(format_args!("reading the {} {}", D::WHAT, path.display()));
    document::read(path).or_misuse()
}

/// Whether the `document` has a value of its own for `key`.
pub(crate) fn names(document: Option<&Path>, key: &str) -> bool {
    let read = document.and_then(|path| read_text(path, LONGEST_DOCUMENT).ok());
    read.and_then(|text| text.parse::<toml::Table>().ok()).is_some_and(|table| table.contains_key(key))
}
