//! Averages that fade by half in 32 periods of about a millisecond (`kernel/sched/pelt.c`), in integers.

/// A period of 2^20 ns.
const PERIOD_BITS: u32 = 20;
/// Half is left after so many periods.
const HALF_LIFE: u64 = 32;
/// Values are kept with so many bits behind the point.
const POINT: u32 = 10;

/// What is left of 2^32 after 0 to 31 periods: `2^(32 - n / 32)`.
const LEFT: [u64; 32] = [
    4_294_967_296,
    4_202_935_003,
    4_112_874_773,
    4_024_744_348,
    3_938_502_376,
    3_854_108_391,
    3_771_522_796,
    3_690_706_840,
    3_611_622_603,
    3_534_232_978,
    3_458_501_653,
    3_384_393_094,
    3_311_872_529,
    3_240_905_930,
    3_171_459_999,
    3_103_502_151,
    3_037_000_500,
    2_971_923_842,
    2_908_241_642,
    2_845_924_021,
    2_784_941_738,
    2_725_266_179,
    2_666_869_345,
    2_609_723_834,
    2_553_802_834,
    2_499_080_105,
    2_445_529_972,
    2_393_127_307,
    2_341_847_524,
    2_291_666_561,
    2_242_560_872,
    2_194_507_417,
];

/// An average of a level over the last time, and when it was last brought up to date.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Average {
    value: u64,
    at: u64,
}

impl Average {
    /// One that has always been at `level`.
    pub(super) const fn new(level: u64, now: u64) -> Self {
        Self { value: level << POINT, at: now }
    }

    /// The level was `level` since the last time. Returns the average now.
    pub(super) fn advance(&mut self, level: u64, now: u64) -> u64 {
        let elapsed = now.saturating_sub(self.at);
        self.at = now;
        let level = level << POINT;
        // What differs from the level fades.
        self.value = if self.value >= level {
            level + faded(self.value - level, elapsed)
        } else {
            level - faded(level - self.value, elapsed)
        };
        self.get()
    }

    /// Something that has contributed `amount` joins, with its past.
    pub(super) const fn join(&mut self, amount: u64) {
        self.value += amount << POINT;
    }

    /// Something that has contributed `amount` goes, with its past.
    pub(super) const fn remove(&mut self, amount: u64) {
        self.value = self.value.saturating_sub(amount << POINT);
    }

    pub(super) const fn get(&self) -> u64 {
        self.value >> POINT
    }
}

/// What is left of `value` after `elapsed` nanoseconds. Within a period it falls evenly.
fn faded(value: u64, elapsed: u64) -> u64 {
    let periods = elapsed >> PERIOD_BITS;
    let Ok(halvings) = u32::try_from(periods / HALF_LIFE) else { return 0 };
    let place = (periods % HALF_LIFE) as usize;
    let scaled = |value: u64, left: u64| ((u128::from(value) * u128::from(left)) >> 32) as u64;
    let whole = scaled(value, LEFT[place]).checked_shr(halvings).unwrap_or(0);
    let part = elapsed & ((1 << PERIOD_BITS) - 1);
    let lost = whole - scaled(whole, LEFT[1]);
    whole - ((lost * part) >> PERIOD_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_left_after_32_periods_in_any_number_of_steps() {
        for steps in [1_u64, 7, 32, 100] {
            let mut average = Average::new(1024, 0);
            for step in 1..=steps {
                average.advance(0, (step << 25) / steps);
            }
            assert!(average.get().abs_diff(512) <= 2, "{steps}: {}", average.get());
        }
        let mut average = Average::default();
        assert_eq!(average.advance(1024, 1 << 40), 1024);
        assert_eq!(average.advance(0, u64::MAX), 0);
    }
}
