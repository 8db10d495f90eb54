//! Reads a [`Machine`] from procfs and sysfs.
//!
//! ```no_run
//! let probed = warmcore_linux::Probe::new().machine()?;
//! println!("{} with {} usable cores", probed.machine.name, probed.machine.usable_cores().len());
//! for warning in &probed.warnings {
//!     eprintln!("{warning}");
//! }
//! # Ok::<(), warmcore_linux::ProbeError>(())
//! ```
//!
//! Containers and hypervisors hide parts of the machine. If a file is absent or unreadable, or the
//! kernel writes that a value is unknown, a [`Warning`] says what is missing and what was assumed
//! instead. A malformed file is a [`ProbeError`]. A probed machine always passes
//! [`Machine::validate`].

mod caches;
mod claims;
pub(crate) mod cpus;
pub(crate) mod limits;
mod model_name;
mod warning;

pub use crate::tree::Malformed;
pub use warning::{Shortfall, Warning};

use crate::capture::{Recording, UNFINISHED};
use crate::fake;
use crate::inventory::EARLIER;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use warmcore_topology::{CpuSet, Machine};
use warning::Warnings;

/// Why a machine could not be probed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProbeError {
    /// A file is malformed: no kernel writes such contents.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// No file can be opened beneath the root.
    #[error("cannot read below `{}`: {problem}", root.display())]
    Unusable {
        /// The root.
        root: PathBuf,
        /// The error of the system, and what is needed.
        problem: String,
    },
    /// Neither list of cpus can be read.
    #[error(
        "no cpus found below `{}`: expected a list such as `0-3` in sys/devices/system/cpu/online, \
         or after `Cpus_allowed_list:` in proc/self/status",
        root.display()
    )]
    NoCpus {
        /// The root below which files were read.
        root: PathBuf,
    },
    /// What should hold the first look of a capture does not.
    #[error(
        "`{}` is not the first look of a capture: {problem}", folder.display()
    )]
    NoFirstLook {
        /// The folder of the first look.
        folder: PathBuf,
        /// What it is, and what is expected.
        problem: String,
    },
    /// A capture is not whole.
    #[error(
        "`{}` is not a whole capture: it was still being written (`{}` is there), as when a disk is full: take it again",
        root.display(), crate::capture::UNFINISHED
    )]
    Unfinished {
        /// The root.
        root: PathBuf,
    },
    /// Two looks are not at one host.
    #[error(
        "the first look, in `{}`, is not at the host of the second: its {what} is {}, and that of the second is {}: \
         expected both halves of one capture",
        EARLIER, earlier.escape_debug(), later.escape_debug()
    )]
    AnotherHost {
        /// What differs.
        what: &'static str,
        /// What the first look saw.
        earlier: String,
        /// What the second one saw.
        later: String,
    },
    /// The process may run on none of the online cpus.
    #[error("none of the online cpus {online} may be used: affinity mask and cpuset allow {allowed}")]
    NothingUsable {
        /// The online cpus.
        online: CpuSet,
        /// The cpus in both mask and cpuset; may be empty.
        allowed: CpuSet,
    },
}

/// A machine, with warnings about what could not be found out.
#[derive(Clone, PartialEq, Debug)]
pub struct Probed {
    /// The machine; passes [`Machine::validate`].
    pub machine: Machine,
    /// What was missing and what was assumed instead; at most one warning of each kind.
    pub warnings: Vec<Warning>,
}

/// Reads a machine from the `/proc` and `/sys` below a root directory.
#[derive(Clone, Debug)]
pub struct Probe {
    tree: Tree,
}

impl Default for Probe {
    fn default() -> Self {
        Self::new()
    }
}

impl Probe {
    /// Creates a probe of this machine.
    #[must_use]
    pub fn new() -> Self {
        Self { tree: Tree::directory("/") }
    }

    /// Reads `directory/proc` and `directory/sys` instead. Links in it do not lead out of it.
    #[must_use]
    pub fn root(self, directory: impl AsRef<Path>) -> Self {
        Self { tree: Tree::directory(directory.as_ref()) }
    }

    /// Creates a probe of the first look in the capture of this probe; `None` if it has one look only.
    ///
    /// # Errors
    /// If what has its name is no folder with a look: neither a link nor a file is.
    pub fn first_look(&self) -> Result<Option<Self>, ProbeError> {
        let refused =
            |problem: String| ProbeError::NoFirstLook { folder: self.tree.root().join(EARLIER), problem };
        let Some(tree) = self.tree.within(EARLIER).map_err(|error| refused(error.to_string()))? else {
            return Ok(None);
        };
        if !["proc", "sys"].iter().any(|name| tree.has(name)) {
            return Err(refused("it has neither a `proc` nor a `sys` folder".to_owned()));
        }
        Ok(Some(Self { tree }))
    }

    /// Creates a probe of a fake machine.
    #[must_use]
    pub fn fake(tree: fake::Tree) -> Self {
        Self { tree: Tree::Fake(tree) }
    }

    /// Returns this probe with a recording of everything it reads from now on.
    #[must_use]
    pub fn recorded(self) -> (Self, Recording) {
        let recording = Recording::default();
        (Self { tree: Tree::Recorded(Box::new(self.tree), recording.clone()) }, recording)
    }

    pub(crate) const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Reads the machine: online cpus, their caches, and the limits of the process. The affinity mask is
    /// that of the process's first thread, so that a pinned worker also sees all usable cpus.
    ///
    /// # Errors
    /// If a file is malformed, or no usable cpu can be found.
    pub fn machine(&self) -> Result<Probed, ProbeError> {
        let tree = self.tree();
        self.require_finished()?;
        let mut warnings = Warnings::default();
        let online = self.online_with(&mut warnings)?;
        let cpus = cpus::read(tree, &online, &mut warnings)?;
        let caches = caches::read(tree, &cpus, &mut warnings)?;
        let limits = limits::read(tree, &online, &mut warnings)?;
        let name = model_name::read(tree, &mut warnings);
        Ok(Probed { machine: Machine { name, cpus, caches, limits }, warnings: warnings.into_list() })
    }

    /// Fails on a capture that was never finished.
    pub(crate) fn require_finished(&self) -> Result<(), ProbeError> {
        let tree = self.tree();
        match !tree.is_live() && tree.has(UNFINISHED) {
            true => Err(ProbeError::Unfinished { root: tree.root().to_owned() }),
            false => Ok(()),
        }
    }

    /// Reads which cpus are online, whether this process may run there or not.
    ///
    /// # Errors
    /// If a file is malformed, or no cpu can be found.
    pub fn online(&self) -> Result<CpuSet, ProbeError> {
        self.online_with(&mut Warnings::default())
    }

    fn online_with(&self, warnings: &mut Warnings) -> Result<CpuSet, ProbeError> {
        let tree = self.tree();
        tree.require_usable().map_err(|error| ProbeError::Unusable {
            root: tree.root().to_owned(),
            problem: error.to_string(),
        })?;
        cpus::online(tree, warnings)?.ok_or_else(|| ProbeError::NoCpus { root: tree.root().to_owned() })
    }
}
