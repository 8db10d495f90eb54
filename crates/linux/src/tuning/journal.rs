//! What was to be changed, and how far that got.
//!
//! ```text
//! entry = { head = { schema = 1, token = "…", root = "/", boot = "…", … } }
//! entry = { step = { line = 0, set = { … }, original = ["0", ""] } }
//! entry = { begun = 0 }
//! entry = { done = { step = 0, reading = ["3", ""] } }
//! entry = { restored = 0 }
//! ```
//!
//! A journal is written beside its place with its head and every step, forced to the disk, and then
//! given its name, before the first value is changed. What follows is appended: a step is *begun*
//! before its value is written, and *done* with what was then read there. So a value that differs
//! from what was read is somebody else's; only of the one step that was begun and not done, when the
//! process was killed between, this cannot be told.
//!
//! In a directory one journal is *active*; one that is closed is kept as the last one. The lock is a
//! file of its own, held for as long as values may change. It goes when its process does.

use super::entries::{Content, Head, JournalEntry, Progress, line, parse};
use super::step::Step;
use super::system::{System, is_absent};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, io};
use warmcore_files::{LONGEST_JOURNAL, read_text};

const ACTIVE: &str = "active.journal";
const LAST: &str = "last.journal";
const UNFINISHED: &str = "active.journal.unfinished";
const LOCK: &str = "lock";

/// Why there is no journal to go on with.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file or the directory cannot be used.
    #[error("cannot {step} `{}`: {source}", path.display())]
    File {
        /// What was being done.
        step: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process changes or restores values.
    #[error("`{}` is locked: another process applies or undoes a plan; wait until it has ended", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// An earlier plan is applied.
    #[error("a plan is applied already (`{}`): take it back with `warmcore host undo` first", path.display())]
    Active {
        /// The journal.
        path: PathBuf,
    },
    /// A whole line is not what stands in such a journal.
    #[error("{}:{line}: not a line of a journal: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// The journal's values are those of another namespace or tree.
    #[error("the plan was applied in another {what} ({there}, here is {here}): undo it there")]
    Elsewhere {
        /// `network namespace`, for instance.
        what: &'static str,
        /// The one of the journal.
        there: String,
        /// That of this process.
        here: String,
    },
}

/// The directory of journals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalDirectory(PathBuf);

impl JournalDirectory {
    /// The journals at `path`, which is made when the first of them is begun.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where journals are unless another place is named: `/var/lib/warmcore` for root, and for others
    /// `warmcore` in the directory for the state of programs (XDG Base Directory Specification);
    /// `None` if the environment names no home.
    #[must_use]
    pub fn standard() -> Option<Self> {
        if rustix::process::geteuid().is_root() {
            return Some(Self(PathBuf::from("/var/lib/warmcore")));
        }
        let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
        Some(Self(state.join("warmcore")))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The active journal as it is now, unless there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is no journal.
    pub fn active(&self) -> Result<Option<Content>, JournalError> {
        Ok(self.content()?.map(|(content, _)| content))
    }

    /// The active journal, and how many of its bytes are whole lines.
    fn content(&self) -> Result<Option<(Content, u64)>, JournalError> {
        let path = self.0.join(ACTIVE);
        let text = match read_text(&path, LONGEST_JOURNAL) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(source) => return Err(JournalError::File { step: "read", path, source }),
        };
        // Only the last line may lack its end: its writer was killed, or the disk was full.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        parse(&text[..whole], &path).map(|content| Some((content, whole as u64)))
    }

    /// Refuses to go on while a plan is applied that the machine has not forgotten since.
    ///
    /// # Errors
    /// If one is, or that cannot be told.
    pub fn require_none_applied(&self, system: &dyn System) -> Result<(), JournalError> {
        match self.active()? {
            Some(earlier) if !earlier.head.is_from_earlier_boot(system) => {
                Err(JournalError::Active { path: self.0.join(ACTIVE) })
            }
            _ => Ok(()),
        }
    }

    /// Begins a journal of `steps`. Nothing may be changed before; all may be changed after.
    ///
    /// # Errors
    /// If one is active, the directory is in use, or the journal cannot be brought to the disk.
    pub fn begin<'a>(
        &self,
        system: &'a dyn System,
        steps: Vec<Step>,
        awaits_confirmation: bool,
    ) -> Result<Journal<'a>, JournalError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.0).map_err(self.failed("create"))?;
        let lock = self.lock(false)?;
        self.require_none_applied(system)?;
        if self.active()?.is_some() {
            self.retire(system)?;
        }
        let head = Head::new(system, awaits_confirmation);
        let entries = std::iter::once(JournalEntry::Head(head.clone()))
            .chain(steps.iter().cloned().map(JournalEntry::Step));
        let text = entries.map(|entry| line(entry, &self.0)).collect::<Result<String, _>>()?;
        let (unfinished, active) = (self.0.join(UNFINISHED), self.0.join(ACTIVE));
        system.create(&unfinished, &text).map_err(self.failed("write the journal in"))?;
        system.sync(&unfinished).map_err(self.failed("force the journal to the disk in"))?;
        system.rename(&unfinished, &active).map_err(self.failed("name the journal in"))?;
        system.sync(&self.0).map_err(self.failed("force to the disk"))?;
        let content = Content::new(head, steps);
        Ok(Journal { system, directory: self.clone(), content, _lock: lock })
    }

    /// Opens the active journal to undo or confirm what it says; `None` if there is none. Waits for
    /// another process that has it, if `patient`.
    ///
    /// # Errors
    /// If it cannot be read, is in use, or is about values that cannot be reached from here.
    pub fn open<'a>(
        &self,
        system: &'a dyn System,
        patient: bool,
    ) -> Result<Option<Journal<'a>>, JournalError> {
        if !self.0.exists() {
            return Ok(None);
        }
        let lock = self.lock(patient)?;
        let Some((content, whole)) = self.content()? else { return Ok(None) };
        content.head.require_here(system)?;
        system.cut(&self.0.join(ACTIVE), whole).map_err(self.failed("cut the unfinished end off in"))?;
        Ok(Some(Journal { system, directory: self.clone(), content, _lock: lock }))
    }

    fn lock(&self, patient: bool) -> Result<Lock, JournalError> {
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(self.0.join(LOCK)).map_err(self.failed("lock"))?;
        let locked = if patient { file.lock().map_err(TryLockError::Error) } else { file.try_lock() };
        match locked {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(JournalError::InUse { path: self.0.clone() }),
            Err(TryLockError::Error(source)) => Err(self.failed("lock")(source)),
        }
    }

    /// Makes the active journal the last one.
    fn retire(&self, system: &dyn System) -> Result<(), JournalError> {
        let closed = system.rename(&self.0.join(ACTIVE), &self.0.join(LAST));
        closed.and_then(|()| system.sync(&self.0)).map_err(self.failed("close the journal in"))
    }

    fn failed(&self, step: &'static str) -> impl Fn(io::Error) -> JournalError {
        let path = self.0.clone();
        move |source| JournalError::File { step, path: path.clone(), source }
    }
}

/// The lock of a directory.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    /// Closing the file would not do: a program that another thread is about to start has it open
    /// too, for a moment.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// The active journal of a directory, locked.
#[derive(Debug)]
pub struct Journal<'a> {
    system: &'a dyn System,
    directory: JournalDirectory,
    content: Content,
    _lock: Lock,
}

impl<'a> Journal<'a> {
    /// What it holds.
    #[must_use]
    pub const fn content(&self) -> &Content {
        &self.content
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.0.join(ACTIVE)
    }

    pub(crate) const fn system(&self) -> &'a dyn System {
        self.system
    }

    pub(crate) fn steps(&self) -> &[(Step, Progress)] {
        &self.content.steps
    }

    /// Whether the machine has been restarted since it was begun.
    pub(crate) fn is_from_earlier_boot(&self) -> bool {
        self.content.head.is_from_earlier_boot(self.system)
    }

    /// Adds a step that was not known at the beginning, before it is begun.
    pub(crate) fn add(&mut self, step: Step) -> Result<usize, JournalError> {
        self.append(JournalEntry::Step(step.clone()))?;
        self.system.sync(&self.path()).map_err(self.directory.failed("force the journal to the disk in"))?;
        self.content.steps.push((step, Progress::default()));
        Ok(self.content.steps.len() - 1)
    }

    pub(crate) fn note_begun(&mut self, step: usize) -> Result<(), JournalError> {
        // In memory first: what follows a failure must take the step for begun.
        self.content.steps[step].1.begun = true;
        self.append(JournalEntry::Begun(step))
    }

    pub(crate) fn note_done(&mut self, step: usize, reading: String) -> Result<(), JournalError> {
        self.content.steps[step].1.reading = Some(reading.clone());
        self.append(JournalEntry::Done { step, reading })
    }

    pub(crate) fn note_restored(&mut self, step: usize) -> Result<(), JournalError> {
        self.content.steps[step].1.restored = true;
        self.append(JournalEntry::Restored(step))
    }

    /// Lets the changes stay, though nobody has confirmed them in time.
    ///
    /// # Errors
    /// If that cannot be noted.
    pub fn confirm(&mut self) -> Result<(), JournalError> {
        self.content.confirmed = true;
        self.append(JournalEntry::Confirmed(true))
    }

    /// Makes it the last one: nothing of it is left in force.
    pub(crate) fn close(self) -> Result<(), JournalError> {
        self.directory.retire(self.system)
    }

    fn append(&self, entry: JournalEntry) -> Result<(), JournalError> {
        let text = line(entry, &self.directory.0)?;
        self.system.append(&self.path(), &text).map_err(self.directory.failed("add to the journal in"))
    }
}
