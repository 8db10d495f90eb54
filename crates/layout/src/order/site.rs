//! Where functions are to be placed.

use crate::simulate;
use warmcore_cachesim::Description;
use warmcore_topology::Geometry;
use warmcore_units::{Bytes, Fault};

/// Memory for functions, and the caches that it is seen through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The first byte: a multiple of `alignment`.
    pub base: u64,
    /// Each function begins at a multiple of it: a power of two.
    pub alignment: Bytes,
    /// The nearest cache for instructions.
    pub instructions: Geometry,
    /// The next one, if there is one.
    pub further: Option<Geometry>,
}

/// Addresses and caches beyond are refused, so that no sum leaves 64 bits.
const MAX_BASE: u64 = 1 << 62;
const MAX_CACHE: u64 = 1 << 36;

impl Site {
    /// A site before the caches of the first cpu of `description`.
    ///
    /// # Errors
    /// If there can be no such caches, none is for instructions, or [`check`](Self::check) finds a fault.
    pub fn new(description: &Description, base: u64, alignment: Bytes) -> Result<Self, Fault> {
        let (instructions, further) = simulate::instruction_caches(description)?;
        let site = Self { base, alignment, instructions, further };
        site.check()?;
        Ok(site)
    }

    /// Checks that such a site can be.
    ///
    /// # Errors
    /// If the alignment is no power of two or larger than a way of the cache, the base is no multiple of it or above 2⁶²,
    /// or a cache's line or number of sets is no power of two, or it has more than 64 GiB.
    pub fn check(&self) -> Result<(), Fault> {
        check_cache("instructions", &self.instructions)?;
        if let Some(further) = &self.further {
            check_cache("further", further)?;
        }
        if !self.alignment.0.is_power_of_two() || self.alignment.0 > self.way() {
            let expected = format!("a power of two, at most {}, a way of the cache", Bytes(self.way()));
            return Err(Fault::new("alignment", self.alignment, expected));
        }
        if !self.base.is_multiple_of(self.alignment.0) || self.base > MAX_BASE {
            let expected = format!("a multiple of {}, at most 2^62", self.alignment);
            return Err(Fault::new("base", format!("{:#x}", self.base), expected));
        }
        Ok(())
    }

    /// Bytes after which addresses meet the same set of the instruction cache again.
    pub(super) const fn way(&self) -> u64 {
        self.instructions.line.0 * self.instructions.sets()
    }

    /// The same of the cache further away, if there is one.
    pub(super) fn further_way(&self) -> u64 {
        self.further.map_or(self.way(), |further| (further.line.0 * further.sets()).max(self.way()))
    }

    /// What parts of the cache begin at: lines, at addresses where functions may be.
    pub(super) fn unit(&self) -> u64 {
        self.instructions.line.0.max(self.alignment.0)
    }
}

fn check_cache(field: &str, cache: &Geometry) -> Result<(), Fault> {
    let possible = cache.line.0.is_power_of_two()
        && cache.ways > 0
        && cache.size.0 <= MAX_CACHE
        && cache.sets().is_power_of_two()
        && cache.sets().checked_mul(cache.line.0).and_then(|way| way.checked_mul(cache.ways.into()))
            == Some(cache.size.0);
    if possible {
        return Ok(());
    }
    let found = format!("{} in {} ways of lines of {}", cache.size, cache.ways, cache.line);
    Err(Fault::new(field, found, "powers of two for lines and sets, which make up its size, at most 64 GiB"))
}
