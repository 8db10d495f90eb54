//! The machine that a user's scenario describes.

use super::machine::{Device, Interleaving, Machine, Policy, Scheduling};
use super::run::Options;
use super::timing::Timing;
use warmcore_scenario::cluster::{ClusterDevice, ClusterMachine, ClusterScenario, MemoryKind};

impl From<&ClusterScenario> for Machine {
    fn from(scenario: &ClusterScenario) -> Self {
        let ClusterMachine { nodes, processors, .. } = scenario.machine;
        let device = match scenario.device {
            ClusterDevice::SComa => Device::SComa,
            ClusterDevice::Hurricane { processors, mhz } => Device::Hurricane { processors, mhz },
            ClusterDevice::Hurricane1 { dedicated: 0 } => Device::Hurricane1(Scheduling::Multiplexed),
            ClusterDevice::Hurricane1 { dedicated } => Device::Hurricane1(Scheduling::Dedicated(dedicated)),
            ClusterDevice::Typhoon1 { dedicated: true } => Device::Typhoon1(Policy::Fixed),
            ClusterDevice::Typhoon1 { dedicated: false } => Device::Typhoon1(Policy::Floating),
        };
        let base = Self::chapter_5(nodes, processors, device);
        let given = &scenario.machine;
        Self {
            block_bytes: given.block_bytes,
            cache_bytes: given.cache_bytes,
            line_bytes: given.line_bytes,
            interleaving: match given.memory {
                MemoryKind::Interleaved => Interleaving::Infinite,
                MemoryKind::SingleBank => Interleaving::SingleBank,
            },
            timing: Timing {
                network: given.network_cycles,
                interrupt: given.interrupt_cycles,
                trap: given.trap_cycles,
                ..base.timing
            },
            run_ahead: given.run_ahead,
            ..base
        }
    }
}

impl From<&ClusterScenario> for Options<'_> {
    fn from(scenario: &ClusterScenario) -> Self {
        Self { limit: scenario.machine.limit_cycles, ..Self::default() }
    }
}
