//! Where each affinity model places a connection and its packets.

use crate::model::Model;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// The placement of one connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectionPlacement {
    /// The cpus that process its packets; empty for no fixed place.
    pub packets: CpuSet,
    /// The cpus on which its ends may run.
    pub ends: CpuSet,
}

impl ConnectionPlacement {
    /// Where `model` places connection number `connection`, if connections are distributed over `cpus`
    /// in turn. A model that does not place the ends lets them run on any of these cpus.
    #[must_use]
    pub fn new(model: Model, connection: usize, cpus: &[CpuId]) -> Self {
        let turn = |ahead: usize| cpus.iter().cycle().nth((connection + ahead) % cpus.len().max(1)).copied();
        let (own, next) = (CpuSet::from_iter(turn(0)), CpuSet::from_iter(turn(1)));
        let all: CpuSet = cpus.iter().copied().collect();
        let first = CpuSet::from_iter(cpus.first().copied());
        let (packets, ends) = match model {
            Model::None => (CpuSet::default(), all),
            Model::InterruptOnly => (own, all),
            Model::ProcessOnly => (CpuSet::default(), own),
            Model::Full => (own.clone(), own),
            Model::Crossed => (next, own),
            Model::Cpu0 => (first, all),
            Model::ProcessCpu0 => (first, own),
        };
        Self { packets, ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_take_turns_and_crossed_ones_are_apart_from_their_packets() {
        let cpus = [CpuId(2), CpuId(5)];
        let on = |cpu| CpuSet::from_iter([CpuId(cpu)]);
        let of = |model, connection| ConnectionPlacement::new(model, connection, &cpus);
        assert_eq!(of(Model::Full, 0), ConnectionPlacement { packets: on(2), ends: on(2) });
        assert_eq!(of(Model::Full, 3), ConnectionPlacement { packets: on(5), ends: on(5) });
        assert_eq!(of(Model::Crossed, 1), ConnectionPlacement { packets: on(2), ends: on(5) });
        for connection in 0..3 {
            for model in [Model::Cpu0, Model::ProcessCpu0] {
                assert_eq!(of(model, connection).packets, on(2));
            }
            assert!(of(Model::None, connection).packets.is_empty());
            assert!(of(Model::ProcessOnly, connection).packets.is_empty());
            assert_eq!(of(Model::InterruptOnly, connection).ends.len(), 2);
        }
    }
}
