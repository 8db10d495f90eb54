//! The setting of a curve: everything about its points but the rate.

use warmcore_scenario::{
    Organisation, PacketScenario, Parallelism, ProcessorPolicy, QueueRule, RunLength, Scheduling, Traffic,
};
use warmcore_units::PerSecond;
use warmcore_workload::{Batch, BatchDistribution, Size};

use crate::salehi_1994::ReproductionOptions;

/// The host and the traffic of a curve.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CurveSetting {
    /// Where packets are processed.
    pub scheduling: Scheduling,
    /// Mean number of packets in a batch.
    pub batch: u32,
    /// Whether batch sizes are geometric; otherwise all are equal.
    pub geometric: bool,
    /// Processors.
    pub processors: u32,
    /// Streams; under IPS there are as many independent stacks.
    pub streams: u32,
    /// Bytes of each packet that are checksummed in software; 0 for none.
    pub checksummed: u16,
}

/// Processors and streams of the host of Salehi 1994 (§6).
pub const PROCESSORS: u32 = 8;

/// More packets per second than any host keeps up with: at this rate a point only shows the capacity.
pub const OVERLOAD: PerSecond = PerSecond(1e12);

/// Nanoseconds to checksum a byte: 32 bytes per microsecond (§5).
pub const CHECKSUM_NS_PER_BYTE: f64 = 1e3 / 32.0;

/// The host whose checksum costs section 6.3 discusses, without checksums.
pub(crate) const WITHOUT_CHECKSUM: CurveSetting = CurveSetting::new(Parallelism::Ips, ProcessorPolicy::Mru);
/// Bytes of the small packet of section 6, and of the largest FDDI packet of section 6.3.
pub(crate) const CHECKSUMMED_BYTES: [u16; 2] = [256, 4432];
/// The same host without checksums, and when it checksums packets of these sizes.
pub(crate) const CHECKSUMMED: [CurveSetting; 3] = [
    WITHOUT_CHECKSUM,
    WITHOUT_CHECKSUM.checksumming(CHECKSUMMED_BYTES[0]),
    WITHOUT_CHECKSUM.checksumming(CHECKSUMMED_BYTES[1]),
];

impl CurveSetting {
    /// `policy` under `approach` with pools per processor, single packets and 8 processors.
    #[must_use]
    pub const fn new(approach: Parallelism, policy: ProcessorPolicy) -> Self {
        let scheduling = Scheduling {
            approach,
            policy,
            queue: QueueRule::Fifo,
            threads: Organisation::PerProcessor,
            thread_order: warmcore_scenario::ThreadOrder::Opposite,
            memory: Organisation::PerProcessor,
        };
        Self {
            scheduling,
            batch: 1,
            geometric: false,
            processors: PROCESSORS,
            streams: PROCESSORS,
            checksummed: 0,
        }
    }

    /// With these pools.
    #[must_use]
    pub const fn pools(mut self, threads: Organisation, memory: Organisation) -> Self {
        self.scheduling.threads = threads;
        self.scheduling.memory = memory;
        self
    }

    /// With batches of `mean` packets.
    #[must_use]
    pub const fn batches(self, mean: u32, geometric: bool) -> Self {
        // A geometric batch of mean 1 is a single packet.
        Self { batch: mean, geometric: geometric && mean > 1, ..self }
    }

    /// On `processors` processors with `streams` streams.
    #[must_use]
    pub const fn host(self, processors: u32, streams: u32) -> Self {
        Self { processors, streams, ..self }
    }

    /// Prefers waiting packets of the same stream.
    #[must_use]
    pub const fn same_stream_first(mut self) -> Self {
        self.scheduling.queue = QueueRule::SameStreamFirst;
        self
    }

    /// Checksumming packets of `bytes` bytes in software.
    #[must_use]
    pub const fn checksumming(self, bytes: u16) -> Self {
        Self { checksummed: bytes, ..self }
    }

    /// The distribution of batch sizes.
    #[must_use]
    pub fn law(&self) -> Batch {
        let distribution =
            if self.geometric { BatchDistribution::Geometric } else { BatchDistribution::Deterministic };
        Batch { mean: f64::from(self.batch), distribution }
    }

    /// The scenario of the point at `rate` packets per second.
    #[must_use]
    pub fn scenario(
        &self,
        options: &ReproductionOptions,
        rate: PerSecond,
        max_packets: u64,
    ) -> PacketScenario {
        let mut scenario = PacketScenario {
            seed: options.seed,
            profile: options.source.clone(),
            processors: self.processors,
            rate_per_s: Some(rate),
            scheduling: self.scheduling,
            traffic: Traffic { streams: self.streams, batch: self.law(), ..Traffic::default() },
            run: RunLength { precision: options.precision, max_packets, ..RunLength::default() },
            ..PacketScenario::default()
        };
        if self.checksummed > 0 {
            scenario.effects.checksum_ns_per_byte = CHECKSUM_NS_PER_BYTE;
            scenario.traffic.sizes = vec![Size { bytes: self.checksummed, weight: 1.0 }];
        }
        scenario
    }

    /// The scenario that only shows the capacity.
    #[must_use]
    pub fn overloaded(&self, options: &ReproductionOptions) -> PacketScenario {
        self.scenario(options, OVERLOAD, RunLength::default().max_packets)
    }
}
