//! Reads and sets which cpu this thread runs on and which cpus it may run on.

use core::marker::PhantomData;
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{CpuSet as Mask, sched_getaffinity, sched_getcpu, sched_setaffinity};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Why a thread could not be placed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AffinityError {
    /// The kernel does not let this thread run on any of the wanted cpus.
    #[error(
        "cannot run on cpu {wanted}: {source}; expected cpus that are online and in this process's cpuset"
    )]
    Refused {
        /// The cpus that were asked for.
        wanted: CpuSet,
        /// The error of the kernel.
        source: Errno,
    },
    /// The cpu number does not fit into an affinity mask.
    #[error("{cpu} does not fit into an affinity mask: expected a number below {}", Mask::MAX_CPU)]
    TooHigh {
        /// The number that was asked for.
        cpu: CpuId,
    },
    /// The current mask cannot be read.
    #[error("cannot read the affinity mask: {source}; expected a machine of at most {} cpus", Mask::MAX_CPU)]
    Unreadable {
        /// The error of the kernel.
        source: Errno,
    },
}

/// Returns the cpu this thread runs on. Unless pinned, the thread may already be on another cpu when this
/// returns.
#[must_use]
pub fn current_cpu() -> CpuId {
    CpuId::from(sched_getcpu())
}

/// The cpus this thread may run on.
///
/// # Errors
/// If the kernel's mask is larger than ours ([`AffinityError::Unreadable`]).
pub fn mask() -> Result<CpuSet, AffinityError> {
    current_mask().map(|mask| cpus_of(&mask))
}

/// Lets this thread run on `cpus` only. It is on one of them when this returns.
///
/// # Errors
/// If one of them is out of range, or the kernel allows none of them.
pub fn set_mask(cpus: &CpuSet) -> Result<(), AffinityError> {
    let mask = mask_with(cpus).map_err(|cpu| AffinityError::TooHigh { cpu })?;
    sched_setaffinity(None, &mask).map_err(|source| AffinityError::Refused { wanted: cpus.clone(), source })
}

/// Converts a thread number as shown in `/proc` into a thread id. Number 0 is no thread.
pub(crate) fn thread_id(thread: u32) -> Result<Pid, Errno> {
    i32::try_from(thread).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)
}

/// The cpus another thread may run on.
pub(crate) fn mask_of(thread: Pid) -> Result<CpuSet, Errno> {
    sched_getaffinity(Some(thread)).map(|mask| cpus_of(&mask))
}

/// Lets another thread run on `cpus` only.
pub(crate) fn set_mask_of(thread: Pid, cpus: &CpuSet) -> Result<(), Errno> {
    sched_setaffinity(Some(thread), &mask_with(cpus).map_err(|_| Errno::INVAL)?)
}

fn cpus_of(mask: &Mask) -> CpuSet {
    (0..Mask::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).map(CpuId::from).collect()
}

/// Returns the mask of `cpus`, or the first cpu that does not fit into a mask.
fn mask_with(cpus: &CpuSet) -> Result<Mask, CpuId> {
    let mut mask = Mask::new();
    for cpu in cpus.iter() {
        if cpu.index() >= Mask::MAX_CPU {
            return Err(cpu);
        }
        mask.set(cpu.index());
    }
    Ok(mask)
}

fn current_mask() -> Result<Mask, AffinityError> {
    sched_getaffinity(None).map_err(|source| AffinityError::Unreadable { source })
}

/// Keeps this thread on one cpu until dropped, and then restores the previous mask. Several guards of
/// one thread must be dropped in reverse order, as nested scopes do.
#[derive(Debug)]
#[must_use = "the thread is released as soon as the guard is dropped"]
pub struct Pinned {
    cpu: CpuId,
    former: Mask,
    /// A guard belongs to the thread that created it and must be dropped there.
    not_send: PhantomData<*const ()>,
}

/// Keeps this thread on `cpu` until the guard is dropped. It is there when this returns.
///
/// # Errors
/// If there is no such cpu, or this process may not use it.
///
/// ```
/// let usable = warmcore_linux::affinity::mask()?;
/// let cpu = usable.first().expect("a thread may run somewhere");
/// let pinned = warmcore_linux::pin_to(cpu)?;
/// assert_eq!(warmcore_linux::current_cpu(), cpu);
/// drop(pinned);
/// assert_eq!(warmcore_linux::affinity::mask()?, usable);
/// # Ok::<(), warmcore_linux::AffinityError>(())
/// ```
pub fn pin_to(cpu: CpuId) -> Result<Pinned, AffinityError> {
    let former = current_mask()?;
    set_mask(&CpuSet::from_iter([cpu]))?;
    Ok(Pinned { cpu, former, not_send: PhantomData })
}

impl Pinned {
    /// The cpu the thread is kept on.
    #[must_use]
    pub const fn cpu(&self) -> CpuId {
        self.cpu
    }
}

impl Drop for Pinned {
    /// Restores the former mask. Should the kernel refuse it (its cpus went offline meanwhile),
    /// the thread stays where it is.
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.former);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_on_its_cpu_until_the_guard_is_dropped() {
        let before = mask().unwrap();
        for cpu in before.iter() {
            let outer = pin_to(cpu).unwrap();
            assert_eq!((current_cpu(), mask().unwrap()), (cpu, CpuSet::from_iter([cpu])));
            let inner = pin_to(before.first().unwrap()).unwrap();
            assert_eq!(current_cpu(), inner.cpu());
            drop(inner);
            assert_eq!(mask().unwrap(), CpuSet::from_iter([outer.cpu()]));
        }
        assert_eq!(mask().unwrap(), before);
    }

    #[test]
    fn an_unusable_cpu_is_refused_and_the_mask_is_unchanged() {
        let before = mask().unwrap();
        let absent = CpuId::from(Mask::MAX_CPU - 1);
        assert!(matches!(pin_to(absent), Err(AffinityError::Refused { source: Errno::INVAL, .. })));
        let beyond = CpuId::from(Mask::MAX_CPU);
        assert_eq!(pin_to(beyond).unwrap_err(), AffinityError::TooHigh { cpu: beyond });
        assert!(set_mask(&CpuSet::default()).is_err());
        assert_eq!(mask().unwrap(), before);
    }
}
