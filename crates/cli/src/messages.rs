//! What is said on standard error beside errors, as --quiet and --verbose ask for it.
//!
//! The setting is the process's: it is made once, from the command line, before a command runs.

use clap::ValueEnum;
use std::fmt::Display;
use std::sync::atomic::{AtomicU8, Ordering};

/// How much is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Level {
    /// Errors only.
    Quiet,
    /// Notes and progress too.
    Normal,
    /// What the command does too: files, profiles, stages.
    Verbose,
}

/// When help and errors are coloured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Normal as u8);

/// Says as much as `level` from now on.
pub(crate) fn set(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Whether messages of `level` are said.
pub(crate) fn says(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Something to know that is no error: `note: …`, unless --quiet is given.
pub(crate) fn note(text: impl Display) {
    say(Level::Normal, format_args!("note: {text}"));
}

/// How the command goes on, unless --quiet is given.
pub(crate) fn status(text: impl Display) {
    say(Level::Normal, text);
}

/// What the command does, if --verbose is given.
pub(crate) fn detail(text: impl Display) {
    say(Level::Verbose, text);
}

fn say(level: Level, text: impl Display) {
    if says(level) {
        eprintln!("{text}");
    }
}
