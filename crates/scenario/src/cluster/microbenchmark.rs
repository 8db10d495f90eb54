//! The microbenchmarks of single operations, in place of a program (Falsafi 1998, §4.3.2 and §5.3.3).

use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// A microbenchmark.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Microbenchmark {
    /// The first processor of the first node reads blocks of the second node.
    RemoteRead {},
    /// A processor of each other node reads blocks of the first node.
    ReplyBandwidth(Blocks),
    /// All processors of the first node read blocks, each of another node.
    RequestBandwidth(Blocks),
    /// All processors compute and send requests whose handlers do nothing but reply.
    NullHandler(Requests),
    /// All processors compute and send requests whose handlers fetch a block.
    FetchBlock(Requests),
}

/// How much is read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Blocks {
    /// Blocks that each reader reads.
    pub blocks: u64,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { blocks: 200 }
    }
}

/// How processors compute between requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Requests {
    /// Mean cycles of computing between requests, which are exponential.
    pub compute_cycles: f64,
    /// Cycles of computing between loads of a processor's own data; no loads, if absent.
    pub load_every: Option<u32>,
    /// Requests of each processor.
    pub requests: u32,
    /// Names the random numbers.
    pub seed: u64,
}

impl Default for Requests {
    fn default() -> Self {
        Self { compute_cycles: 2000.0, load_every: None, requests: 1000, seed: 1 }
    }
}

impl Microbenchmark {
    /// Its name in a scenario.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RemoteRead {} => "remote-read",
            Self::ReplyBandwidth(_) => "reply-bandwidth",
            Self::RequestBandwidth(_) => "request-bandwidth",
            Self::NullHandler(_) => "null-handler",
            Self::FetchBlock(_) => "fetch-block",
        }
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        let within = |field: &str, found: f64, least: f64, most: f64| {
            if (least..=most).contains(&found) {
                return Ok(());
            }
            Err(Fault::new(format!("microbenchmark.{field}"), found, format!("{least} to {most}")))
        };
        match self {
            Self::RemoteRead {} => Ok(()),
            Self::ReplyBandwidth(of) | Self::RequestBandwidth(of) => {
                within("blocks", of.blocks as f64, 1.0, 1e6)
            }
            Self::NullHandler(of) | Self::FetchBlock(of) => {
                within("compute_cycles", of.compute_cycles, 0.0, 1e9)?;
                within("requests", f64::from(of.requests), 1.0, 1e7)?;
                within("load_every", of.load_every.map_or(1.0, f64::from), 1.0, 1e9)
            }
        }
    }
}
