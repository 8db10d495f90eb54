//! The service time of a packet in each situation that the shadow simulation distinguishes.

use alloc::vec::Vec;
use warmcore_units::Nanos;

/// How processors share the protocol stacks. This decides which lines a packet can find on its processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackSharing {
    /// One stack for all processors (Locking): session and history lines move to the processor
    /// of each packet.
    Shared,
    /// Several stacks, each processing one packet at a time on any processor (IPS): their lines
    /// move with them.
    Independent,
    /// A stack for each processor, in which every stream is open (Hybrid): nothing moves.
    PerProcessor,
}

/// Where a packet finds the lines of its stack that packets write (Salehi, Kurose & Towsley 1994, §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheState {
    /// Whether its session lines were last written on this processor.
    pub session_here: bool,
    /// Where its history lines were last written.
    pub history: History,
}

/// Who wrote the history lines that a packet finds, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum History {
    /// Its own stream: the packet does not write them again.
    Unwritten,
    /// Another stream, on this processor.
    Here,
    /// Another stream, on another processor.
    Elsewhere,
}

impl CacheState {
    const COUNT: usize = 6;

    /// Everything was last written on this processor.
    const WARMEST: Self = Self { session_here: true, history: History::Unwritten };

    #[inline]
    const fn index(self) -> usize {
        self.session_here as usize * 3 + self.history as usize
    }

    /// Every case, in the order of their indices.
    fn all() -> [Self; Self::COUNT] {
        let cases = [History::Unwritten, History::Here, History::Elsewhere];
        core::array::from_fn(|index| Self { session_here: index >= 3, history: cases[index % 3] })
    }
}

/// The table holds powers of two up to this one: 2^42 ns are more than an hour.
const OCTAVES: usize = 42;
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const ONE: u64 = 1.0_f64.to_bits();

/// Service times by cache state and by how long the processor has run no protocol code. The table
/// holds times for 0 ns and for powers of two nanoseconds; between them they are interpolated linearly. A
/// case that cannot occur may be NaN.
#[derive(Clone, Debug)]
pub struct ServiceTimes {
    /// After 0, 1, 2, 4, … ns.
    rows: Vec<[f64; CacheState::COUNT]>,
    coldest: f64,
}

impl ServiceTimes {
    /// Tabulates `time`: the service time of a packet by cache state and idle time.
    #[must_use]
    pub fn from_fn(time: impl Fn(CacheState, Nanos) -> Nanos) -> Self {
        let row = |idle: Nanos| CacheState::all().map(|found| time(found, idle).0);
        let powers = (0..=OCTAVES).map(|octave| row(Nanos((1_u64 << octave) as f64)));
        let rows = core::iter::once(row(Nanos::ZERO)).chain(powers).collect();
        Self { rows, coldest: time(CacheState::WARMEST, Nanos::INFINITY).0 }
    }

    /// The service time of a packet that finds `found` after its processor was idle for `idle`.
    #[must_use]
    #[inline]
    pub fn get(&self, found: CacheState, idle: Nanos) -> Nanos {
        let column = found.index();
        let (row, place) = position(idle);
        let [low, high] = [row, row + 1].map(|row| self.rows[row.min(OCTAVES + 1)][column]);
        Nanos(low + (high - low) * place)
    }

    /// The shortest service time.
    #[must_use]
    pub fn hottest(&self) -> Nanos {
        self.get(CacheState::WARMEST, Nanos::ZERO)
    }

    /// The longest service time divided by the shortest.
    #[must_use]
    pub fn cold_to_hot(&self) -> f64 {
        self.coldest / self.hottest().0
    }
}

/// The row at or before `idle`, and the position of `idle` between it and the next row, from 0 to 1.
#[inline]
fn position(idle: Nanos) -> (usize, f64) {
    if idle.0 < 1.0 {
        return (0, idle.0.max(0.0));
    }
    let bits = idle.0.to_bits();
    let octave = ((bits - ONE) >> MANTISSA_BITS) as usize;
    if octave >= OCTAVES {
        return (OCTAVES + 1, 0.0);
    }
    // The mantissa alone is between 1 and 2.
    let place = f64::from_bits(ONE | (bits & ((1 << MANTISSA_BITS) - 1))) - 1.0;
    (octave + 1, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A service time that grows logarithmically with idle time and differs by case.
    fn curved(found: CacheState, idle: Nanos) -> Nanos {
        Nanos(100.0 + found.index() as f64 + (1.0 + idle.0.min(1e12)).ln())
    }

    proptest! {
        /// Interpolating ln over an octave errs by less than 0.06, always downwards.
        #[test]
        fn tabled_times_are_near_the_exact_ones(exponent in -2.0_f64..12.0, case in 0..CacheState::COUNT) {
            let (found, idle) = (CacheState::all()[case], Nanos(10_f64.powf(exponent)));
            let times = ServiceTimes::from_fn(curved);
            let error = times.get(found, idle) - curved(found, idle);
            prop_assert!((-0.2..=1e-9).contains(&error.0), "{error} at {idle}");
        }
    }

    #[test]
    fn both_ends_of_the_table_are_exact_and_times_are_constant_beyond_it() {
        let times = ServiceTimes::from_fn(curved);
        assert_eq!(times.hottest(), curved(CacheState::WARMEST, Nanos::ZERO));
        let last = curved(CacheState::WARMEST, Nanos((1_u64 << OCTAVES) as f64));
        for idle in [Nanos((1_u64 << OCTAVES) as f64), Nanos(1e300), Nanos::INFINITY] {
            assert_eq!(times.get(CacheState::WARMEST, idle), last);
        }
    }
}
