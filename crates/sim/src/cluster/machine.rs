//! What a user says of a cluster: nodes, processors, device, caches, blocks. Everything is checked before a run.

use super::occupancy::Occupancy;
use super::timing::Timing;
use warmcore_coherence::{CpuSet, NodeSet};
pub use warmcore_scenario::cluster::{ClusterDevice as Device, MemoryKind};
use warmcore_units::Fault;
use warmcore_workload::programs::image::PAGE;

/// A cluster of SMP nodes.
#[derive(Clone, Debug)]
pub struct Machine {
    /// How many nodes.
    pub nodes: u32,
    /// Processors of a node that compute. Dedicated protocol processors are in addition to these.
    pub processors: u32,
    /// The device of each node.
    pub device: Device,
    /// Bytes of a block of the protocol, a power of two.
    pub block_bytes: u64,
    /// Bytes of each processor's cache, a power of two.
    pub cache_bytes: u64,
    /// Bytes of a line of the caches. Not stated in the source.
    pub line_bytes: u64,
    /// Bytes of a block buffer, a power of two; each protocol thread has one.
    pub block_buffer_bytes: u64,
    /// Frames of a node's page cache; `None`: one for each remote page.
    pub page_cache_pages: Option<u32>,
    /// A node's memory.
    pub memory: MemoryKind,
    /// Times of the machine around the device.
    pub timing: Timing,
    /// Times of the protocol's steps, unless those of the device in Table 5.1.
    pub occupancy: Option<Occupancy>,
    /// The demultiplexing of protocol events; `None`: dynamic, with an unbounded search (§5.1).
    pub dispatch: Option<warmcore_policy::pdq::Design>,
    /// Cycles by which a processor may run ahead of what else is to happen.
    pub run_ahead: u64,
}

/// The most cycles that anything may take, more than a day of the machine's: times do not overflow.
const MOST_CYCLES: u64 = 1 << 40;

/// Lines of all caches together. Each takes four bytes from the start, 4 GB in all.
const MOST_LINES: u64 = 1 << 30;

impl Machine {
    /// The systems of chapter 5: `nodes` nodes of `processors`, blocks of 64 bytes, interleaved memory.
    #[must_use]
    pub fn chapter_5(nodes: u32, processors: u32, device: Device) -> Self {
        Self {
            nodes,
            processors,
            device,
            block_bytes: 64,
            cache_bytes: 1 << 20,
            line_bytes: 64,
            block_buffer_bytes: 2048,
            page_cache_pages: None,
            memory: MemoryKind::Interleaved,
            timing: Timing::default(),
            occupancy: None,
            dispatch: None,
            run_ahead: 100,
        }
    }

    /// The systems of chapter 4: Typhoon-1, blocks of 128 bytes, a single bank of memory. Under Fixed, `processors` are those
    /// beside the protocol processor.
    #[must_use]
    pub fn chapter_4(nodes: u32, processors: u32, device: Device) -> Self {
        Self {
            block_bytes: 128,
            memory: MemoryKind::SingleBank,
            ..Self::chapter_5(nodes, processors, device)
        }
    }

    /// All processors that compute.
    #[must_use]
    pub fn compute_processors(&self) -> u32 {
        self.nodes * self.processors
    }

    /// What the protocol's steps take.
    #[must_use]
    pub fn occupancy(&self) -> Occupancy {
        self.occupancy.unwrap_or(match self.device {
            Device::SComa {} => Occupancy::S_COMA,
            Device::Hurricane { mhz, .. } => Occupancy::HURRICANE.at_clock(mhz),
            Device::Hurricane1 { .. } => Occupancy::HURRICANE_1,
            Device::Typhoon1 { .. } => Occupancy::TYPHOON_1,
        })
    }

    /// Checks everything that a run relies on.
    ///
    /// # Errors
    /// The first field that is impossible, with what would do.
    pub fn check(&self) -> Result<(), Fault> {
        within("nodes", u64::from(self.nodes), 1, u64::from(NodeSet::CAPACITY))?;
        within("processors", u64::from(self.processors), 1, u64::from(CpuSet::CAPACITY))?;
        match self.device {
            Device::SComa {} | Device::Typhoon1 { .. } | Device::MULT => {}
            Device::Hurricane { processors, mhz } => {
                within("device.processors", u64::from(processors), 1, 64)?;
                within("device.mhz", u64::from(mhz), 1, 100_000)?;
            }
            Device::Hurricane1 { dedicated: processors } => {
                within("device.dedicated", u64::from(processors), 1, 64)?;
            }
        }
        power_of_two(
            "line_bytes",
            self.line_bytes,
            self.timing.entry_bytes.next_power_of_two().max(8),
            1024,
        )?;
        power_of_two("block_bytes", self.block_bytes, self.line_bytes.max(32), PAGE)?;
        power_of_two("cache_bytes", self.cache_bytes, self.line_bytes, self.largest_cache())?;
        power_of_two("block_buffer_bytes", self.block_buffer_bytes, self.block_bytes, 1 << 20)?;
        let frames = self.page_cache_pages.unwrap_or(u32::MAX);
        within("page_cache_pages", u64::from(frames), 1, u64::from(u32::MAX))?;
        let cycles = [
            ("network_cycles", self.timing.network),
            ("interrupt_cycles", self.timing.interrupt),
            ("trap_cycles", self.timing.trap),
            ("run_ahead", self.run_ahead),
        ];
        for (field, found) in cycles {
            within(field, found, 0, MOST_CYCLES)?;
        }
        within("timing.thread_lines", u64::from(self.timing.thread_lines), 0, 1024)?;
        self.check_dispatch()
    }

    /// The largest caches of which so many processors can have one each.
    fn largest_cache(&self) -> u64 {
        let caches = u64::from(self.processors) + u64::from(self.device.protocol_processors());
        let lines = MOST_LINES / (u64::from(self.nodes) * caches);
        // The largest power of two that is no greater.
        1 << (lines.max(1) * self.line_bytes).ilog2().min(30)
    }

    fn check_dispatch(&self) -> Result<(), Fault> {
        use warmcore_policy::pdq::Design;
        match self.dispatch {
            // Queues of threads that nobody executes would wait.
            Some(design @ (Design::StaticBinding | Design::DynamicBinding { .. }))
                if self.device.is_multiplexed() =>
            {
                let expected = "dynamic demultiplexing, where compute processors execute the protocol";
                Err(Fault::new("dispatch", format!("{design:?}"), expected))
            }
            Some(Design::DynamicBinding { queues }) => {
                within("dispatch.queues", u64::from(queues), 1, 1 << 20)
            }
            Some(Design::DynamicDemultiplexing { window: Some(window), .. }) => {
                within("dispatch.window", u64::from(window), 1, 1 << 20)
            }
            _ => Ok(()),
        }
    }
}

fn within(field: &str, found: u64, least: u64, most: u64) -> Result<(), Fault> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(Fault::new(field, found, format!("{least} to {most}")))
}

fn power_of_two(field: &str, found: u64, least: u64, most: u64) -> Result<(), Fault> {
    if found.is_power_of_two() && (least..=most).contains(&found) {
        return Ok(());
    }
    Err(Fault::new(field, found, format!("a power of two from {least} to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_may_be_large_or_many() {
        let with = |nodes, processors, bytes| Machine {
            cache_bytes: bytes,
            ..Machine::chapter_5(nodes, processors, Device::SComa {})
        };
        assert_eq!(with(64, 16, 1 << 20).check(), Ok(()));
        assert_eq!(with(1, 1, 1 << 30).check(), Ok(()));
        // 64 embedded processors on each node have caches, too.
        let device = Device::Hurricane { processors: 64, mhz: 400 };
        let embedded = Machine { device, ..with(64, 1, 1 << 30) };
        assert_eq!(embedded.check().expect_err("279 GB of lines").field, "cache_bytes");
        let refused = with(64, 16, 1 << 30).check().expect_err("64 GB of lines");
        assert_eq!(
            (&refused.field[..], &refused.expected[..]),
            ("cache_bytes", "a power of two from 64 to 67108864")
        );
    }

    #[test]
    fn impossible_machines_are_refused_with_their_field() {
        let good = Machine::chapter_5(2, 2, Device::SComa {});
        assert_eq!(good.check(), Ok(()));
        let refused = |change: fn(&mut Machine)| {
            let mut machine = good.clone();
            change(&mut machine);
            machine.check().expect_err("it is impossible").field
        };
        assert_eq!(refused(|machine| machine.nodes = 0), "nodes");
        assert_eq!(refused(|machine| machine.processors = 65), "processors");
        assert_eq!(refused(|machine| machine.block_bytes = 96), "block_bytes");
        assert_eq!(refused(|machine| machine.block_bytes = 32), "block_bytes");
        assert_eq!(refused(|machine| machine.cache_bytes = 3), "cache_bytes");
        let bound = |machine: &mut Machine| {
            machine.device = Device::FLOATING;
            machine.dispatch = Some(warmcore_policy::pdq::Design::StaticBinding);
        };
        assert_eq!(refused(bound), "dispatch");
        assert_eq!(
            refused(|machine| machine.device = Device::Hurricane { processors: 0, mhz: 400 }),
            "device.processors"
        );
    }
}
