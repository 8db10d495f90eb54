//! Places, velocities and forces in shared memory: a word for each coordinate.

use super::{Address, Image, SharedMemory};

/// Loads the numbers from `at` on.
#[inline(always)]
pub(super) fn load_vector<M: SharedMemory, const D: usize>(memory: &M, at: Address) -> [f64; D] {
    core::array::from_fn(|k| memory.load_f64(at.word(k as u64)))
}

/// Stores numbers from `at` on.
#[inline(always)]
pub(super) fn store_vector<M: SharedMemory, const D: usize>(memory: &M, at: Address, vector: [f64; D]) {
    for (k, number) in (0..).zip(vector) {
        memory.store_f64(at.word(k), number);
    }
}

/// The numbers from `at` on in `image`.
pub(super) fn vector_at<const D: usize>(image: &Image, at: Address) -> [f64; D] {
    core::array::from_fn(|k| image.load_f64(at.word(k as u64)))
}

/// Writes numbers from `at` on to `image`.
pub(super) fn write_vector<const D: usize>(image: &mut Image, at: Address, vector: [f64; D]) {
    for (k, number) in (0..).zip(vector) {
        image.store_f64(at.word(k), number);
    }
}

/// The length of a vector.
pub(super) fn length<const D: usize>(vector: [f64; D]) -> f64 {
    vector.iter().map(|number| number * number).sum::<f64>().sqrt()
}

/// How far two places are apart.
pub(super) fn distance<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    let difference: [f64; D] = core::array::from_fn(|k| a[k] - b[k]);
    length(difference)
}
