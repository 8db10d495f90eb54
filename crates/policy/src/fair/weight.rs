//! Nice values as weights: one step is a factor of 1.25, so that it changes the share of two tasks by about a tenth
//! (`sched_prio_to_weight` of `kernel/sched/core.c`, a published table).

/// The weight of nice 0.
pub const NICE_0: u64 = 1024;

/// From nice -20 to nice 19.
const WEIGHTS: [u32; 40] = [
    88_761, 71_755, 56_483, 46_273, 36_291, 29_154, 23_254, 18_705, 14_949, 11_916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56,
    45, 36, 29, 23, 18, 15,
];

/// The weight of a nice value; those beyond -20 and 19 count as these.
#[must_use]
pub fn of_nice(nice: i32) -> u64 {
    let place = (nice.clamp(-20, 19) + 20).unsigned_abs() as usize;
    WEIGHTS[place].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_quarter_and_the_ends_hold() {
        assert_eq!([of_nice(0), of_nice(-99), of_nice(99)], [NICE_0, 88_761, 15]);
        for nice in -20..19 {
            let ratio = of_nice(nice) as f64 / of_nice(nice + 1) as f64;
            assert!((1.15..1.35).contains(&ratio), "{nice}: {ratio}");
        }
    }
}
