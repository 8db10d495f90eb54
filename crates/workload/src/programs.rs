//! Parallel programs that work on shared memory: what the processors of a simulated cluster execute (Falsafi 1998, Tables 4.1
//! and 5.2).
//!
//! A [`Program`] lays out its data in an [`Image`], and every processor then runs the same code on a [`SharedMemory`]. The program
//! computes real results, which it checks in the image at the end. It does not know whether the memory is a plain array, or the
//! simulated caches, buses and messages of a cluster that move the data about.
//!
//! | module | holds |
//! |---|---|
//! | [`memory`] | what a program may do: loads, stores, locks, barriers, computing |
//! | [`image`] | the shared address space at rest: allocation, homes, initial data, results |

pub mod barnes;
mod bounds;
pub mod catalogue;
mod cells;
pub mod cholesky;
mod complex;
pub mod cost;
pub mod em3d;
pub mod fft;
pub mod fmm;
pub mod gauss;
pub mod image;
mod input;
pub mod lu;
pub mod memory;
pub mod radix;
mod vector;
pub mod water_sp;

pub use barnes::Barnes;
pub use catalogue::{AnyPrepared, AnyProgram, Size};
pub use cholesky::Cholesky;
pub use cost::Pace;
pub use em3d::Em3d;
pub use fft::Fft;
pub use fmm::Fmm;
pub use gauss::Gauss;
pub use image::{Home, Image, Region};
pub use lu::Lu;
pub use memory::{Address, BarrierId, LockId, SharedMemory};
pub use radix::Radix;
pub use water_sp::WaterSp;

use core::fmt;
use warmcore_units::Fault;

/// A parallel program with its input.
pub trait Program {
    /// The program with its data laid out.
    type Prepared: Prepared;

    /// Its name, as the source writes it.
    fn name(&self) -> &'static str;

    /// Allocates the shared data for `processors` processors and writes the input. This takes no simulated time.
    ///
    /// # Errors
    /// If a size in the input is impossible, by itself or with so many processors.
    fn prepare(&self, image: &mut Image, processors: u32) -> Result<Self::Prepared, Fault>;
}

/// A program whose data lie in an [`Image`].
pub trait Prepared {
    /// What each processor executes. It ends when all processors have left it.
    fn run<M: SharedMemory>(&self, memory: &M);

    /// Checks the results at the end.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check(&self, image: &Image) -> Result<(), WrongResult>;

    /// A number made of every bit of the results. It is the same for any number of processors and any machine, unless
    /// the program says otherwise.
    fn digest(&self, image: &Image) -> u64;
}

/// A result that is not what the program must compute.
#[derive(Clone, PartialEq, Debug)]
pub struct WrongResult {
    /// What was checked, with its place, such as `row 3 of the inverse transform`.
    pub what: String,
    /// What was expected there.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for WrongResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.what, self.expected, self.found)
    }
}

impl core::error::Error for WrongResult {}
