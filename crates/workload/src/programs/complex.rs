//! Complex numbers, in shared memory two words each.

use super::{Address, SharedMemory};
use core::f64::consts::TAU;

/// Real and imaginary part.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Complex(pub(super) f64, pub(super) f64);

impl Complex {
    pub(super) const ZERO: Self = Self(0.0, 0.0);
    pub(super) const ONE: Self = Self(1.0, 0.0);

    /// e to the power of 2πi·`turns`.
    pub(super) fn root(turns: f64) -> Self {
        let (sine, cosine) = (TAU * turns).sin_cos();
        Self(cosine, sine)
    }

    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        Self(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }

    #[inline(always)]
    pub(super) fn minus(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }

    #[inline(always)]
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self(self.0 * factor, self.1 * factor)
    }

    /// 1 divided by this.
    #[inline(always)]
    pub(super) fn inverse(self) -> Self {
        let scale = 1.0 / (self.0 * self.0 + self.1 * self.1);
        Self(self.0 * scale, -self.1 * scale)
    }

    /// The absolute value.
    pub(super) fn size(self) -> f64 {
        self.0.hypot(self.1)
    }
}

#[inline(always)]
pub(super) fn load<M: SharedMemory>(memory: &M, at: Address) -> Complex {
    Complex(memory.load_f64(at), memory.load_f64(at.word(1)))
}

#[inline(always)]
pub(super) fn store<M: SharedMemory>(memory: &M, at: Address, value: Complex) {
    memory.store_f64(at, value.0);
    memory.store_f64(at.word(1), value.1);
}
