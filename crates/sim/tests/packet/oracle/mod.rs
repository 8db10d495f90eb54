//! The model a second time, written from the text, compared with the simulator packet by packet.
//!
//! The oracle keeps a log of everything that happened and a list of everybody who waits, and
//! searches them whenever it wants to know something. It shares no state or bookkeeping with the
//! simulator. What it does share: the service time of a *named situation after a known idle
//! time*, so that the comparison can be exact to the bit and equal times stay equal (the module
//! [`execution`](crate::execution) compares that function with the source's formulas); the hash of
//! streams; and the verdicts of the adaptive policy's rehearsals.

mod adaptive;
mod caches;
mod locks;
mod machine;
mod policies;

use crate::cases::{self, Case};
use crate::listed::finished;
use proptest::prelude::*;

/// Both implementations on `case`; the first packet on which they differ.
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

    /// Times are whole numbers of a unit, so that many things happen at the same time.
    #[test]
    fn whole_times(case in cases::whole()) {
        compare(&case)?;
    }

    /// The published machine, its caches flushed little by little.
    #[test]
    fn published_times(case in cases::published()) {
        compare(&case)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// Long enough, and loaded differently enough, for the adaptive policy to change its mind.
    #[test]
    fn changing_loads(case in cases::changing()) {
        compare(&case)?;
    }
}
