//! Fault injection for tuning: makes a chosen change fail, or kills the process at it. Reads are counted.

use crate::ethtool::DriverSetting;
use crate::tuning::{Disk, System};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use warmcore_topology::CpuSet;

/// The fault to inject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InjectedFault {
    /// The change fails.
    Refuse,
    /// Only half of a write to the journal is done, then it fails. Other writes fail as a whole,
    /// because a kernel takes a value in one piece.
    Tear,
    /// The process is killed before the change.
    Kill,
    /// The process is killed in the middle of a write to the journal.
    KillTorn,
}

/// A [`System`] that injects a fault at change number `at`, counted from 0, and at all later changes
/// if `permanent`.
#[derive(Debug)]
pub struct FaultInjector {
    disk: Disk,
    at: usize,
    permanent: bool,
    fault: InjectedFault,
    changes: Cell<usize>,
    reads: RefCell<BTreeMap<String, usize>>,
}

impl FaultInjector {
    /// Injects `fault` once, at change number `at` to `disk`.
    #[must_use]
    pub fn once(disk: Disk, at: usize, fault: InjectedFault) -> Self {
        Self { disk, at, permanent: false, fault, changes: Cell::new(0), reads: RefCell::default() }
    }

    /// Injects `fault` at change number `at` and at every later change.
    #[must_use]
    pub fn from_then_on(disk: Disk, at: usize, fault: InjectedFault) -> Self {
        Self { permanent: true, ..Self::once(disk, at, fault) }
    }

    /// The number of changes tried so far.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.changes.get()
    }

    /// How often each file was read, and each directory listed, so far.
    #[must_use]
    pub fn reads(&self) -> BTreeMap<String, usize> {
        self.reads.borrow().clone()
    }

    fn count_read(&self, path: &str) {
        *self.reads.borrow_mut().entry(path.to_owned()).or_default() += 1;
    }

    fn change(&self, full: impl Fn() -> io::Result<()>, half: impl Fn() -> io::Result<()>) -> io::Result<()> {
        let number = self.changes.replace(self.changes.get() + 1);
        if number != self.at && !(self.permanent && number > self.at) {
            return full();
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
        self.count_read(file);
        self.disk.read(file)
    }

    fn entries(&self, directory: &str) -> io::Result<Vec<String>> {
        self.count_read(directory);
        self.disk.entries(directory)
    }

    fn link(&self, file: &str) -> io::Result<PathBuf> {
        self.disk.link(file)
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        self.change(|| self.disk.write(file, text), nothing)
    }

    fn remove_left(&self, file: &str) -> io::Result<()> {
        self.disk.remove_left(file)
    }

    fn mask(&self, process: u32, thread: u32) -> io::Result<CpuSet> {
        self.disk.mask(process, thread)
    }

    fn set_mask(&self, process: u32, thread: u32, cpus: &CpuSet) -> io::Result<()> {
        self.change(|| self.disk.set_mask(process, thread, cpus), nothing)
    }

    fn driver_setting(&self, interface: &str, setting: DriverSetting) -> io::Result<String> {
        self.disk.driver_setting(interface, setting)
    }

    fn set_driver_setting(&self, interface: &str, setting: DriverSetting, text: &str) -> io::Result<()> {
        self.change(|| self.disk.set_driver_setting(interface, setting, text), nothing)
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
