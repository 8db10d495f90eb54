//! The journal of a plan: the changes to make, and how far applying them has got.
//!
//! ```text
//! entry = { head = { schema = 1, token = "…", root = "/", boot = "…", … } }
//! entry = { step = { line = 0, set = { … }, original = ["0", ""] } }
//! entry = { begun = 0 }
//! entry = { done = { step = 0, reading = ["3", ""] } }
//! entry = { restored = 0 }
//! entry = { taken_back = ["RFS flows of the machine: somebody else has set it to 64 since"] }
//! ```
//!
//! A journal with its head and all steps is written to a temporary file, synced to disk, and renamed,
//! before the first value is changed. Later entries are appended: a step is *begun* before its value is
//! written, and *done*, with the value read back, afterwards. So if a value differs from the one read
//! back, somebody else has changed it. This cannot be known only for a step that was begun but not
//! done, because the process was killed in between.
//!
//! A directory has at most one *active* journal; a closed one is kept as the last one, and one that was damaged
//! and given up under a name of its own. The lock is a
//! separate file, locked while values may change, and released when its process ends.

use super::entries::{Boot, Content, Head, JournalEntry, StepProgress, line, token};
use super::journal_error::JournalError;
use super::namespaces::ForeignInterfaces;
use super::parse::{self, Damage};
use super::step::{Step, StepKind};
use super::system::{System, is_absent};
use crate::regular;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, io};
use warmcore_files::LONGEST_JOURNAL;

const ACTIVE: &str = "active.journal";
const LAST: &str = "last.journal";
const UNFINISHED: &str = "active.journal.unfinished";
const LOCK: &str = "lock";

/// The directory of journals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalDirectory(PathBuf);

impl JournalDirectory {
    /// The directory `path`, which is created with the first journal.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// The default directory: `/var/lib/warmcore` for root, and for other users `warmcore` in the state
    /// directory (XDG Base Directory Specification); `None` if the environment has no home directory.
    #[must_use]
    pub fn standard() -> Option<Self> {
        if rustix::process::geteuid().is_root() {
            return Some(Self(PathBuf::from("/var/lib/warmcore")));
        }
        let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
        Some(Self(state.join("warmcore")))
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether the directory holds files of journals, were it only those of one that was never finished.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn is_used(&self) -> io::Result<bool> {
        let is_ours = |name: &OsStr| {
            Path::new(name).extension() == Some("journal".as_ref()) || name == UNFINISHED || name == LOCK
        };
        Ok(fs::read_dir(&self.0)?.flatten().any(|entry| is_ours(&entry.file_name())))
    }

    /// Reads the active journal, without the lines that cannot be read; `None` if there is none.
    ///
    /// # Errors
    /// If the file or its first line cannot be read.
    pub fn active(&self) -> Result<Option<Content>, JournalError> {
        let path = self.0.join(ACTIVE);
        self.bytes()?.map(|bytes| parse::content(&bytes, &path)).transpose()
    }

    /// Reads the head of the active journal; `None` if there is none.
    ///
    /// # Errors
    /// As [`Self::active`].
    pub fn head(&self) -> Result<Option<Head>, JournalError> {
        let path = self.0.join(ACTIVE);
        self.bytes()?.map(|bytes| parse::head(&bytes, &path)).transpose()
    }

    fn bytes(&self) -> Result<Option<Vec<u8>>, JournalError> {
        let path = self.0.join(ACTIVE);
        match regular::read(&path, LONGEST_JOURNAL) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(source) => Err(JournalError::File { step: "read", path, source }),
        }
    }

    /// Fails if a plan is applied, unless the machine was rebooted since.
    ///
    /// # Errors
    /// If a plan is applied, or the journal cannot be read.
    pub fn require_none_applied(&self, system: &dyn System) -> Result<(), JournalError> {
        match self.head()? {
            None => return Ok(()),
            Some(head) if head.is_from_earlier_boot(system) => return Ok(()),
            Some(_) => {}
        }
        let path = self.0.join(ACTIVE);
        match self.active()?.and_then(|earlier| earlier.damage.into_iter().next()) {
            Some(Damage { line, problem }) => Err(JournalError::Damaged { path, line, problem }),
            None => Err(JournalError::Active { path }),
        }
    }

    /// Creates the journal of `steps`. Must be called before any value is changed.
    ///
    /// # Errors
    /// If a journal is active, the directory is in use, or the journal cannot be written to disk.
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
        if self.head()?.is_some() {
            self.retire(system)?;
        }
        let head = Head::new(system, steps.len(), awaits_confirmation)?;
        let entries = std::iter::once(JournalEntry::Head(head.clone()))
            .chain(steps.iter().cloned().map(JournalEntry::Step));
        let text = entries.map(|entry| line(entry, &self.0)).collect::<Result<String, _>>()?;
        let (unfinished, active) = (self.0.join(UNFINISHED), self.0.join(ACTIVE));
        system.create(&unfinished, &text).map_err(self.failed("write the journal in"))?;
        system.sync(&unfinished).map_err(self.failed("force the journal to the disk in"))?;
        system.rename(&unfinished, &active).map_err(self.failed("name the journal in"))?;
        system.sync(&self.0).map_err(self.failed("force to the disk"))?;
        let content = Content::new(head, steps);
        Ok(Journal { system, directory: self.clone(), content, namespace_gone: false, _lock: lock })
    }

    /// Opens the active journal, to undo or confirm its changes; `None` if there is none. With `wait`,
    /// waits while another process uses it.
    ///
    /// # Errors
    /// If it cannot be read, is in use, or its values cannot be reached from this process.
    pub fn open<'a>(&self, system: &'a dyn System, wait: bool) -> Result<Option<Journal<'a>>, JournalError> {
        self.open_if(system, wait, false)
    }

    /// Opens it as [`Self::open`] does without waiting, even if the network namespace of its changes is gone.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_by_force<'a>(&self, system: &'a dyn System) -> Result<Option<Journal<'a>>, JournalError> {
        self.open_if(system, false, true)
    }

    fn open_if<'a>(
        &self,
        system: &'a dyn System,
        wait: bool,
        force: bool,
    ) -> Result<Option<Journal<'a>>, JournalError> {
        if !self.0.exists() {
            return Ok(None);
        }
        let lock = self.lock(wait)?;
        let (path, Some(bytes)) = (self.0.join(ACTIVE), self.bytes()?) else { return Ok(None) };
        let head = parse::head(&bytes, &path)?;
        let namespace_gone = head.require_here(system, &path, force)?;
        require_root(system, &path)?;
        let content = match head.boot(system) {
            // Whatever the rest says, nothing of it is in force.
            Boot::Earlier => Content::new(head, Vec::new()),
            Boot::Same | Boot::Unknown => {
                let whole = parse::complete(&bytes).len() as u64;
                system.cut(&path, whole).map_err(self.failed("cut the unfinished end off in"))?;
                parse::content(&bytes, &path)?
            }
        };
        let is_of_interfaces = content.steps.iter().any(|(step, _)| step.set.interface().is_some());
        if let Some(foreign) = ForeignInterfaces::find(is_of_interfaces, system) {
            return Err(JournalError::ForeignInterfaces { path, foreign });
        }
        Ok(Some(Journal { system, directory: self.clone(), content, namespace_gone, _lock: lock }))
    }

    fn lock(&self, wait: bool) -> Result<Lock, JournalError> {
        let path = self.0.join(LOCK);
        let opened = regular::open(&path, OFlags::WRONLY | OFlags::CREATE);
        let file = opened.map_err(|source| JournalError::File { step: "lock", path, source })?;
        let locked = if wait { file.lock().map_err(TryLockError::Error) } else { file.try_lock() };
        match locked {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(JournalError::InUse { path: self.0.clone() }),
            Err(TryLockError::Error(source)) => Err(self.failed("lock")(source)),
        }
    }

    /// Closes the active journal: renames it to the last one.
    fn retire(&self, system: &dyn System) -> Result<(), JournalError> {
        let closed = system.rename(&self.0.join(ACTIVE), &self.0.join(LAST));
        closed.and_then(|()| system.sync(&self.0)).map_err(self.failed("close the journal in"))
    }

    /// Moves an active journal that cannot be read out of the way, and returns its new path; `None` if there is
    /// none.
    ///
    /// # Errors
    /// If the directory is in use or cannot be changed.
    pub fn set_aside(&self, system: &dyn System) -> Result<Option<PathBuf>, JournalError> {
        let _lock = self.lock(false)?;
        match self.move_aside(system) {
            Err(JournalError::File { source, .. }) if is_absent(&source) => Ok(None),
            moved => moved.map(Some),
        }
    }

    fn move_aside(&self, system: &dyn System) -> Result<PathBuf, JournalError> {
        let path = self.0.join(format!("damaged-{}.journal", token()));
        let moved = system.rename(&self.0.join(ACTIVE), &path);
        moved.and_then(|()| system.sync(&self.0)).map_err(self.failed("set the journal aside in"))?;
        Ok(path)
    }

    fn failed(&self, step: &'static str) -> impl Fn(io::Error) -> JournalError {
        let path = self.0.clone();
        move |source| JournalError::File { step, path: path.clone(), source }
    }
}

/// Fails if the root is no folder with files any more: every setting would pass for one that is gone, and the journal at
/// `path` would be closed.
fn require_root(system: &dyn System, path: &Path) -> Result<(), JournalError> {
    let problem = match system.entries("") {
        Ok(names) if names.is_empty() => "is empty".to_owned(),
        // A mount point whose disk is not mounted, for instance.
        Ok(names) if !names.iter().any(|name| name == "proc" || name == "sys") => {
            "has neither `proc` nor `sys`".to_owned()
        }
        Ok(_) => return Ok(()),
        Err(error) => format!("cannot be listed ({error})"),
    };
    Err(JournalError::RootGone { path: path.to_owned(), root: system.root().to_owned(), problem })
}

/// The lock of a directory.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    /// Unlocks explicitly. Closing the file is not enough: a child process that another thread is starting
    /// may share the open file for a moment.
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
    /// Whether the network namespace of the changes is gone, and its interfaces with it.
    namespace_gone: bool,
    _lock: Lock,
}

impl<'a> Journal<'a> {
    /// The contents of the journal.
    #[must_use]
    pub const fn content(&self) -> &Content {
        &self.content
    }

    /// The path of the journal.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.0.join(ACTIVE)
    }

    pub(crate) const fn system(&self) -> &'a dyn System {
        self.system
    }

    pub(crate) fn steps(&self) -> &[(Step, StepProgress)] {
        &self.content.steps
    }

    /// The steps for what the line `line` of the plan resets when it changes channels.
    pub(crate) fn resets_of(&self, line: usize) -> Vec<usize> {
        let is_reset = |step: &Step| step.kind == StepKind::Reset && step.line == line;
        let steps = self.steps().iter().enumerate();
        steps.filter(|(_, (step, _))| is_reset(step)).map(|(index, _)| index).collect()
    }

    /// The error that the root is not the one whose files were changed.
    pub(crate) fn root_gone(&self, problem: &str) -> JournalError {
        let root = self.system.root().to_owned();
        JournalError::RootGone { path: self.path(), root, problem: problem.to_owned() }
    }

    /// Whether the network namespace of the changes is gone.
    pub(super) const fn is_namespace_gone(&self) -> bool {
        self.namespace_gone
    }

    /// Whether the machine has been rebooted since the journal was created.
    pub(crate) fn boot(&self) -> Boot {
        self.content.head.boot(self.system)
    }

    /// Adds a step that was not known when the journal was created. Must be called before the step begins.
    pub(crate) fn add(&mut self, step: Step) -> Result<usize, JournalError> {
        self.append(JournalEntry::Step(step.clone()))?;
        self.system.sync(&self.path()).map_err(self.directory.failed("force the journal to the disk in"))?;
        self.content.steps.push((step, StepProgress::default()));
        Ok(self.content.steps.len() - 1)
    }

    pub(crate) fn note_begun(&mut self, step: usize) -> Result<(), JournalError> {
        // In memory first: after a failure to write, the step must count as begun.
        self.content.steps[step].1.begun = true;
        self.append(JournalEntry::Begun(step))
    }

    pub(crate) fn note_done(&mut self, step: usize, reading: String) -> Result<(), JournalError> {
        self.content.steps[step].1.reading = Some(reading.clone());
        self.append(JournalEntry::Done { step, reading })
    }

    pub(crate) fn note_restored(&mut self, step: usize) -> Result<(), JournalError> {
        self.content.steps[step].1.restored = true;
        if !self.content.damage.is_empty() {
            // The steps of a damaged journal have other numbers than in the file.
            return Ok(());
        }
        self.append(JournalEntry::Restored(step))
    }

    /// Notes that an undo has ended, and what it has left open.
    pub(crate) fn note_taken_back(&mut self, left: Vec<String>) -> Result<(), JournalError> {
        if self.content.taken_back.as_ref() == Some(&left) {
            return Ok(());
        }
        self.content.taken_back = Some(left.clone());
        self.append(JournalEntry::TakenBack(left))
    }

    /// Fails if an undo, such as the one at the end of the time limit, has taken the changes back and left the journal open.
    ///
    /// # Errors
    /// What it has left open.
    pub fn require_in_force(&self) -> Result<(), JournalError> {
        let is_restored = self.steps().iter().any(|(_, progress)| progress.restored);
        match &self.content.taken_back {
            None if !is_restored => Ok(()),
            left => {
                Err(JournalError::TakenBack { path: self.path(), left: left.clone().unwrap_or_default() })
            }
        }
    }

    /// Confirms the changes, so that they are not undone after the time limit.
    ///
    /// # Errors
    /// If they have been taken back, or the journal cannot be written.
    pub fn confirm(&mut self) -> Result<(), JournalError> {
        self.require_in_force()?;
        self.content.confirmed = true;
        self.append(JournalEntry::Confirmed(true))
    }

    /// Closes the journal, when none of its changes is in force.
    pub(crate) fn close(self) -> Result<(), JournalError> {
        self.directory.retire(self.system)
    }

    /// Moves a damaged journal out of the way, and returns its new path.
    pub(crate) fn set_aside(self) -> Result<PathBuf, JournalError> {
        self.directory.move_aside(self.system)
    }

    fn append(&self, entry: JournalEntry) -> Result<(), JournalError> {
        let text = line(entry, &self.directory.0)?;
        self.system.append(&self.path(), &text).map_err(self.directory.failed("add to the journal in"))
    }
}
