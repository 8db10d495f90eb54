//! A second implementation of the model, written from the paper, compared with the simulator packet by
//! packet.
//!
//! The oracle keeps a log of everything that happened and a list of all waiting packets, and searches them
//! for whatever it needs. It shares no state or bookkeeping with the simulator. It does share three things:
//! the service time of a *named situation after a known idle time*, so that the comparison is exact to the
//! bit and equal times stay equal (the module [`execution`](crate::execution) compares that function with the
//! formulas of Salehi 1994); the hash of streams; and the choices of the adaptive policy's shadow simulation.

mod adaptive;
mod caches;
mod locks;
mod machine;
mod policies;

use crate::cases::{self, Case};
use crate::listed::finished;
use proptest::prelude::*;

/// Runs both implementations on `case` and fails at the first packet on which they differ.
fn compare(case: &Case) -> Result<(), TestCaseError> {
    let model = case.model();
    let host = case.host(&model);
    let (simulated, expected) = (finished(&host, &case.arrivals), machine::process(&host, &case.arrivals));
    for (position, (simulated, expected)) in simulated.iter().zip(&expected).enumerate() {
        prop_assert_eq!(simulated, expected, "packet {} to finish, simulator first", position);
    }
    prop_assert_eq!(simulated.len(), expected.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, max_shrink_iters: 3_000, ..ProptestConfig::default() })]

    /// Times are multiples of one unit, so that many events happen at the same time.
    #[test]
    fn whole_times(case in cases::whole()) {
        compare(&case)?;
    }

    /// The published machine, whose caches are flushed gradually.
    #[test]
    fn published_times(case in cases::published()) {
        compare(&case)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// Long and varied enough for the adaptive policy to change its choice.
    #[test]
    fn changing_loads(case in cases::changing()) {
        compare(&case)?;
    }
}
