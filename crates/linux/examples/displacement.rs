//! Measures whether running a [`CodeBlock`] displaces other code from this machine's first-level
//! instruction cache.
//!
//! Times a victim block right after it ran, and again after a displacing block of each size ran
//! in between.

use std::time::{Duration, Instant};
use warmcore_linux::{CodeBlock, Probe, affinity, pin_to};
use warmcore_units::Bytes;

const ROUNDS: usize = 2001;

/// Returns the median time of one run of `victim`. Before each timing the victim runs `uses`
/// times, and then `between` runs once.
fn time_after(victim: &CodeBlock, uses: usize, between: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            (0..uses).for_each(|_| victim.run());
            between();
            let start = Instant::now();
            victim.run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cpu = affinity::mask()?.first().ok_or("no cpu to run on")?;
    let _pinned = pin_to(cpu)?;
    let machine = Probe::new().machine()?.machine;
    let first_level = machine.instruction_cache(cpu).map(|cache| cache.geometry.size);
    let first_level = first_level.ok_or("the size of the instruction cache is hidden here")?;
    println!("{} with {first_level} of instruction cache; medians of {ROUNDS}", machine.name);
    let victim = CodeBlock::new(Bytes(first_level.0 / 4))?;
    for uses in [1, 2, 10] {
        println!(
            "victim of {} run {uses} times before: hot {:?}",
            victim.size(),
            time_after(&victim, uses, || ())
        );
        for factor in [1, 2, 4, 8] {
            let displacing = CodeBlock::new(Bytes(first_level.0 * factor))?;
            let time = time_after(&victim, uses, || displacing.run());
            println!("  after {:>8} of other code: {time:?}", displacing.size().to_string());
        }
    }
    Ok(())
}
