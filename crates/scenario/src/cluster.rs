//! The scenario of a cluster: nodes, the device that extends their shared memory, and the program that runs on all of them
//! (Falsafi 1998).
//!
//! A scenario is written by hand; `warmcore simulate cluster --print-example` gives one to begin with. What is impossible
//! about the machine is found by who simulates it.

mod device;
mod dispatch;
mod microbenchmark;

use crate::document::Checked;
pub use device::ClusterDevice;
pub use dispatch::{ClusterDispatch, DispatchDesign};
pub use microbenchmark::{Blocks, Microbenchmark, Requests};
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;
use warmcore_workload::programs::{AnyProgram, Program};

/// The document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterScenario {
    /// Version of the document, [`Checked::SCHEMA`].
    pub schema: u32,
    /// Name of the cluster, for reports.
    #[serde(default)]
    pub name: String,
    /// Nodes, processors, caches and memory.
    #[serde(default)]
    pub machine: ClusterMachine,
    /// What executes the protocol on each node.
    #[serde(default)]
    pub device: ClusterDevice,
    /// How the device's events are demultiplexed; one queue that is searched, if absent.
    pub dispatch: Option<ClusterDispatch>,
    /// What all processors run, with its input.
    pub program: Option<AnyProgram>,
    /// What they run instead.
    pub microbenchmark: Option<Microbenchmark>,
}

/// What processors run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Work<'a> {
    /// A program that computes something.
    Program(&'a AnyProgram),
    /// A microbenchmark of single operations.
    Microbenchmark(&'a Microbenchmark),
}

impl Work<'_> {
    /// Its name in a scenario.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Program(program) => program.name(),
            Self::Microbenchmark(microbenchmark) => microbenchmark.name(),
        }
    }

    /// The seed of its random numbers; 0 of what has none.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        match self {
            Self::Program(program) => program.seed(),
            Self::Microbenchmark(Microbenchmark::NullHandler(of) | Microbenchmark::FetchBlock(of)) => of.seed,
            Self::Microbenchmark(_) => 0,
        }
    }
}

impl ClusterScenario {
    /// What processors run.
    ///
    /// # Errors
    /// If the scenario does not say, or says it twice.
    pub fn work(&self) -> Result<Work<'_>, Fault> {
        let expected = "one of the tables [program] and [microbenchmark]";
        match (&self.program, &self.microbenchmark) {
            (Some(program), None) => Ok(Work::Program(program)),
            (None, Some(microbenchmark)) => Ok(Work::Microbenchmark(microbenchmark)),
            (None, None) => Err(Fault::new("program", "missing", expected)),
            (Some(_), Some(_)) => Err(Fault::new("microbenchmark", "given beside [program]", expected)),
        }
    }
}

/// The nodes of a cluster. Times are in cycles of 400 MHz.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterMachine {
    /// How many nodes.
    pub nodes: u32,
    /// Processors of a node that compute.
    pub processors: u32,
    /// Bytes of a block of the protocol.
    pub block_bytes: u64,
    /// Bytes of each processor's cache.
    pub cache_bytes: u64,
    /// Bytes of a line of the caches.
    pub line_bytes: u64,
    /// Bytes of a block buffer, which each protocol thread has.
    pub block_buffer_bytes: u64,
    /// Frames for other nodes' pages in each node's memory; as many as there are such pages, if absent.
    pub page_cache_pages: Option<u32>,
    /// How many accesses a node's memory serves at a time.
    pub memory: MemoryKind,
    /// From one network interface to another.
    pub network_cycles: u64,
    /// From the invocation of an interrupt to the handler.
    pub interrupt_cycles: u64,
    /// From a bus error to the trap's code.
    pub trap_cycles: u64,
    /// By how much a processor may run ahead of what else is to happen: 0 is exact, more is faster.
    pub run_ahead: u64,
    /// After how many cycles a program that has not ended is given up.
    pub limit_cycles: u64,
}

impl Default for ClusterMachine {
    /// The base system of chapter 5, 8 nodes of 8 processors.
    fn default() -> Self {
        Self {
            nodes: 8,
            processors: 8,
            block_bytes: 64,
            cache_bytes: 1 << 20,
            line_bytes: 64,
            block_buffer_bytes: 2048,
            page_cache_pages: None,
            memory: MemoryKind::Interleaved,
            network_cycles: 100,
            interrupt_cycles: 200,
            trap_cycles: 200,
            run_ahead: 100,
            limit_cycles: 1_000_000_000_000,
        }
    }
}

/// A node's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// As many accesses as come (§5.3.1).
    Interleaved,
    /// One bank with a write buffer (§4.3.1).
    SingleBank,
}

impl Checked for ClusterScenario {
    const WHAT: &'static str = "scenario of a cluster";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        self.dispatch.unwrap_or_default().design()?;
        match self.work()? {
            Work::Program(_) => Ok(()),
            Work::Microbenchmark(microbenchmark) => microbenchmark.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;
    use std::path::Path;
    use warmcore_policy::pdq::Design;

    fn read(text: &str) -> Result<ClusterScenario, String> {
        parse(&format!("schema = 1\n{text}"), Path::new("c.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_program_is_enough() {
        let scenario = read("[program]\nname = \"fft\"\npoints = 65536").expect("a scenario");
        assert_eq!((scenario.machine.nodes, scenario.device), (8, ClusterDevice::SComa {}));
        let Some(AnyProgram::Fft(fft)) = &scenario.program else { panic!("{:?}", scenario.program) };
        assert_eq!(fft.points, 65536);
        let text = toml::to_string(&scenario).expect("it can be written");
        assert_eq!(toml::from_str::<ClusterScenario>(&text).expect("and read"), scenario);
    }

    #[test]
    fn a_microbenchmark_stands_in_for_a_program() {
        let scenario = read("[microbenchmark]\nname = \"null-handler\"\nrequests = 5").expect("a scenario");
        let Ok(Work::Microbenchmark(Microbenchmark::NullHandler(of))) = scenario.work() else {
            panic!("{:?}", scenario.work())
        };
        assert_eq!(of, &Requests { requests: 5, ..Requests::default() });
        let refused = |text: &str| read(text).expect_err("refused");
        assert!(refused("").contains("[program]"), "{}", refused(""));
        let both = "[program]\nname = \"fft\"\n[microbenchmark]\nname = \"remote-read\"";
        assert!(refused(both).contains("given beside [program]"), "{}", refused(both));
        let none = "[microbenchmark]\nname = \"reply-bandwidth\"\nblocks = 0";
        assert!(refused(none).contains("blocks"), "{}", refused(none));
    }

    #[test]
    fn designs_of_the_dispatch_queue_are_read() {
        let of = |text: &str| {
            let scenario = read(&format!("[program]\nname = \"fft\"\n[dispatch]\n{text}"));
            scenario.map(|scenario| scenario.dispatch.expect("a table").design().expect("it was checked"))
        };
        assert_eq!(of("design = \"static-binding\""), Ok(Design::StaticBinding));
        assert_eq!(of("design = \"dynamic-binding\"\nqueues = 7"), Ok(Design::DynamicBinding { queues: 7 }));
        let searched = Design::DynamicDemultiplexing { window: Some(4), id_bits: None };
        assert_eq!(of("design = \"dynamic-demultiplexing\"\nwindow = 4"), Ok(searched));
        assert_eq!(of("window = 4"), Ok(searched));
        for (text, fault) in [
            (
                "design = \"static-binding\"\nqueues = 7",
                "c.toml:6: not a usable scenario of a cluster: `dispatch.queues` is 7",
            ),
            ("queues = 7", "`dispatch.design` to be `dynamic-binding`"),
            ("design = \"dynamic-binding\"", "`dispatch.queues` is missing"),
            ("design = \"dynamic-binding\"\nqueues = 7\nid_bits = 3", "`dispatch.id_bits` is 3"),
        ] {
            let refused = of(text).expect_err(text);
            assert!(refused.contains(fault), "{refused}");
        }
    }

    #[test]
    fn what_is_unknown_is_named() {
        let program = "[program]\nname = \"fft\"\n";
        let refused = |text: &str| read(&format!("{program}{text}")).expect_err("refused");
        assert!(refused("pionts = 3").contains("pionts"), "{}", refused("pionts = 3"));
        assert!(refused("[device]\nkind = \"hurricane\"\nclock = 3").contains("clock"));
        assert!(refused("[device]\nkind = \"s-coma\"\nmhz = 3").contains("mhz"));
        assert!(read("[program]\nname = \"ftt\"").expect_err("refused").contains("water-sp"));
    }
}
