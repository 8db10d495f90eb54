//! A journal: a file to which a long run adds every result as soon as it is finished, so that a run that
//! is interrupted or killed can resume.
//!
//! ```text
//! journal = { schema = 1, subject = ["…", "…"], began = "2026-11-21T08:00:00Z" }
//! entry = { key = ["…", "…"], value = { … } }
//! entry = { key = ["…", "…"], value = { … } }
//! ```
//!
//! Each line is a TOML document of its own. TOML can write every float, infinities too, and a value is read
//! back with the same bits. The subject says what the results describe; a journal with another subject is
//! not resumed. Subject and keys may have several lines; they are stored as a list, so that an entry takes
//! one line.
//!
//! Invariant: every line with a newline is complete, and only the last line may lack its newline. A killed
//! process leaves such a line behind; it is cut off on resumption. When [`Journal::append`] returns, the
//! operating system has the entry: it survives the end of the process, but perhaps not a power failure.

use crate::atomic_file::{self, Existing, WriteError};
use crate::remedy::{Remedied, Remedy};
use chrono::{SecondsFormat, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use toml::ser::ValueSerializer;
use warmcore_files::{LONGEST_JOURNAL, check, read};

/// The version of the file that this build reads and writes.
pub const SCHEMA: u32 = 1;

/// A journal of values `V`, each stored under a key.
#[derive(Debug)]
pub struct Journal<V> {
    path: PathBuf,
    began: String,
    entries: HashMap<String, V>,
    /// How many values were added since it was opened.
    added: AtomicUsize,
    /// Locked, so that no other process writes to it.
    file: Mutex<File>,
}

/// A journal could not be created, resumed or extended.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file could not be created.
    #[error(transparent)]
    Create(#[from] WriteError),
    /// The file could not be read or written.
    #[error("cannot {step} the journal `{}`: {source}", path.display())]
    File {
        /// What was being done.
        step: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has the journal open.
    #[error("the journal `{}` is in use by another process", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A complete line is not a valid line of a journal.
    #[error("{}:{line}: not a line of a journal: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// The journal has another subject.
    #[error("the journal `{}` is of another run: {difference}", path.display())]
    OtherSubject {
        /// The file.
        path: PathBuf,
        /// How the subjects differ.
        difference: String,
    },
    /// A value cannot be written as TOML.
    #[error("a value cannot be written to the journal `{}`: {problem}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
}

impl Remedied for JournalError {
    fn remedies(&self) -> &'static [Remedy] {
        match self {
            Self::InUse { .. } => &[Remedy::Wait],
            Self::Malformed { .. } => &[Remedy::BeginAnew],
            Self::OtherSubject { .. } => &[Remedy::SameArguments, Remedy::BeginAnew, Remedy::OtherFolder],
            Self::Create(_) | Self::File { .. } | Self::Value { .. } => &[],
        }
    }
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    schema: u32,
    subject: Vec<String>,
    began: String,
}

/// Any other line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalEntry<V> {
    key: Vec<String>,
    value: V,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadLine {
    journal: Head,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryLine<V> {
    entry: JournalEntry<V>,
}

impl<V: Serialize + DeserializeOwned> Journal<V> {
    /// Creates a journal for `subject`, which must describe everything that the values depend on besides
    /// their keys.
    ///
    /// # Errors
    /// If the file exists and must not be replaced, or cannot be written.
    pub fn create(path: &Path, subject: &str, existing: Existing) -> Result<Self, JournalError> {
        let began = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        let head = Head { schema: SCHEMA, subject: split(subject), began: began.clone() };
        atomic_file::write(path, line("journal", &head, path)?.as_bytes(), existing)?;
        let file = Mutex::new(open(path)?);
        Ok(Self { path: path.to_owned(), began, entries: HashMap::new(), added: AtomicUsize::new(0), file })
    }

    /// Resumes the journal at `path`, or creates it if there is none.
    ///
    /// # Errors
    /// If it has another subject, is no journal, is in use, or cannot be read.
    pub fn resume(path: &Path, subject: &str) -> Result<Self, JournalError> {
        if !path.exists() {
            return Self::create(path, subject, Existing::Refuse);
        }
        let failed = |step| move |source| JournalError::File { step, path: path.to_owned(), source };
        check(path, LONGEST_JOURNAL).map_err(failed("read"))?;
        let file = open(path)?;
        let text = read(path, LONGEST_JOURNAL).map_err(failed("read"))?;
        let complete = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let (began, entries) = parse(&text[..complete], subject, path)?;
        file.set_len(complete as u64).map_err(failed("cut the unfinished end off"))?;
        let (added, file) = (AtomicUsize::new(0), Mutex::new(file));
        Ok(Self { path: path.to_owned(), began, entries, added, file })
    }

    /// Adds `value` under `key`. Several threads may call this at once.
    ///
    /// # Errors
    /// If the file cannot be written, or the value cannot be written as TOML on one line.
    pub fn append(&self, key: &str, value: &V) -> Result<(), JournalError> {
        let line = line("entry", &JournalEntry { key: split(key), value }, &self.path)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes()).map_err(|source| JournalError::File {
            step: "add to",
            path: self.path.clone(),
            source,
        })?;
        self.added.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl<V> Journal<V> {
    /// The value that an earlier run added under `key`.
    pub fn known(&self, key: &str) -> Option<&V> {
        self.entries.get(key)
    }

    /// How many values it holds: those of earlier runs, and those that were added since.
    pub fn count(&self) -> usize {
        self.entries.len() + self.added.load(Ordering::Relaxed)
    }

    /// How many values earlier runs added.
    pub fn known_count(&self) -> usize {
        self.entries.len()
    }

    /// When the journal was created: UTC in the format of RFC 3339.
    pub fn began(&self) -> &str {
        &self.began
    }
}

/// Opens the file for appending and locks it against other processes.
fn open(path: &Path) -> Result<File, JournalError> {
    let failed = |source| JournalError::File { step: "open", path: path.to_owned(), source };
    let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse { path: path.to_owned() }),
        // Some file systems have no locks: use the journal without one.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

fn split(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// `name = value` on one line, with a newline.
fn line<T: Serialize>(name: &str, value: &T, path: &Path) -> Result<String, JournalError> {
    let refused = |problem| JournalError::Value { path: path.to_owned(), problem };
    let mut text = String::new();
    value.serialize(ValueSerializer::new(&mut text)).map_err(|error| refused(error.to_string()))?;
    if text.contains('\n') {
        return Err(refused("it contains a text of several lines, expected one line".to_owned()));
    }
    Ok(format!("{name} = {text}\n"))
}

/// Parses the journal: when it was created, and its entries.
fn parse<V: DeserializeOwned>(
    text: &[u8],
    subject: &str,
    path: &Path,
) -> Result<(String, HashMap<String, V>), JournalError> {
    let malformed = |line: usize, problem: &dyn ToString| JournalError::Malformed {
        path: path.to_owned(),
        line,
        problem: problem.to_string().trim().replace('\n', "; "),
    };
    let text = str::from_utf8(text).map_err(|error| malformed(1, &error))?;
    let mut lines = text.lines().enumerate();
    let unfinished = "it has no first line that was written to its end";
    let (_, head) = lines.next().ok_or_else(|| malformed(1, &unfinished))?;
    let HeadLine { journal: head } = toml::from_str(head).map_err(|error| malformed(1, &error.message()))?;
    if head.schema != SCHEMA {
        return Err(malformed(1, &format!("its version is {}, expected {SCHEMA}", head.schema)));
    }
    if let Some(difference) = difference(&head.subject, &split(subject)) {
        return Err(JournalError::OtherSubject { path: path.to_owned(), difference });
    }
    let entries = lines.map(|(index, line)| {
        let line: EntryLine<V> =
            toml::from_str(line).map_err(|error| malformed(index + 1, &error.message()))?;
        Ok((line.entry.key.join("\n"), line.entry.value))
    });
    Ok((head.began, entries.collect::<Result<_, JournalError>>()?))
}

/// Describes the first line in which two subjects differ.
fn difference(there: &[String], here: &[String]) -> Option<String> {
    let at = |subject: &[String], line: usize| subject.get(line).cloned().unwrap_or_default();
    let lines = (0..there.len().max(here.len())).map(|line| (at(there, line), at(here, line)));
    let (there, here) = lines.into_iter().find(|(there, here)| there != here)?;
    Some(format!("it has `{there}`, asked for is `{here}`"))
}
