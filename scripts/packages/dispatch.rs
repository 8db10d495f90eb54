//! A program outside the workspace that uses the dispatch queue.

use warmcore_dispatch::{BuildError, Dispatcher};

fn main() -> Result<(), BuildError> {
    let sums = Dispatcher::<u32, u64>::builder().state(|_| 0).build(|sum: &mut u64, event: u64| *sum += event)?;
    for event in 0..100 {
        sums.dispatch(event as u32 % 2, event).expect("it is open");
    }
    assert_eq!(sums.into_states()[&1], 2500);
    Ok(())
}
