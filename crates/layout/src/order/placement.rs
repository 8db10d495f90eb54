//! Functions at addresses.

use super::graph::Node;
use super::site::Site;
use crate::trace::Trace;
use thiserror::Error;
use warmcore_units::Bytes;

/// A function at its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Its index in [`Trace::functions`].
    pub function: u32,
    /// Its first byte.
    pub address: u64,
    /// How many bytes it has there.
    pub size: Bytes,
}

/// Functions at addresses: none twice, none over another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// By address.
    placed: Vec<Placed>,
}

/// Why functions cannot be placed so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum PlacementError {
    /// One has two places.
    #[error("function {function} is placed twice")]
    Twice {
        /// Which.
        function: u32,
    },
    /// Two share bytes.
    #[error("functions {first} and {second} overlap at {address:#x}")]
    Overlap {
        /// The one that begins first.
        first: u32,
        /// The other.
        second: u32,
        /// Where the other begins.
        address: u64,
    },
    /// One is at the end of the address space.
    #[error("function {function} at {address:#x} does not end below 2^64")]
    TooFar {
        /// Which.
        function: u32,
        /// Where it begins.
        address: u64,
    },
}

impl Placement {
    /// Functions at the addresses of `placed`, in any order.
    ///
    /// # Errors
    /// If one is there twice, two overlap, or one does not end below 2⁶⁴.
    pub fn new(mut placed: Vec<Placed>) -> Result<Self, PlacementError> {
        placed.sort_by_key(|one| one.function);
        if let Some(pair) = placed.windows(2).find(|pair| pair[0].function == pair[1].function) {
            return Err(PlacementError::Twice { function: pair[0].function });
        }
        if let Some(&Placed { function, address, .. }) =
            placed.iter().find(|one| one.address.checked_add(one.size.0).is_none())
        {
            return Err(PlacementError::TooFar { function, address });
        }
        placed.sort_by_key(|one| (one.address, one.function));
        match placed.windows(2).find(|pair| pair[0].end() > pair[1].address) {
            Some(pair) => Err(PlacementError::Overlap {
                first: pair[0].function,
                second: pair[1].function,
                address: pair[1].address,
            }),
            None => Ok(Self { placed }),
        }
    }

    /// The functions, by address.
    #[must_use]
    pub fn placed(&self) -> &[Placed] {
        &self.placed
    }

    /// The first byte of `function`, if it has a place.
    #[must_use]
    pub fn address(&self, function: u32) -> Option<u64> {
        self.placed.iter().find(|one| one.function == function).map(|one| one.address)
    }

    /// Bytes from the first function's beginning to the last one's end.
    #[must_use]
    pub fn extent(&self) -> Bytes {
        let ends = self.placed.first().zip(self.placed.last());
        Bytes(ends.map_or(0, |(first, last)| last.end() - first.address))
    }

    /// Bytes of the extent that no function has.
    #[must_use]
    pub fn gaps(&self) -> Bytes {
        let used: u64 = self.placed.iter().map(|one| one.size.0).sum();
        Bytes(self.extent().0 - used)
    }

    /// The same order at `site` without gaps, as a linker makes it that only gets a list.
    #[must_use]
    pub fn packed(&self, site: &Site) -> Self {
        let mut end = site.base;
        let pack = |one: &Placed| {
            let address = end.next_multiple_of(site.alignment.0.max(1));
            end = address.saturating_add(one.size.0);
            Placed { address, ..*one }
        };
        Self { placed: self.placed.iter().map(pack).collect() }
    }

    /// The linker's names of the functions by address: an order without the gaps. A function that `trace` does not have
    /// is left out.
    #[must_use]
    pub fn symbols<'a>(&self, trace: &'a Trace) -> Vec<&'a str> {
        let function = |one: &Placed| trace.functions().get(one.function as usize);
        self.placed.iter().filter_map(function).map(|function| function.symbol.as_str()).collect()
    }
}

impl Placed {
    /// The first byte after it.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.address.saturating_add(self.size.0)
    }
}

/// A placement in the making: strategies place nothing twice and nothing over another.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    alignment: u64,
    /// The first byte after all that is placed.
    end: u64,
    placed: Vec<Placed>,
}

impl Draft {
    pub(super) const fn new(site: &Site) -> Self {
        Self { alignment: site.alignment.0, end: site.base, placed: Vec::new() }
    }

    /// The first address after all that is placed where a function may be.
    pub(super) const fn next(&self) -> u64 {
        self.end.next_multiple_of(self.alignment)
    }

    /// The first byte after all that is placed.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn append(&mut self, node: &Node) {
        self.put(node, self.next());
    }

    pub(super) fn put(&mut self, node: &Node, address: u64) {
        let one = Placed { function: node.function, address, size: node.size };
        self.end = self.end.max(one.end());
        self.placed.push(one);
    }

    /// Whether nothing is placed between `from` and `to`.
    pub(super) fn is_free(&self, from: u64, to: u64) -> bool {
        self.placed.iter().all(|one| one.end() <= from || to <= one.address)
    }

    pub(super) fn finish(mut self) -> Placement {
        self.placed.sort_by_key(|one| one.address);
        debug_assert!(Placement::new(self.placed.clone()).is_ok(), "a strategy places each function once");
        Placement { placed: self.placed }
    }
}
