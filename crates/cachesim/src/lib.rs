//! Caches, simulated: a stream of references in, misses and cycles out. It reads no file and no clock; who has a trace
//! hands it over, reference by reference or whole.
//!
//! # From a machine to counts
//!
//! ```text
//!  Description ── check ──► Hierarchy<O> ── access(cpu, Reference) ──► Served: cycles, depth
//!  caches, policies,          │     │
//!  latencies, who shares      │     └── counts() ──► accesses and misses by cache and cause
//!                             └── observer() ──► what O watched
//! ```
//!
//! A [`Description`] says what caches there are: from a [`topology::Machine`](warmcore_topology::Machine), written out, or
//! one of [`machines`]. Levels are split or unified, and private or shared. [`Hierarchy::build`] checks it and makes empty
//! caches. A [`Reference`] is a fetch, load or store of some bytes on behalf of an [`Owner`]: a process, a function.
//!
//! # What happens to a reference
//!
//! It is looked for in the nearest cache of its cpu and kind, then in the next, up to memory. Each cache that does not have
//! its line brings it in, and if the set is full another makes way ([`Replacement`]). It takes as many cycles
//! as the cache that has it takes, and nothing overlaps.
//!
//! - A line that was **changed** and makes way is marked in the next cache that has it, or written to memory. That is no
//!   access there: what caches hold does not depend on it.
//! - A **write-through** cache ([`Writes::Through`]) brings nothing in for a store and passes it on: to the next
//!   cache, which waits for nothing, or into a [`WriteBuffer`], where stores to one block merge.
//! - An **inclusive** cache takes what it loses from those nearer to the cpus.
//! - A **store** takes the line out of other processors' data caches that it does not pass through. Which instructions
//!   change is not followed.
//! - **Addresses** are those of the caller: there is no translation.
//!
//! # What is watched
//!
//! Counts by cache and [`Cause`] are always kept. More is up to the observer, a type, so that what nobody asks for costs
//! nothing: kinds of miss, owners, who displaces whom, unused words ([`observe`]).
//!
//! # Speed
//!
//! [`Hierarchy::run`] takes a whole trace. Where nothing is watched and no cache affects a nearer one (a single cpu, nothing
//! inclusive, no write-through, no prefetch) it goes through the caches in batches, one cache after the other, with the same
//! results. `make bench-cachesim` measures it.
//!
//! # Example
//!
//! Two functions that share a set of a direct-mapped instruction cache displace each other at every call; moved 32 bytes
//! apart they do not. This is what the layout of code is about (Mosberger et al. 1996, §3).
//!
//! ```
//! use warmcore_cachesim::observe::{Displacements, MissKind, MissKinds};
//! use warmcore_cachesim::{CacheId, Hierarchy, Kind, Owner, Reference, machines};
//! use warmcore_units::{CpuId, Cycles};
//!
//! /// The second of the DEC 3000/600's caches: 8 KiB for instructions.
//! const INSTRUCTIONS: CacheId = CacheId(1);
//! let machine = machines::dec_3000_600(Cycles(50));
//!
//! // Calls two functions of 32 bytes in turn, ten times.
//! let misses = |first: u64, second: u64| {
//!     let observers = (MissKinds::new(&machine), Displacements::default());
//!     let mut caches = Hierarchy::observed(&machine, observers)?;
//!     for call in 0..20 {
//!         let (owner, start) = if call % 2 == 0 { (Owner(1), first) } else { (Owner(2), second) };
//!         for instruction in 0..8 {
//!             let fetch = Reference::new(Kind::Fetch, start + 4 * instruction, 4).by(owner);
//!             caches.access(CpuId(0), fetch);
//!         }
//!     }
//!     let (kinds, displacements) = caches.observer();
//!     let of_first = kinds.of_owner(INSTRUCTIONS, Owner(1));
//!     let by_second: u64 = displacements
//!         .misses(INSTRUCTIONS)
//!         .filter(|(pair, _)| (pair.victim, pair.by) == (Owner(1), Owner(2)))
//!         .map(|(_, times)| times)
//!         .sum();
//!     Ok::<_, warmcore_units::Fault>((of_first.get(MissKind::First), of_first.get(MissKind::Conflict), by_second))
//! };
//! assert_eq!(misses(0x1_0000, 0x1_0000 + 8192)?, (1, 9, 9));
//! assert_eq!(misses(0x1_0000, 0x1_0000 + 8192 + 32)?, (1, 0, 0));
//! # Ok::<(), warmcore_units::Fault>(())
//! ```

mod check;
mod counts;
mod description;
mod hierarchy;
pub mod machines;
pub mod observe;
mod reference;
mod sets;

pub use counts::{CacheCounts, CacheId, Cause, Counts};
pub use description::{
    CacheDescription, Description, Prefetch, Replacement, Straddling, WriteBuffer, Writes,
};
pub use hierarchy::{Hierarchy, Served};
pub use observe::{Nothing, Observer};
pub use reference::{Kind, Owner, Reference};
