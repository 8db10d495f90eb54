//! Cycles of computing between shared references.
//!
//! The machine charges shared loads and stores. A program charges everything else, counted where it happens, from one table for
//! all programs. The table is that of a dual-issue, statically scheduled processor like the hyperSPARC (Falsafi 1998, §1.3.1),
//! which issues one floating-point and one integer instruction in a cycle. The source states no latencies: these are what
//! compiled loops reach on such pipelines when they are scheduled well, and no value comes from a run of a parallel machine.

use serde::{Deserialize, Serialize};

/// A floating-point addition or multiplication. They are pipelined, and the integer unit does the indices meanwhile.
pub const FLOP: u32 = 1;

/// A floating-point division. It is not pipelined.
pub const DIVIDE: u32 = 17;

/// A square root. It is not pipelined.
pub const SQUARE_ROOT: u32 = 17;

/// A logarithm, an exponential, a sine or a cosine from the library.
pub const TRANSCENDENTAL: u32 = 120;

/// Two integer instructions, which are issued together: an index and its bound, a shift and a mask.
pub const INTEGER: u32 = 1;

/// A load or store of private data, which hits the cache.
pub const PRIVATE: u32 = 1;

/// The end of a loop's body: count, compare and branch.
pub const LOOP: u32 = 2;

/// A call and its return, with the registers that are saved.
pub const CALL: u32 = 10;

/// How many cycles a program takes for each that the table counts.
///
/// The thesis gives the seven programs of chapter 5 their execution times on a uniprocessor (Table 5.3). What those contain
/// beyond what is counted (a compiler that schedules less well, stalls of the pipeline) is one factor for each program, with which
/// the simulated machine takes that time with one processor. A test repeats it. A uniprocessor's time is an input of the
/// comparison, not its result: no factor is chosen by a time of a parallel machine.
/// lu and gauss have no such time. They take cholesky's factor, because all three spend their time in the same loop.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pace {
    /// Cycles for each counted one.
    pub factor: f64,
}

impl Pace {
    /// As the table counts.
    pub const COUNTED: Self = Self::new(1.0);

    /// `factor` cycles for each counted one.
    #[must_use]
    pub const fn new(factor: f64) -> Self {
        Self { factor }
    }

    /// What `counted` cycles of the table take.
    #[must_use]
    #[inline(always)]
    pub fn cycles(self, counted: u32) -> u32 {
        (f64::from(counted) * self.factor).round() as u32
    }
}
