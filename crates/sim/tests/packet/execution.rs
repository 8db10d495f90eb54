//! Compares a packet's execution time with the formulas of Salehi, Kurose & Towsley 1994 as printed: eqs. 1
//! to 3 and the binomial of §4.1, without tables.

use crate::machines::model;
use proptest::prelude::*;
use proptest::sample::select;
use warmcore_costs::{Experiment, Profile, Situation, ThreadStack};
use warmcore_scenario::Parallelism;
use warmcore_units::Nanos;

/// The error of a tabulated F(x), as `warmcore_costs` states it.
const TABULATED: f64 = 2e-4;

/// Table 2: t_hot,hot of A1 to B3 and t_cold,hot of the same, with the thread's stack cached; then both with
/// the stack migrating; in microseconds.
const LOCKING: [[f64; 6]; 4] = [
    [66.6, 83.3, 103.0, 105.1, 111.3, 130.2],
    [91.9, 111.4, 131.2, 129.0, 139.9, 158.1],
    [86.8, 103.9, 124.6, 125.8, 130.8, 149.9],
    [110.2, 130.5, 148.9, 146.9, 155.3, 173.1],
];
const IPS: [[f64; 6]; 4] = [
    [57.4, 74.0, 87.5, 77.0, 89.7, 102.5],
    [80.5, 100.2, 113.8, 100.1, 116.9, 128.9],
    [77.3, 94.0, 108.4, 97.4, 108.7, 121.9],
    [98.5, 118.4, 130.7, 117.0, 131.6, 143.9],
];
/// t_cold,cold.
const FULLY_COLD: [f64; 2] = [284.3, 232.2];

/// F(x) of a direct-mapped cache of `size` bytes in lines of `line`, with `x` in microseconds.
fn flushed(x: f64, size: f64, line: f64) -> f64 {
    let (w, a, b, log_d) = (2.198_27_f64, 0.033_233, 0.827_457, -0.130_25);
    let references = x * 100.0 / 5.0;
    let d = 10_f64.powf(log_d);
    let touched = w * line.powf(a) * references.powf(b) * d.powf(line.log10() * references.log10());
    // Eq. 1 can exceed the number of references when there are few.
    1.0 - (1.0 - line / size).powf(touched.min(references))
}

/// Eq. 3.
fn printed(approach: Parallelism, situation: Situation, x: f64) -> f64 {
    let (table, cold) = match approach {
        Parallelism::Locking => (LOCKING, FULLY_COLD[0]),
        Parallelism::Ips | Parallelism::Hybrid => (IPS, FULLY_COLD[1]),
    };
    let rows = 2 * usize::from(situation.thread_stack == ThreadStack::Migrates);
    let column = Experiment::ALL.iter().position(|&experiment| experiment == situation.experiment);
    let column = column.expect("one of the six");
    let (hot, cold_hot) = (table[rows][column], table[rows + 1][column]);
    let (f1, f2) = (flushed(x, 32_768.0, 32.0), flushed(x, 1_048_576.0, 128.0));
    (1.0 - f1) * hot + f1 * ((1.0 - f2) * cold_hot + f2 * cold)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Idle times from 0.1 µs, two references, to 3 hours. The error of each F is weighted by the difference
    /// of the times between which it interpolates; those add up to no more than the whole range.
    #[test]
    fn the_model_is_the_printed_one(
        approach in select(&[Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid]),
        situation in select(Situation::all().collect::<Vec<_>>()),
        exponent in -1.0..10.0_f64,
    ) {
        let model = model(&Profile::sgi_challenge_xl(), approach, 8);
        let x = 10_f64.powf(exponent);
        let expected = printed(approach, situation, x);
        let range = printed(approach, situation, 1e15) - printed(approach, situation, 1e-9);
        let idle = Nanos::from_micros(x);
        for time in [model.receive_after(situation, idle), model.receive(situation, |_| idle)] {
            let error = (time.micros() - expected).abs();
            prop_assert!(error <= 2.0 * TABULATED * range, "{time} instead of {expected} µs");
        }
    }
}
