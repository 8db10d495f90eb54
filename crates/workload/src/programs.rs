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
//! | [`cost`] | what computing costs, from one table for all programs, and each program's factor to it |
//! | [`catalogue`] | all programs under one type, by name |
//!
//! | program | what it computes | source of the algorithm | input of the thesis, and what it leaves open |
//! |---|---|---|---|
//! | [`barnes`] | gravitation by a tree | Barnes & Hut 1986; SPLASH-2 | 16K particles; opening, softening and 4 steps of SPLASH-2's default |
//! | [`cholesky`] | factor of a sparse matrix | George, Heath, Liu & Ng 1986; Rothberg & Gupta 1991 | tk29.O; a matrix of the same order, generated |
//! | [`em3d`] | waves on a bipartite graph | Culler et al. 1993 | 76K nodes, taken for each field; degree 5, 15% remote, distance 16, 10 iterations |
//! | [`fft`] | Fourier transform in six steps | Bailey 1990; SPLASH-2 | 1M points |
//! | [`fmm`] | gravitation in the plane by multipoles | Greengard & Rokhlin 1987 | 16K particles; uniform, 20 terms, 5 steps |
//! | [`gauss`] | Gaussian elimination | Cormen, Leiserson & Rivest 1994 | 1920×1920 |
//! | [`lu`] | blocked dense factors | Woo, Singh & Hennessy 1994; SPLASH-2 | 1200×1200, 16×16 blocks |
//! | [`radix`] | sorting by digits | Blelloch et al. 1991; SPLASH-2 | 4M integers, radix 1024; keys below 524,288 |
//! | [`water_sp`] | molecular dynamics of water | SPLASH-2, with the potential of Berendsen et al. 1981 | 4096 molecules; cutoff 6.2 Å, 3 steps |
//!
//! Every program is written anew from these sources. Results are the same bits on any number of processors, but for the total
//! energy of water-sp, and but for em3d, whose default graph is made for the processors that it has.
//!
//! # What the programs do on one processor
//!
//! Counted with the default inputs by the ignored test `table_of_the_default_inputs` of the test program `programs`, in millions
//! but for the memory, the factor, locks and barriers. The cache is direct-mapped, of one megabyte with lines of 64 bytes, the
//! TLB direct-mapped, of 256 entries for pages of 4 KB; private data are in neither. The cycles are one for each reference, 67 more
//! for a miss of the cache, 15 for one of the TLB, and computing, as on the simulated machine. [`Pace`] says how the factors were chosen, so that the agreement
//! with Table 5.3 is no result.
//!
//! | program | MB | loads | stores | cache misses | TLB misses | computing | factor | cycles | Table 5.3 | locks | barriers |
//! |---|---|---|---|---|---|---|---|---|---|---|---|
//! | [`barnes`] | 5 | 122 | 1.3 | 0.8 | 2.6 | 2048.8 | 1.493 | 2262.3 | 2284 | 98462 | 21 |
//! | [`cholesky`] | 14 | 178.5 | 8.4 | 0.6 | 0 | 751.2 | 1.138 | 976.3 | 976 | 20 | 2 |
//! | [`em3d`] | 16 | 29.6 | 1.6 | 8.1 | 4.7 | 87.2 | 1.615 | 732.1 | 740 | 0 | 21 |
//! | [`fft`] | 48 | 56.5 | 54.4 | 4.2 | 2.9 | 2048.9 | 9.837 | 2485.3 | 2489 | 0 | 4 |
//! | [`fmm`] | 1 | 55.2 | 1.3 | 0.2 | 0 | 3277.7 | 2.158 | 3347.3 | 3351 | 81920 | 56 |
//! | [`radix`] | 32 | 16.8 | 8.4 | 2.2 | 7 | 629.3 | 5.771 | 905.4 | 903 | 0 | 7 |
//! | [`water-sp`](water_sp) | 1 | 36.6 | 0.5 | 0 | 0 | 3925.8 | 6.319 | 3965 | 3965 | 16388 | 16 |
//! | [`lu`] | 10 | 647.7 | 36.7 | 5 | 0.4 | 2244.2 | 1.138 | 3268.3 | – | 0 | 226 |
//! | [`gauss`] | 28 | 2363 | 2361.1 | 295 | 6 | 9510.4 | 1.138 | 34090.2 | – | 0 | 1921 |
//!
//! A factor far from 1 shows what the program lacks of the original, or the cost table of the thesis's processor. fft, radix and
//! em3d spend more time on memory than on what is counted as computing: whatever a miss cost there beyond 67 cycles is in their
//! factors. The factor decides how much a program communicates for what it computes, so a comparison should also be made at 1
//! ([`Pace::COUNTED`]).
//!
//! Beside SPLASH-2's own counts of instructions, shared loads and shared stores at its inputs, on 32 processors (Woo et al. 1995,
//! Table 1), in millions; ours on one processor, with the cycles at a factor of 1:
//!
//! | program | input | instructions, loads, stores there | cycles without misses, loads, stores here |
//! |---|---|---|---|
//! | [`barnes`] | 16K particles; here 2 steps | 2003, 225, 93 | 753, 61, 0.6 |
//! | [`fft`] | 64K points | 35, 4.1, 2.9 | 17, 3.0, 2.9 |
//! | [`fmm`] | 16K particles; here 5 steps | 1250, 218, 30 | 1574, 55, 1.3 |
//! | [`lu`] | 512×512 | 494, 93, 45 | 209, 50, 2.9 |
//! | [`radix`] | 1M keys | 51, 12, 7.0 | 34, 4.2, 2.1 |
//! | [`water-sp`](water_sp) | 512 molecules | 435, 61, 23 | 82, 4.6, 0.1 |
//!
//! The programs here keep in private memory, or in registers, what the originals load and store again for each pair of
//! particles or each update: those references hit the cache, and what they cost is in the factors. In water-sp, pairs have nine
//! distances where the original has 14, and the integration is simpler.

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
