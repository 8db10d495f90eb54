//! The part of an inventory that concerns one cpu.

use super::{Interface, Interrupt, Inventory, Processor, ReceiveQueue, Thread, TransmitQueue};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Everything in an inventory that concerns one cpu.
#[derive(Clone, PartialEq, Debug)]
pub struct OnCpu<'a> {
    /// The cpu's counts.
    pub processor: &'a Processor,
    /// Interrupts that go to it and have occurred, the most frequent first.
    pub interrupts: Vec<&'a Interrupt>,
    /// Receive queues whose packets RPS steers to it.
    pub steered: Vec<(&'a Interface, &'a ReceiveQueue)>,
    /// Transmit queues that XPS lets it use.
    pub sends: Vec<(&'a Interface, &'a TransmitQueue)>,
    /// Busy threads that ran on it last, the busiest first.
    pub threads: Vec<&'a Thread>,
}

impl OnCpu<'_> {
    /// Whether it has no interrupts, steered packets or busy threads.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.interrupts.is_empty() && self.steered.is_empty() && self.threads.is_empty()
    }
}

impl Inventory {
    /// The view of each online cpu, in order of number.
    pub fn by_cpu(&self) -> impl Iterator<Item = OnCpu<'_>> {
        self.processors.iter().map(|processor| self.on_cpu(processor))
    }

    fn on_cpu<'a>(&'a self, processor: &'a Processor) -> OnCpu<'a> {
        let cpu = processor.cpu;
        let has = |cpus: &Option<CpuSet>| cpus.as_ref().is_some_and(|cpus| cpus.contains(cpu));
        OnCpu {
            processor,
            interrupts: self.interrupts_on(cpu),
            steered: self.receive_queues().filter(|(_, queue)| has(&queue.rps)).collect(),
            sends: self.transmit_queues().filter(|(_, queue)| has(&queue.xps)).collect(),
            threads: self.threads.iter().filter(|thread| thread.last_cpu == cpu).collect(),
        }
    }

    /// The interrupts that go to `cpu` and have occurred, the most frequent first.
    fn interrupts_on(&self, cpu: CpuId) -> Vec<&Interrupt> {
        let goes_here = |interrupt: &&Interrupt| interrupt.goes_to().contains(cpu) && interrupt.total() > 0;
        let mut interrupts: Vec<&Interrupt> = self.interrupts.iter().filter(goes_here).collect();
        interrupts.sort_by_key(|interrupt| core::cmp::Reverse(interrupt.total()));
        interrupts
    }

    fn receive_queues(&self) -> impl Iterator<Item = (&Interface, &ReceiveQueue)> {
        self.interfaces
            .iter()
            .flat_map(|interface| interface.receive.iter().map(move |queue| (interface, queue)))
    }

    fn transmit_queues(&self) -> impl Iterator<Item = (&Interface, &TransmitQueue)> {
        self.interfaces
            .iter()
            .flat_map(|interface| interface.transmit.iter().map(move |queue| (interface, queue)))
    }

    /// The interrupts that serve `interface`.
    pub fn interrupts_of<'a>(&'a self, interface: &'a Interface) -> impl Iterator<Item = &'a Interrupt> {
        let name = Some(interface.name.as_str());
        self.interrupts.iter().filter(move |interrupt| interrupt.interface.as_deref() == name)
    }
}
