//! The affinity models of the source (§ "Results and Analysis"), and two besides: where the packets of a
//! connection are worked off, and where the programs at its ends run.

use core::fmt;
use core::str::FromStr;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Who directs affinity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// Nobody: packets are worked off where they arrive, and the scheduler places the ends.
    None,
    /// Packets of each connection go to one cpu; the scheduler places the ends.
    InterruptOnly,
    /// The ends of each connection stay on one cpu; packets are worked off where they arrive.
    ProcessOnly,
    /// Packets and ends of a connection share a cpu.
    Full,
    /// Ends stay on one cpu, and their packets go to another.
    Crossed,
    /// All packets go to the first cpu, as interrupts did by themselves on the source's machine; the
    /// scheduler places the ends.
    Cpu0,
    /// The same, but the ends of each connection stay on one cpu: what placing processes alone was there.
    ProcessCpu0,
}

/// Where one connection is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Where its packets are worked off; nowhere in particular if empty.
    pub packets: CpuSet,
    /// Where its ends may run.
    pub ends: CpuSet,
}

impl Model {
    /// Every model, that without affinity first.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::InterruptOnly,
        Self::ProcessOnly,
        Self::Full,
        Self::Crossed,
        Self::Cpu0,
        Self::ProcessCpu0,
    ];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::InterruptOnly => "interrupt-only",
            Self::ProcessOnly => "process-only",
            Self::Full => "full",
            Self::Crossed => "crossed",
            Self::Cpu0 => "cpu0",
            Self::ProcessCpu0 => "process-cpu0",
        }
    }

    /// Whether it says where packets are worked off.
    #[must_use]
    pub const fn steers(self) -> bool {
        !matches!(self, Self::None | Self::ProcessOnly)
    }

    /// Where connection number `connection` is, of connections that take turns on `cpus`. A model that
    /// does not place the ends lets them run on any of these.
    #[must_use]
    pub fn placement(self, connection: usize, cpus: &[CpuId]) -> Placement {
        let turn = |ahead: usize| cpus.iter().cycle().nth((connection + ahead) % cpus.len().max(1)).copied();
        let (own, next) = (CpuSet::from_iter(turn(0)), CpuSet::from_iter(turn(1)));
        let all: CpuSet = cpus.iter().copied().collect();
        let first = CpuSet::from_iter(cpus.first().copied());
        let (packets, ends) = match self {
            Self::None => (CpuSet::default(), all),
            Self::InterruptOnly => (own, all),
            Self::ProcessOnly => (CpuSet::default(), own),
            Self::Full => (own.clone(), own),
            Self::Crossed => (next, own),
            Self::Cpu0 => (first, all),
            Self::ProcessCpu0 => (first, own),
        };
        Placement { packets, ends }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|model| model.name() == name);
        let expected = || format!("`{name}`: expected one of {}", Self::ALL.map(Self::name).join(", "));
        named.ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_take_turns_and_crossed_ones_are_apart_from_their_packets() {
        let cpus = [CpuId(2), CpuId(5)];
        let on = |cpu| CpuSet::from_iter([CpuId(cpu)]);
        let full = |connection| Model::Full.placement(connection, &cpus);
        assert_eq!(full(0), Placement { packets: on(2), ends: on(2) });
        assert_eq!(full(3), Placement { packets: on(5), ends: on(5) });
        assert_eq!(Model::Crossed.placement(1, &cpus), Placement { packets: on(2), ends: on(5) });
        for connection in 0..3 {
            for model in [Model::Cpu0, Model::ProcessCpu0] {
                assert_eq!(model.placement(connection, &cpus).packets, on(2));
            }
            assert!(Model::None.placement(connection, &cpus).packets.is_empty());
            assert!(Model::ProcessOnly.placement(connection, &cpus).packets.is_empty());
            assert_eq!(Model::InterruptOnly.placement(connection, &cpus).ends.len(), 2);
        }
    }

    #[test]
    fn a_model_is_known_by_its_name() {
        for model in Model::ALL {
            assert_eq!(model.name().parse(), Ok(model));
        }
        assert!("sideways".parse::<Model>().unwrap_err().contains("interrupt-only, process-only, full"));
    }
}
