//! A door to files and threads that is jammed: any single change through it is refused, or the process
//! ends at it.

use crate::tuning::{Disk, System};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use warmcore_topology::CpuSet;

/// What happens at one of the changes, or at it and all after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InjectedFault {
    /// It is refused.
    Refuse,
    /// Half of what is added to the journal gets there, then it is refused. What is no journal is
    /// refused whole: a kernel takes a value in one piece.
    Tear,
    /// The process is killed before it, and so after the one before.
    Kill,
    /// The process is killed in the middle of what is added to the journal.
    KillTorn,
}

/// A door that is jammed at the change number `at`, from 0; and at all later ones, if `for_good`.
#[derive(Debug)]
pub struct FaultInjector {
    disk: Disk,
    at: usize,
    for_good: bool,
    fault: InjectedFault,
    changes: Cell<usize>,
}

impl FaultInjector {
    /// A door to `disk` at which `fault` happens once.
    #[must_use]
    pub fn once(disk: Disk, at: usize, fault: InjectedFault) -> Self {
        Self { disk, at, for_good: false, fault, changes: Cell::new(0) }
    }

    /// The same from then on.
    #[must_use]
    pub fn from_then_on(disk: Disk, at: usize, fault: InjectedFault) -> Self {
        Self { for_good: true, ..Self::once(disk, at, fault) }
    }

    /// How many changes were tried.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.changes.get()
    }

    fn change(
        &self,
        whole: impl Fn() -> io::Result<()>,
        half: impl Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        let number = self.changes.replace(self.changes.get() + 1);
        if number != self.at && !(self.for_good && number > self.at) {
            return whole();
        }
        match self.fault {
            InjectedFault::Refuse => {}
            InjectedFault::Tear => half()?,
            InjectedFault::Kill => die(),
            InjectedFault::KillTorn => {
                half()?;
                die();
            }
        }
        Err(Errno::IO.into())
    }
}

fn die() {
    kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
}

fn nothing() -> io::Result<()> {
    Ok(())
}

impl System for FaultInjector {
    fn root(&self) -> &Path {
        self.disk.root()
    }

    fn read(&self, file: &str) -> io::Result<String> {
        self.disk.read(file)
    }

    fn entries(&self, directory: &str) -> io::Result<Vec<String>> {
        self.disk.entries(directory)
    }

    fn link(&self, file: &str) -> io::Result<PathBuf> {
        self.disk.link(file)
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        self.change(|| self.disk.write(file, text), nothing)
    }

    fn mask(&self, process: u32, thread: u32) -> io::Result<CpuSet> {
        self.disk.mask(process, thread)
    }

    fn set_mask(&self, process: u32, thread: u32, cpus: &CpuSet) -> io::Result<()> {
        self.change(|| self.disk.set_mask(process, thread, cpus), nothing)
    }

    fn create(&self, path: &Path, text: &str) -> io::Result<()> {
        let half = || self.disk.create(path, &text[..text.len() / 2]);
        self.change(|| self.disk.create(path, text), half)
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        let half = || self.disk.append(path, &text[..text.len() / 2]);
        self.change(|| self.disk.append(path, text), half)
    }

    fn cut(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.change(|| self.disk.cut(path, bytes), nothing)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.change(|| self.disk.sync(path), nothing)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|| self.disk.rename(from, to), nothing)
    }
}
