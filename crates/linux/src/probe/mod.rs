//! Looks at the machine: procfs and sysfs in, a [`Machine`] out.
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
//! Containers and hypervisors hide parts of the machine. A file that is absent or unreadable, and
//! one in which the kernel says that it does not know, costs detail: the machine comes with a
//! [`Warning`] that names what is missing and what was assumed. A file that holds what no kernel
//! writes is a [`ProbeError`]. What comes out always passes [`Machine::validate`].

mod caches;
mod claims;
pub(crate) mod cpus;
pub(crate) mod limits;
mod model_name;
mod warning;

pub use crate::tree::Malformed;
pub use warning::{Shortfall, Warning};

use crate::capture::Recording;
use crate::fake;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use warmcore_topology::{CpuSet, Machine};
use warning::Warnings;

/// Why a machine could not be made out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProbeError {
    /// A file holds what no kernel writes there.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Neither list of cpus can be read.
    #[error(
        "no cpus found below `{}`: expected a list such as `0-3` in sys/devices/system/cpu/online, \
         or after `Cpus_allowed_list:` in proc/self/status",
        root.display()
    )]
    NoCpus {
        /// Where the tree was looked for.
        root: PathBuf,
    },
    /// The process may run on none of the online cpus.
    #[error("none of the online cpus {online} may be used: affinity mask and cpuset allow {allowed}")]
    NothingUsable {
        /// The online cpus.
        online: CpuSet,
        /// What mask and cpuset have in common; perhaps nothing.
        allowed: CpuSet,
    },
}

/// A machine and what could not be found out about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Probed {
    /// The machine; passes [`Machine::validate`].
    pub machine: Machine,
    /// What was missing and what was assumed instead; at most one of each kind.
    pub warnings: Vec<Warning>,
}

/// Looks at the machine whose `/proc` and `/sys` are below a root.
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
    /// A look at this machine.
    #[must_use]
    pub fn new() -> Self {
        Self { tree: Tree::Directory(PathBuf::from("/")) }
    }

    /// Looks at `directory/proc` and `directory/sys` instead.
    #[must_use]
    pub fn root(self, directory: impl AsRef<Path>) -> Self {
        Self { tree: Tree::Directory(directory.as_ref().to_owned()) }
    }

    /// A look at a machine that was made up.
    #[must_use]
    pub fn fake(tree: fake::Tree) -> Self {
        Self { tree: Tree::Fake(tree) }
    }

    pub(crate) fn recording_into(self, recording: Recording) -> Self {
        Self { tree: Tree::Recorded(Box::new(self.tree), recording) }
    }

    pub(crate) const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The machine: online cpus, their caches, and what of it the process may use. The affinity
    /// mask is that of the process's first thread, so that a pinned worker sees the whole too.
    ///
    /// # Errors
    /// If a file holds what no kernel writes there, or no usable cpu can be found.
    pub fn machine(&self) -> Result<Probed, ProbeError> {
        let tree = self.tree();
        let mut warnings = Warnings::default();
        let online = cpus::online(tree, &mut warnings)?
            .ok_or_else(|| ProbeError::NoCpus { root: tree.root().to_owned() })?;
        let cpus = cpus::read(tree, &online, &mut warnings)?;
        let caches = caches::read(tree, &cpus, &mut warnings)?;
        let limits = limits::read(tree, &online, &mut warnings)?;
        let name = model_name::read(tree, &mut warnings);
        Ok(Probed { machine: Machine { name, cpus, caches, limits }, warnings: warnings.into_list() })
    }
}
