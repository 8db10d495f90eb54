//! A tabulated smooth function of time. The simulator evaluates F(x) or t(x) for every packet, and their
//! powers and binomials would cost more than everything else it does for the packet.
//!
//! Between 1 ns and 2^42 ns (73 minutes) each octave is divided into equal segments, and the function is
//! interpolated linearly inside each. The bits of the float give the segment's number and the position in
//! it. Linear interpolation errs by at most an eighth of the segment's width squared times the second
//! derivative; for the flush curves that is below 2·10⁻⁴ (tested). Below 1 ns the result is only known to
//! lie between the values at 0 and at 1 ns.

use warmcore_units::Nanos;

const OCTAVES: usize = 42;
const SEGMENT_BITS: u32 = 5;
const SEGMENTS: usize = OCTAVES << SEGMENT_BITS;
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
/// Bits of the mantissa below the segment's number.
const PLACE_BITS: u32 = MANTISSA_BITS - SEGMENT_BITS;
/// The number of the segment that starts at 1.0, among the segments of all floats.
const ORIGIN: u64 = 1.0_f64.to_bits() >> PLACE_BITS;
/// The first table index at which the function has its limit.
const BEYOND: usize = SEGMENTS + 2;

/// The table: the value at zero, the values at the start of each segment and at the end of the last, and
/// the limit twice. So every time has an index, without special cases.
#[derive(Clone, Debug)]
pub(super) struct Curve(Box<[f64; BEYOND + 2]>);

impl Curve {
    /// Tabulates `function`.
    pub(super) fn from_fn(function: impl Fn(Nanos) -> f64) -> Self {
        Self(Box::new(core::array::from_fn(|index| {
            function(match index {
                0 => Nanos::ZERO,
                BEYOND.. => Nanos::INFINITY,
                _ => Nanos(start(index as u64 - 1)),
            })
        })))
    }

    /// Tabulates a function of the values of `curves` at the same time.
    pub(super) fn combined<'c>(
        curves: impl Iterator<Item = &'c Self> + Clone,
        function: impl Fn(&mut dyn Iterator<Item = f64>) -> f64,
    ) -> Self {
        let at = |index: usize| function(&mut curves.clone().map(|curve| curve.0[index]));
        Self(Box::new(core::array::from_fn(at)))
    }

    /// The function at `x`, which must not be negative.
    #[inline]
    pub(super) fn at(&self, x: Nanos) -> f64 {
        let bits = x.0.to_bits();
        let segment = (bits >> PLACE_BITS).saturating_sub(ORIGIN - 1).min(BEYOND as u64);
        let index = segment as usize;
        let [low, high] = [self.0[index], self.0[index + 1]];
        // The mantissa's lower bits, shifted up, give the position in the segment as a float from 1 to 2.
        let place = (bits << SEGMENT_BITS) & ((1 << MANTISSA_BITS) - 1);
        let place = f64::from_bits(1.0_f64.to_bits() | place) - 1.0;
        low + (high - low) * place
    }
}

/// Where `segment` starts, in nanoseconds.
#[inline]
const fn start(segment: u64) -> f64 {
    f64::from_bits((segment + ORIGIN) << PLACE_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::displacement::{Displacement, Intervening};
    use warmcore_topology::Geometry;
    use warmcore_units::Bytes;

    #[test]
    fn interpolated_flush_curves_stay_within_the_error_bound() {
        for (size, line, ways) in
            [(32 << 10, 32, 1), (1 << 20, 128, 1), (64 << 10, 64, 8), (1 << 20, 64, 8), (32 << 20, 64, 16)]
        {
            let geometry = Geometry { size: Bytes(size), line: Bytes(line), ways };
            for factor in [0.1, 1.0, 100.0] {
                let mvs = Intervening::MVS;
                let work = Intervening { references_per_us: factor * mvs.references_per_us, ..mvs };
                let exact = Displacement::new(work, geometry, 1);
                let curve = Curve::from_fn(|x| exact.fraction(x));
                for step in 0..20_000 {
                    let x = Nanos(2_f64.powf(f64::from(step) / 20_000.0 * 41.9));
                    let error = (curve.at(x) - exact.fraction(x)).abs();
                    assert!(error < 2e-4, "{size} bytes, {ways} ways, at {x}: {error}");
                }
            }
        }
    }

    #[test]
    fn the_ends_are_exact() {
        let curve = Curve::from_fn(|x| match x.0 {
            f64::INFINITY => 1.0,
            0.0 => 0.25,
            _ => 0.5,
        });
        assert_eq!(curve.at(Nanos::ZERO), 0.25);
        assert_eq!(curve.at(Nanos(1.0)), 0.5);
        assert_eq!(curve.at(Nanos::INFINITY), 1.0);
        assert_eq!(curve.at(Nanos(1e300)), 1.0);
    }
}
