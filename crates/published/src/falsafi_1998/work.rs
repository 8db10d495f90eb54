//! What a system executes: a program of Tables 4.1 and 5.2, or a microbenchmark.

use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_workload::programs::AnyProgram;

/// A program of Table 4.1 or 5.2, in the order of [`AnyProgram::NAMES`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum App {
    /// Gravitation by a hierarchical method.
    Barnes,
    /// Sparse factorisation.
    Cholesky,
    /// Electromagnetic waves on a bipartite graph.
    Em3d,
    /// Fourier transform.
    Fft,
    /// Fast multipole method.
    Fmm,
    /// Gaussian elimination.
    Gauss,
    /// Dense factorisation.
    Lu,
    /// Radix sort.
    Radix,
    /// Water molecules in cells.
    WaterSp,
}

impl App {
    /// Those of Table 4.1.
    pub const CHAPTER_4: [Self; 5] = [Self::Barnes, Self::Em3d, Self::Gauss, Self::Lu, Self::WaterSp];
    /// Those of Table 5.2.
    pub const CHAPTER_5: [Self; 7] =
        [Self::Barnes, Self::Cholesky, Self::Em3d, Self::Fft, Self::Fmm, Self::Radix, Self::WaterSp];
    /// Those that the text calls latency-bound (§5.3.4.1).
    pub const LATENCY_BOUND: [Self; 2] = [Self::Barnes, Self::Fmm];
    /// Those that it calls bandwidth-bound, without cholesky, whose parallelism is limited.
    pub const BURSTY: [Self; 3] = [Self::Em3d, Self::Fft, Self::Radix];
    /// Those that it calls bandwidth-bound.
    pub const BANDWIDTH_BOUND: [Self; 4] = [Self::Cholesky, Self::Em3d, Self::Fft, Self::Radix];

    /// Its name in the text, which is that of the program: they are listed in the same order.
    #[must_use]
    pub const fn name(self) -> &'static str {
        AnyProgram::NAMES[self as usize]
    }
}

/// What a system executes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Work {
    /// A program.
    Program(App),
    /// A processor that reads blocks of another node (§5.3.3).
    RemoteRead,
    /// So many nodes that read blocks of one (§5.3.3).
    ReplyBandwidth(u32),
    /// So many processors of a node that read blocks of others (§5.3.3).
    RequestBandwidth(u32),
    /// Requests whose handlers only answer, with computing in between for this percentage of the time without contention: U
    /// (§4.3.2).
    NullHandler(u32),
    /// Requests for blocks, with the same (§4.3.2).
    FetchBlock(u32),
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Program(app) => f.write_str(app.name()),
            Self::RemoteRead => f.write_str("remote read"),
            Self::ReplyBandwidth(requesters) => write!(f, "reply bandwidth, {requesters} requesters"),
            Self::RequestBandwidth(requesters) => write!(f, "request bandwidth, {requesters} requesters"),
            Self::NullHandler(percent) => write!(f, "null-handler, U = {percent} %"),
            Self::FetchBlock(percent) => write!(f, "fetch-block, U = {percent} %"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_its_own_name() {
        for app in App::CHAPTER_4.into_iter().chain(App::CHAPTER_5) {
            let name = format!("{app:?}").to_lowercase();
            assert_eq!(name, app.name().replace('-', ""));
        }
        assert_eq!(App::WaterSp as usize + 1, AnyProgram::NAMES.len());
    }
}
