//! What a process refers to: references drawn from a description, at addresses of memory that was given page by page.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Zipf};
use std::sync::Arc;
use warmcore_cachesim::{Kind, Owner, Reference};
use warmcore_scenario::runqueue::{Part, Pattern, References};
use warmcore_workload::random::Random;

/// Bytes of a page, as of most machines.
const PAGE: u64 = 4096;
/// Bits of a page's number that are drawn: those that choose sets in a cache of up to 256 MiB a way. What is above them counts
/// pages, so that no two are the same.
const DRAWN_BITS: u32 = 16;
/// The longest reference, in bytes.
const LONGEST: u32 = 4;

/// Memory that is given to processes: each page at a place of its own, its sets drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pages: u64,
}

impl Memory {
    /// The addresses of `bytes` bytes, page by page.
    pub(super) fn take(&mut self, bytes: u64, random: &mut Random) -> Arc<[u64]> {
        let page = |_| {
            self.pages += 1;
            let drawn = random.random_range(0..1_u64 << DRAWN_BITS);
            (self.pages << DRAWN_BITS | drawn) * PAGE
        };
        (0..bytes.div_ceil(PAGE)).map(page).collect()
    }

    /// The parts of `references` that processes share; nothing for the others.
    pub(super) fn take_shared(
        &mut self,
        references: &References,
        random: &mut Random,
    ) -> Vec<Option<Arc<[u64]>>> {
        let shared = |part: &Part| part.is_shared().then(|| self.take(part.bytes(), random));
        references.parts.iter().map(shared).collect()
    }
}

/// The references of one process, without end.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    random: Random,
    owner: Owner,
    parts: Vec<Walk>,
}

/// How a process goes through a part.
#[derive(Clone, Debug)]
struct Walk {
    /// A draw of 32 bits below this is for this part or one before.
    up_to: u32,
    /// One below this is for a store.
    stores: u32,
    kind: Kind,
    size: u16,
    element_bits: u32,
    elements: u64,
    next: Next,
    pages: Arc<[u64]>,
}

/// Which element comes next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// From `at` on, in order; a block from `from` to `to`, `repeats` times in all, `left` of them to go.
    Blocks {
        at: u64,
        from: u64,
        to: u64,
        block: u64,
        repeats: u32,
        left: u32,
    },
    Uniform,
    Zipf(Zipf<f64>),
}

impl Stream {
    /// The references of a process that sends them as `owner`. `shared` holds the pages of the parts that it has in common
    /// with others, the rest is taken from `memory`, with what `pages` draws.
    pub(super) fn new(
        references: &References,
        owner: Owner,
        random: Random,
        shared: &[Option<Arc<[u64]>>],
        (memory, pages): (&mut Memory, &mut Random),
    ) -> Self {
        let sum: f64 = references.parts.iter().map(|part| part.share).sum();
        let mut so_far = 0.0;
        let mut parts = Vec::new();
        for (part, shared) in references.parts.iter().zip(shared) {
            so_far += part.share / sum;
            let taken = shared.clone().unwrap_or_else(|| memory.take(part.bytes(), pages));
            parts.push(Walk::new(part, so_far, taken));
        }
        // What rounding leaves belongs to the last that is referred to at all.
        if let Some(last) = parts.iter_mut().zip(&references.parts).rfind(|(_, part)| part.share > 0.0) {
            last.0.up_to = u32::MAX;
        }
        Self { random, owner, parts }
    }

    /// What it goes on to draw from.
    pub(super) fn random(&self) -> Random {
        self.random.clone()
    }

    /// The next reference.
    #[inline]
    pub(super) fn next(&mut self) -> Reference {
        let drawn = self.random.next_u64();
        let (place, store) = ((drawn >> 32) as u32, drawn as u32);
        let chosen = self.parts.iter().position(|part| place <= part.up_to).unwrap_or(0);
        let part = &mut self.parts[chosen];
        let offset = part.next.element(part.elements, &mut self.random) << part.element_bits;
        let address = part.pages[(offset / PAGE) as usize] + offset % PAGE;
        let kind = if store < part.stores { Kind::Store } else { part.kind };
        Reference::new(kind, address, part.size).by(self.owner)
    }
}

impl Walk {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive float saturates")]
    fn new(part: &Part, up_to: f64, pages: Arc<[u64]>) -> Self {
        let elements = part.elements();
        let in_blocks = |block: u64, repeats| {
            let block = block.clamp(1, elements);
            Next::Blocks { at: 0, from: 0, to: block, block, repeats, left: repeats }
        };
        let next = match part.pattern {
            Pattern::Sweep => in_blocks(elements, 1),
            Pattern::Loop { block_kib, repeats } => {
                in_blocks((block_kib * 1024.0) as u64 / u64::from(part.element_bytes), repeats)
            }
            Pattern::Zipf { exponent } => {
                Zipf::new(elements as f64, exponent).map_or(Next::Uniform, Next::Zipf)
            }
            Pattern::Uniform => Next::Uniform,
        };
        let whole = f64::from(u32::MAX);
        Self {
            up_to: (up_to * whole) as u32,
            stores: (part.stores * whole) as u32,
            kind: if part.code { Kind::Fetch } else { Kind::Load },
            size: part.element_bytes.min(LONGEST) as u16,
            element_bits: part.element_bytes.trailing_zeros(),
            elements,
            next,
            pages,
        }
    }
}

impl Next {
    #[inline]
    fn element(&mut self, elements: u64, random: &mut Random) -> u64 {
        match self {
            Self::Blocks { at, from, to, block, repeats, left } => {
                let element = *at;
                *at += 1;
                if *at == *to {
                    *left -= 1;
                    if *left == 0 {
                        *from = if *to == elements { 0 } else { *to };
                        *to = (*from + *block).min(elements);
                        *left = *repeats;
                    }
                    *at = *from;
                }
                element
            }
            Self::Uniform => random.random_range(0..elements),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 1 to their number"
            )]
            Self::Zipf(ranks) => (ranks.sample(random) as u64).clamp(1, elements) - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::collections::HashSet;

    const SEED: u64 = 1995;

    fn part(kib: f64, share: f64, pattern: Pattern) -> Part {
        Part { kib, share, pattern, element_bytes: 16, stores: 0.0, shared: false, code: false }
    }

    fn streams<const N: usize>(parts: Vec<Part>) -> [Stream; N] {
        println!("seed {SEED}");
        let random = Random::seed_from_u64;
        let references = References { per_us: 1.0, parts };
        let mut memory = Memory::default();
        let shared = memory.take_shared(&references, &mut random(SEED));
        let owners: [u32; N] = std::array::from_fn(|owner| owner as u32);
        owners.map(|owner| {
            let seed = SEED + u64::from(owner);
            Stream::new(&references, Owner(owner), random(seed), &shared, (&mut memory, &mut random(!seed)))
        })
    }

    #[test]
    fn a_loop_goes_through_each_block_before_the_next() {
        let pattern = Pattern::Loop { block_kib: 0.0625, repeats: 2 };
        let [mut stream] = streams([part(0.15625, 1.0, pattern)].to_vec());
        let elements: Vec<u64> = (0..24).map(|_| stream.next().address % PAGE / 16).collect();
        // Ten elements in blocks of four; the last block is half as long.
        let round = [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 9, 8, 9];
        assert_eq!(elements[..20], round);
        assert_eq!(elements[20..], round[..4]);
    }

    #[test]
    fn parts_are_referred_to_by_their_shares_and_shared_by_those_who_share() {
        let own = Part { stores: 0.25, ..part(8.0, 3.0, Pattern::Uniform) };
        let common = Part { shared: true, ..part(4.0, 1.0, Pattern::Zipf { exponent: 1.0 }) };
        let both: [Stream; 2] = streams(vec![own, common]);
        let pages = both.map(|mut stream| {
            let references: Vec<Reference> = (0..40_000).map(|_| stream.next()).collect();
            let stores = references.iter().filter(|one| one.kind == Kind::Store).count() as f64;
            // Four standard deviations of a binomial number are 350.
            assert!((stores - 7500.0).abs() < 350.0, "{stores}");
            references.iter().map(|one| one.address / PAGE).collect::<HashSet<u64>>()
        });
        assert_eq!((pages[0].len(), pages[1].len()), (3, 3));
        assert_eq!(pages[0].intersection(&pages[1]).count(), 1);
    }
}
