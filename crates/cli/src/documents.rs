//! Reading the documents that a command line names.

use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use std::path::Path;
use warmcore_costs::{Profile, SocketProfile};
use warmcore_files::{LONGEST_DOCUMENT, read_text};
use warmcore_scenario::ProfileSource;
use warmcore_scenario::document::{self, Checked};
use warmcore_study::placement::PacketCosts;

/// The profile that a checked scenario names.
pub(crate) fn profile(source: &ProfileSource) -> miette::Result<Profile> {
    match source {
        ProfileSource::File(path) => profile_of(path, ProfileKind::Stack),
        ProfileSource::SgiChallengeXl => Ok(Profile::sgi_challenge_xl()),
        ProfileSource::Measure => Err(misuse(
            "--profile is measure, expected sgi-challenge-xl or a profile's file: `warmcore calibrate` measures one",
        )),
    }
}

/// What a profile is about. Each kind is a document of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProfileKind {
    /// This program's protocol stack, in memory.
    Stack,
    /// The kernel's path to a socket.
    Sockets,
    /// A finished server program.
    Program,
}

impl ProfileKind {
    /// The kind of the document at `path`, by a field that no other has; `None` if it is no profile or cannot be read.
    fn find(path: &Path) -> Option<Self> {
        let kinds = [("times", Self::Stack), ("datagrams", Self::Sockets), ("program", Self::Program)];
        let table: toml::Table = read_text(path, LONGEST_DOCUMENT).ok()?.parse().ok()?;
        // That of a program has times as well.
        kinds.into_iter().rev().find(|(key, _)| table.contains_key(*key)).map(|(_, kind)| kind)
    }

    /// The kind, and the command that writes it.
    const fn described(self) -> &'static str {
        match self {
            Self::Stack => "a protocol stack in memory (`warmcore calibrate`)",
            Self::Sockets => "the kernel's path (`warmcore calibrate --path udp-socket`)",
            Self::Program => "a server program (`warmcore calibrate --server`)",
        }
    }
}

/// Reads and checks the profile at `path`, which is to be of this `kind`.
pub(crate) fn profile_of<D: Checked>(path: &Path, kind: ProfileKind) -> miette::Result<D> {
    match ProfileKind::find(path) {
        Some(found) if found != kind => Err(misuse(format!(
            "{} is the profile of {}, expected one of {}",
            path.display(),
            found.described(),
            kind.described()
        ))),
        _ => read(path),
    }
}

/// What packets cost on a host, by the profile that is named for it.
pub(crate) enum HostCosts {
    /// Of a protocol stack in memory.
    Stack(Profile),
    /// Of the kernel's path.
    Kernel(SocketProfile),
}

impl HostCosts {
    /// Reads and checks a profile of either path.
    pub(crate) fn read(source: &ProfileSource) -> miette::Result<Self> {
        match source {
            ProfileSource::File(path)
                if matches!(ProfileKind::find(path), Some(ProfileKind::Sockets | ProfileKind::Program)) =>
            {
                profile_of(path, ProfileKind::Sockets).map(Self::Kernel)
            }
            source => profile(source).map(Self::Stack),
        }
    }

    pub(crate) const fn costs(&self) -> PacketCosts<'_> {
        match self {
            Self::Stack(profile) => PacketCosts::Stack(profile),
            Self::Kernel(profile) => PacketCosts::Kernel(profile),
        }
    }

    /// Of which path and machine they are.
    pub(crate) fn described(&self) -> String {
        match self {
            Self::Stack(profile) => format!(
                "Costs are those of a protocol stack in memory on {}, which is another path than the kernel's: `warmcore calibrate \
                 --path udp-socket` measures that on this host.",
                profile.name
            ),
            Self::Kernel(profile) => format!(
                "Costs are those of the kernel's path to a UDP socket on {}, measured on {}.",
                profile.name, profile.provenance.date
            ),
        }
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
