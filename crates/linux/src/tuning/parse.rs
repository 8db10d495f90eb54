//! Reads a journal line by line: as much of it as can be read.
//!
//! The first line says which boot the journal is of, so it is read alone first: the settings of an earlier boot
//! are gone, whatever the rest says. Of a damaged journal every readable step still holds an original value.

use super::entries::{Content, Head, JournalEntry, JournalLine, StepProgress};
use super::journal_error::JournalError;
use super::step::{Step, StepKind};
use std::collections::BTreeSet;
use std::path::Path;

/// A line of a journal that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// Returns the complete lines of `bytes`. Only the last line may be incomplete: its writer was killed, or the disk
/// was full.
pub(super) fn complete(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    &bytes[..end]
}

/// Parses the first line of the journal at `path`.
pub(super) fn head(bytes: &[u8], path: &Path) -> Result<Head, JournalError> {
    let headless = |problem| JournalError::Headless { path: path.to_owned(), problem };
    let Some(line) = lines(bytes).next() else {
        return Err(headless("it holds no complete line".to_owned()));
    };
    match entry(line).map_err(headless)? {
        JournalEntry::Head(head) => head.require_known().map_err(headless),
        _ => Err(headless("it does not begin with the head".to_owned())),
    }
}

/// Parses the complete lines of the journal at `path`.
pub(super) fn content(bytes: &[u8], path: &Path) -> Result<Content, JournalError> {
    let mut content = Content::new(head(bytes, path)?, Vec::new());
    let (mut last, mut places) = (1, BTreeSet::new());
    for (number, line) in (1..).zip(lines(bytes)).skip(1) {
        last = number;
        if let Err(problem) = take(line, &mut content, &mut places) {
            content.damage.push(Damage { line: number, problem });
        }
    }
    let (found, expected) = (content.steps.len(), content.head.step_count());
    if found < expected {
        let problem = format!("{found} of {expected} settings are there, and the journal ends");
        content.damage.push(Damage { line: last + 1, problem });
    }
    if !content.damage.is_empty() {
        content.forget_progress();
    }
    Ok(content)
}

/// Takes an entry. No two steps may have an original value of one of `places`.
fn take(line: &[u8], content: &mut Content, places: &mut BTreeSet<(StepKind, String)>) -> Result<(), String> {
    let entry = entry(line)?;
    if let JournalEntry::Step(Step { kind, set, .. }) = &entry
        && *kind != StepKind::Deferred
        && set.check().is_ok()
        && !places.insert((*kind, set.to_string()))
    {
        return Err(format!("it is a second original value of {set}, expected one"));
    }
    content.take(entry)
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    complete(bytes).split_inclusive(|&byte| byte == b'\n')
}

fn entry(line: &[u8]) -> Result<JournalEntry, String> {
    // Not replaced by other characters, because a changed name or value would pass for the original one.
    let text = str::from_utf8(line).map_err(|error| format!("it is not UTF-8 text: {error}"))?;
    toml::from_str::<JournalLine>(text)
        .map(|line| line.entry)
        .map_err(|error| error.message().trim().replace('\n', "; ").escape_debug().to_string())
}

impl Content {
    /// Forgets how far applying has got. Progress names steps by their place, and a lost line may have been a step.
    /// What stands there still shows what is in force.
    fn forget_progress(&mut self) {
        for (_, progress) in &mut self.steps {
            *progress = StepProgress { begun: true, ..StepProgress::default() };
        }
    }
}
