//! The calls of a library that are under way, by worker.
//!
//! Each worker has a cache line of its own: the number of calls it has begun, and the one it is in. Only the worker writes it.

use crate::shared_memory::SharedMemory;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Workers, one more thread of the server's, and [`OTHERS`].
const SLOTS: usize = 1024;
/// The slot of calls that no worker makes.
const OTHERS: usize = SLOTS - 1;
/// After the slots: the exit status of work that is done, plus 1.
const DONE: usize = SLOTS * LINE;
const BYTES: usize = DONE + LINE;
/// Bits of a request's number, below those of the function.
const NUMBER_BITS: u32 = 60;

/// Memory that says which calls are under way.
#[derive(Debug)]
pub struct CallRecord(SharedMemory);

/// A function of a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// What the library does when it is loaded.
    Load,
    /// `warmcore_flow_open`.
    Open,
    /// `warmcore_flow_request`.
    Request,
    /// `warmcore_flow_close`.
    Close,
}

/// A call that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The worker that made it; `None` if it was no worker.
    pub worker: Option<usize>,
    /// What was called.
    pub function: Function,
    /// The number of the request, from 0. Of no meaning for loading and closing.
    pub number: u64,
}

impl Function {
    const ALL: [Self; 4] = [Self::Load, Self::Open, Self::Request, Self::Close];

    /// Its code in the record: 0 is none.
    const fn code(self) -> u64 {
        self as u64 + 1
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "while it was being loaded",
            Self::Open => "in `warmcore_flow_open`",
            Self::Request => "in `warmcore_flow_request`",
            Self::Close => "in `warmcore_flow_close`",
        })
    }
}

impl CallRecord {
    /// A record of this process, which nobody else reads.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn private() -> io::Result<Self> {
        Ok(Self(SharedMemory::anonymous(BYTES)?))
    }

    /// A record that other processes can [open](Self::open), and the file by which they do.
    pub(super) fn shared() -> io::Result<(Self, OwnedFd)> {
        let file = memfd_create("warmcore-calls", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, BYTES as u64)?;
        let memory = SharedMemory::of_descriptor(&file, BYTES, 0)?;
        Ok((Self(memory), file))
    }

    /// The path at which another process of this user finds `file`.
    pub(super) fn path(file: &OwnedFd) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
    }

    /// Opens the record of another process.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(path)?;
        if file.metadata()?.len() != BYTES as u64 {
            return Err(io::Error::other("no record of calls"));
        }
        Ok(Self(SharedMemory::of_descriptor(&file, BYTES, 0)?))
    }

    fn begun(&self, slot: usize) -> &AtomicU64 {
        self.0.u64_at(slot * LINE)
    }

    fn current(&self, slot: usize) -> &AtomicU64 {
        self.0.u64_at(slot * LINE + 8)
    }

    /// Notes `call` until the value is dropped.
    #[inline]
    pub(super) fn during(&self, call: Call) -> UnderWay<'_> {
        let slot = call.worker.map_or(OTHERS, |worker| worker.min(OTHERS));
        // One thread writes a slot, and no other memory depends on it. Calls of no worker are rare and may overwrite each
        // other.
        let begun = self.begun(slot);
        begun.store(begun.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        let current = self.current(slot);
        let number = call.number & ((1 << NUMBER_BITS) - 1);
        current.store(call.function.code() << NUMBER_BITS | number, Ordering::Relaxed);
        UnderWay(current)
    }

    /// The call of a slot, and how many had begun.
    pub(super) fn look(&self, slot: usize) -> (Option<Call>, u64) {
        let packed = self.current(slot).load(Ordering::Relaxed);
        let function = Function::ALL.into_iter().find(|function| function.code() == packed >> NUMBER_BITS);
        let worker = (slot != OTHERS).then_some(slot);
        let call = |function| Call { worker, function, number: packed & ((1 << NUMBER_BITS) - 1) };
        (function.map(call), self.begun(slot).load(Ordering::Relaxed))
    }

    /// All slots.
    pub(super) const fn slots() -> core::ops::Range<usize> {
        0..SLOTS
    }

    /// The calls under way.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        Self::slots().filter_map(|slot| self.look(slot).0).collect()
    }

    /// The work is done, or failed in order, and everything is written: the process may be ended, and its exit status is `code`.
    pub fn done(&self, code: u8) {
        self.0.u64_at(DONE).store(u64::from(code) + 1, Ordering::Release);
    }

    /// The exit status of work that is done.
    pub(super) fn exit_code(&self) -> Option<u8> {
        u8::try_from(self.0.u64_at(DONE).load(Ordering::Acquire).checked_sub(1)?).ok()
    }
}

/// A call that has not returned.
pub(super) struct UnderWay<'a>(&'a AtomicU64);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_seen_by_who_opens_the_record_until_it_returns() {
        let (record, file) = CallRecord::shared().unwrap();
        let other = CallRecord::open(Path::new(&CallRecord::path(&file))).unwrap();
        let call = Call { worker: Some(3), function: Function::Request, number: 77 };
        let load = Call { worker: None, function: Function::Load, number: 0 };
        let under_way = record.during(call);
        let loading = record.during(load);
        assert_eq!(other.calls(), [call, load]);
        drop(under_way);
        assert_eq!(other.calls(), [load]);
        assert_eq!(other.look(3), (None, 1));
        drop(loading);
        assert!(other.calls().is_empty() && other.exit_code().is_none());
        record.done(2);
        assert_eq!(other.exit_code(), Some(2));
    }
}
