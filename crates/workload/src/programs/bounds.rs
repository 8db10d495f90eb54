//! A cube around all particles, which all processors find together.

use super::cost::{FLOP, LOOP, Pace};
use super::vector::{load_vector, store_vector};
use super::{Address, Home, Image, SharedMemory};

/// A cube, or a square.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Cube<const D: usize> {
    pub(super) centre: [f64; D],
    pub(super) side: f64,
}

/// For each processor, the least and the largest coordinates of its particles.
#[derive(Debug)]
pub(super) struct Bounds<const D: usize> {
    slots: Address,
}

/// Words of a processor's slot: a cache line, so that no line has two writers.
const SLOT: u64 = 8;

impl<const D: usize> Bounds<D> {
    pub(super) fn new(image: &mut Image, processors: u32) -> Self {
        const { assert!(2 * D as u64 <= SLOT) };
        Self { slots: image.allocate(8 * SLOT * u64::from(processors), Home::Interleaved) }
    }

    fn slot(&self, processor: u32) -> (Address, Address) {
        let slot = self.slots.word(SLOT * u64::from(processor));
        (slot, slot.word(D as u64))
    }

    /// Publishes the bounds of this processor's `places`.
    pub(super) fn publish<M: SharedMemory>(
        &self,
        memory: &M,
        pace: Pace,
        places: impl Iterator<Item = Address>,
    ) {
        let comparing = pace.cycles(2 * D as u32 * FLOP + LOOP);
        let mut bounds = ([f64::INFINITY; D], [f64::NEG_INFINITY; D]);
        for place in places {
            let place: [f64; D] = load_vector(memory, place);
            bounds = widen(bounds, (place, place));
            memory.compute(comparing);
        }
        let (least, largest) = self.slot(memory.processor());
        store_vector(memory, least, bounds.0);
        store_vector(memory, largest, bounds.1);
    }

    /// A cube that has all places inside, after a barrier.
    pub(super) fn cube<M: SharedMemory>(&self, memory: &M, pace: Pace) -> Cube<D> {
        let comparing = pace.cycles(2 * D as u32 * FLOP + LOOP);
        let mut bounds = ([f64::INFINITY; D], [f64::NEG_INFINITY; D]);
        for processor in 0..memory.processors() {
            let (least, largest) = self.slot(processor);
            bounds = widen(bounds, (load_vector(memory, least), load_vector(memory, largest)));
            memory.compute(comparing);
        }
        Cube::with_corners(bounds)
    }
}

impl<const D: usize> Cube<D> {
    /// The cube around `places`.
    pub(super) fn around(places: impl Iterator<Item = [f64; D]>) -> Self {
        let nothing = ([f64::INFINITY; D], [f64::NEG_INFINITY; D]);
        Self::with_corners(places.fold(nothing, |bounds, place| widen(bounds, (place, place))))
    }

    fn with_corners((least, largest): Corners<D>) -> Self {
        let widest = (0..D).map(|k| largest[k] - least[k]).fold(0.0, f64::max);
        let centre = core::array::from_fn(|k| least[k] + (largest[k] - least[k]) / 2.0);
        // A little wider, so that no place lies on the border.
        Self { centre, side: widest * 1.001 + f64::MIN_POSITIVE }
    }
}

type Corners<const D: usize> = ([f64; D], [f64; D]);

fn widen<const D: usize>(bounds: Corners<D>, other: Corners<D>) -> Corners<D> {
    (
        core::array::from_fn(|k| bounds.0[k].min(other.0[k])),
        core::array::from_fn(|k| bounds.1[k].max(other.1[k])),
    )
}
