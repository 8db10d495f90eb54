//! The processors of a calibration: the reader's, and where else softirqs can run.

use warmcore_costs::socket::SoftirqCpu;
use warmcore_topology::{Cpu, Machine};
use warmcore_units::CpuId;

/// The reader's processor, and one of each kind beside it that the machine has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Processors {
    pub(crate) reader: CpuId,
    pub(crate) others: Vec<(SoftirqCpu, CpuId)>,
}

impl Processors {
    /// Those of `machine`; `None` if this process may use none.
    pub(crate) fn of(machine: &Machine) -> Option<Self> {
        let cores = machine.usable_cores();
        let first = *cores.first()?;
        let reader = machine.usable().find(|cpu| cpu.id == first)?;
        let nearest = |kind, is_it: &dyn Fn(&Cpu) -> bool| {
            let cpu = machine.usable().find(|cpu| cpu.id != reader.id && is_it(cpu))?;
            Some((kind, cpu.id))
        };
        let is_sibling = |cpu: &Cpu| reader.smt_siblings.contains(cpu.id);
        let others = [
            nearest(SoftirqCpu::Sibling, &is_sibling),
            nearest(SoftirqCpu::OtherCore, &|cpu| !is_sibling(cpu) && cpu.node == reader.node),
            nearest(SoftirqCpu::OtherNode, &|cpu| cpu.node != reader.node),
        ];
        Some(Self { reader: reader.id, others: others.into_iter().flatten().collect() })
    }

    /// Which kinds there are beside the reader's.
    pub(crate) fn kinds(&self) -> Vec<SoftirqCpu> {
        self.others.iter().map(|(kind, _)| *kind).collect()
    }

    /// The one of this kind; the reader's own if there is no other.
    pub(crate) fn get(&self, kind: SoftirqCpu) -> CpuId {
        self.others.iter().find(|(other, _)| *other == kind).map_or(self.reader, |(_, cpu)| *cpu)
    }

    /// The processor that works against the reader's where its kind is not what is measured.
    pub(crate) fn partner(&self, kind: SoftirqCpu) -> CpuId {
        self.get(if kind == SoftirqCpu::Reader { SoftirqCpu::OtherCore } else { kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_topology::{CpuSet, synthetic};

    #[test]
    fn each_kind_of_processor_is_found_where_the_machine_has_it() {
        let two = Processors::of(&synthetic::virtual_machine(2)).unwrap();
        assert_eq!(two, Processors { reader: CpuId(0), others: vec![(SoftirqCpu::OtherCore, CpuId(1))] });
        let one = synthetic::virtual_machine(2).limited_to(CpuSet::from_iter([CpuId(1)]), None);
        let one = Processors::of(&one).unwrap();
        assert_eq!((one.reader, one.kinds().len(), one.partner(SoftirqCpu::Reader)), (CpuId(1), 0, CpuId(1)));
        let mut smt = synthetic::virtual_machine(4);
        for cpu in &mut smt.cpus {
            cpu.smt_siblings = CpuSet::from_iter([CpuId(cpu.id.0 / 2 * 2), CpuId(cpu.id.0 / 2 * 2 + 1)]);
            cpu.core = cpu.id.0 / 2;
            cpu.node = cpu.core;
        }
        let kinds = Processors::of(&smt).unwrap();
        let expected = vec![(SoftirqCpu::Sibling, CpuId(1)), (SoftirqCpu::OtherNode, CpuId(2))];
        assert_eq!(kinds.others, expected, "it has no other core in its node");
    }
}
