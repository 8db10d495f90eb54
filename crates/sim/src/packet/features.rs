//! Which features of the model a host needs. Those it does not need are compiled away.
//!
//! | features | for |
//! |---|---|
//! | [`Small`] | at most eight processors that share neither pools nor caches, without effects |
//! | [`General`] | any number of processors, global pools and shared caches, without effects |
//! | [`Extended`] | everything |
//! | [`Own`] | everything, with a cost model and a service distribution of one's own |

use crate::completions::{Completions, FEW, Few, Pending};
use crate::packet::host::SimulatedHost;
use crate::packet::service::ServiceDistribution;
use core::fmt::Debug;
use core::marker::PhantomData;
use warmcore_costs::{CostModel, ExecutionModel};
use warmcore_scenario::Organisation;
use warmcore_units::CpuId;
use warmcore_workload::TimeFactors;

/// A set of model features, chosen when the program is compiled.
pub trait ModelFeatures {
    /// Whether the scenario's [`Effects`](warmcore_scenario::Effects) are modelled, and its
    /// [`Extensions`](warmcore_scenario::Extensions).
    const EFFECTS: bool;
    /// Whether processors may share pools of threads or memory, or a cache level.
    const SHARING: bool;
    /// What processing a packet costs.
    type Costs: CostModel;
    /// How service times vary around that. Only with [`EFFECTS`](Self::EFFECTS).
    type Service: ServiceDistribution;
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
/// Everything, with costs `C` and service times `S` of one's own.
#[derive(Clone, Copy, Debug)]
pub struct Own<C, S>(PhantomData<(C, S)>);

/// Processors that share neither pools nor caches, without effects: a packet's cost depends on who wrote its lines, and
/// on nothing else that others do.
pub(super) struct Private;

impl Private {
    /// Whether `host` has only these.
    pub(super) fn is_enough(host: &SimulatedHost) -> bool {
        let own = Organisation::PerProcessor;
        host.is_plain()
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
        host.is_plain()
    }
}

impl ModelFeatures for Small {
    const EFFECTS: bool = false;
    const SHARING: bool = false;
    type Costs = ExecutionModel;
    type Service = TimeFactors;
    type Pending = Few;
    type PerCpu<T: Copy + Debug> = [T; FEW];
}

impl ModelFeatures for General {
    const EFFECTS: bool = false;
    const SHARING: bool = true;
    type Costs = ExecutionModel;
    type Service = TimeFactors;
    type Pending = Completions;
    type PerCpu<T: Copy + Debug> = Vec<T>;
}

impl ModelFeatures for Extended {
    const EFFECTS: bool = true;
    const SHARING: bool = true;
    type Costs = ExecutionModel;
    type Service = TimeFactors;
    type Pending = Completions;
    type PerCpu<T: Copy + Debug> = Vec<T>;
}

impl<C: CostModel, S: ServiceDistribution> ModelFeatures for Own<C, S> {
    const EFFECTS: bool = true;
    const SHARING: bool = true;
    type Costs = C;
    type Service = S;
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
