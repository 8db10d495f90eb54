//! Which features of the model a host needs. Those it does not need are compiled away.
//!
//! | features | for |
//! |---|---|
//! | [`Small`] | at most eight processors that share neither pools nor caches, without effects |
//! | [`General`] | any number of processors, global pools and shared caches, without effects |
//! | [`Extended`] | everything |

use crate::completions::{Completions, FEW, Few, Pending};
use crate::packet::host::SimulatedHost;
use core::fmt::Debug;
use warmcore_scenario::{Effects, Organisation};
use warmcore_units::CpuId;

/// A set of model features, chosen when the program is compiled.
pub trait ModelFeatures {
    /// Whether the scenario's [`Effects`] are modelled.
    const EFFECTS: bool;
    /// Whether processors may share pools of threads or memory, or a cache level.
    const SHARING: bool;
    /// The pending completions.
    type Pending: Pending;
    /// A table with one entry per processor.
    type PerCpu<T: Copy + Debug>: PerCpu<T>;
}

/// The features that Salehi 1994 simulates first, on its machine.
#[derive(Clone, Copy, Debug)]
pub struct Small;
/// The rest of the model of Salehi 1994.
#[derive(Clone, Copy, Debug)]
pub struct General;
/// Everything, including what goes beyond Salehi 1994.
#[derive(Clone, Copy, Debug)]
pub struct Extended;

/// Processors that share neither pools nor caches, without effects: a packet's cost depends on who wrote its lines, and
/// on nothing else that others do.
pub(super) struct Private;

impl Private {
    /// Whether `host` has only these.
    pub(super) fn is_enough(host: &SimulatedHost) -> bool {
        let own = Organisation::PerProcessor;
        host.effects == Effects::NONE
            && [host.scheduling.threads, host.scheduling.memory] == [own; 2]
            && host.model.is_private()
    }
}

impl Small {
    /// Whether these features suffice for `host`.
    pub(super) fn is_enough(host: &SimulatedHost) -> bool {
        host.shape.processors as usize <= FEW && Private::is_enough(host)
    }
}

impl General {
    /// Whether these features suffice for `host`.
    pub(super) fn is_enough(host: &SimulatedHost) -> bool {
        host.effects == Effects::NONE
    }
}

impl ModelFeatures for Small {
    const EFFECTS: bool = false;
    const SHARING: bool = false;
    type Pending = Few;
    type PerCpu<T: Copy + Debug> = [T; FEW];
}

impl ModelFeatures for General {
    const EFFECTS: bool = false;
    const SHARING: bool = true;
    type Pending = Completions;
    type PerCpu<T: Copy + Debug> = Vec<T>;
}

impl ModelFeatures for Extended {
    const EFFECTS: bool = true;
    const SHARING: bool = true;
    type Pending = Completions;
    type PerCpu<T: Copy + Debug> = Vec<T>;
}

/// A table with one entry per processor.
pub trait PerCpu<T>: Clone + Debug {
    /// A table that holds `value` for each of `processors`.
    fn filled(processors: u32, value: T) -> Self;
    /// The entry of `cpu`.
    fn at(&mut self, cpu: CpuId) -> &mut T;
}

impl<T: Copy + Debug> PerCpu<T> for [T; FEW] {
    fn filled(_processors: u32, value: T) -> Self {
        [value; FEW]
    }

    #[inline]
    fn at(&mut self, cpu: CpuId) -> &mut T {
        &mut self[cpu.index() % FEW]
    }
}

impl<T: Copy + Debug> PerCpu<T> for Vec<T> {
    fn filled(processors: u32, value: T) -> Self {
        vec![value; processors as usize]
    }

    #[inline]
    fn at(&mut self, cpu: CpuId) -> &mut T {
        &mut self[cpu.index()]
    }
}
