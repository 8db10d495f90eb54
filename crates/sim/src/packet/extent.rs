//! How much of the model a host needs: the rest is compiled away.
//!
//! | extent | for |
//! |---|---|
//! | [`Small`] | at most eight processors that share neither pools nor caches, without effects |
//! | [`General`] | any number of processors, global pools and shared caches, without effects |
//! | [`Extended`] | everything |

use crate::completions::{Completions, FEW, Few, Pending};
use crate::packet::host::Host;
use core::fmt::Debug;
use warmcore_scenario::{Effects, Organisation};
use warmcore_units::CpuId;

/// An extent of the model.
pub trait Extent {
    /// Whether there are [`Effects`].
    const EFFECTS: bool;
    /// Whether processors may share pools of threads or memory, or a cache level.
    const SHARING: bool;
    /// The pending completions.
    type Pending: Pending;
    /// Something of each processor.
    type Each<T: Copy + Debug>: Each<T>;
}

/// The extent that the source simulates first, on its machine.
#[derive(Clone, Copy, Debug)]
pub struct Small;
/// The rest of the source's model.
#[derive(Clone, Copy, Debug)]
pub struct General;
/// Beyond the source.
#[derive(Clone, Copy, Debug)]
pub struct Extended;

impl Small {
    /// Whether it is enough for `host`.
    pub(super) fn is_enough(host: &Host) -> bool {
        let own = Organisation::PerProcessor;
        host.effects == Effects::NONE
            && host.shape.processors as usize <= FEW
            && [host.scheduling.threads, host.scheduling.memory] == [own; 2]
            && host.model.is_private()
    }
}

impl General {
    /// Whether it is enough for `host`.
    pub(super) fn is_enough(host: &Host) -> bool {
        host.effects == Effects::NONE
    }
}

impl Extent for Small {
    const EFFECTS: bool = false;
    const SHARING: bool = false;
    type Pending = Few;
    type Each<T: Copy + Debug> = [T; FEW];
}

impl Extent for General {
    const EFFECTS: bool = false;
    const SHARING: bool = true;
    type Pending = Completions;
    type Each<T: Copy + Debug> = Vec<T>;
}

impl Extent for Extended {
    const EFFECTS: bool = true;
    const SHARING: bool = true;
    type Pending = Completions;
    type Each<T: Copy + Debug> = Vec<T>;
}

/// A table by processor.
pub trait Each<T>: Clone + Debug {
    /// `value` for each of `processors`.
    fn filled(processors: u32, value: T) -> Self;
    /// That of `cpu`.
    fn at(&mut self, cpu: CpuId) -> &mut T;
}

impl<T: Copy + Debug> Each<T> for [T; FEW] {
    fn filled(_processors: u32, value: T) -> Self {
        [value; FEW]
    }

    #[inline]
    fn at(&mut self, cpu: CpuId) -> &mut T {
        &mut self[cpu.index() % FEW]
    }
}

impl<T: Copy + Debug> Each<T> for Vec<T> {
    fn filled(processors: u32, value: T) -> Self {
        vec![value; processors as usize]
    }

    #[inline]
    fn at(&mut self, cpu: CpuId) -> &mut T {
        &mut self[cpu.index()]
    }
}
