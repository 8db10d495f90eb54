//! Messages on standard error other than errors, as --quiet and --verbose ask for them.
//!
//! The level is a setting of the process, made once before a command runs.

use crate::visible::visible_lines;
use clap::ValueEnum;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};

/// How many messages are printed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Level {
    /// Errors only.
    Quiet,
    /// Notes and progress too.
    Normal,
    /// Details too: files, profiles, stages.
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

/// Sets the level of the process.
pub(crate) fn set(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Whether messages of `level` are printed.
pub(crate) fn says(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Prints a note, which is no error: `note: …`; not with --quiet.
pub(crate) fn note(text: impl Display) {
    say(Level::Normal, format_args!("note: {text}"));
}

/// Prints how the command proceeds; not with --quiet.
pub(crate) fn status(text: impl Display) {
    say(Level::Normal, text);
}

/// Prints what the command does, with --verbose only.
pub(crate) fn detail(text: impl Display) {
    say(Level::Verbose, text);
}

/// Prints what the user has to know at any level: an error, or how to go on.
pub(crate) fn print(text: impl Display) {
    // Where standard error is full or closed nobody can be told, and the exit status still says how it ended.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn say(level: Level, text: impl Display) {
    if says(level) {
        print(visible_lines(&text.to_string()));
    }
}
