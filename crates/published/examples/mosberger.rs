//! Traces the laboratory of Mosberger et al. 1996 and prints its claims, with no files, no command line and no round trips:
//! `cargo run --release -p warmcore-published --example mosberger -- [--quick]`

use std::error::Error;
use warmcore_published::Summary;
use warmcore_published::mosberger_1996::laboratory::{Effort, simulate};
use warmcore_published::mosberger_1996::source;

fn main() -> Result<(), Box<dyn Error>> {
    let is_quick = std::env::args().any(|word| word == "--quick");
    let effort = if is_quick { Effort::QUICK } else { Effort::FULL };
    let measurements = simulate(effort, &mut |_, _| ())?;
    println!(
        "stack\tbuild\tas it lies: unused instructions of 8, stall cycles\tin random orders, least to greatest"
    );
    for point in &measurements.points {
        let range = |of: fn(&warmcore_published::mosberger_1996::Run) -> f64| {
            let random = || point.runs.iter().skip(1).map(of);
            let ends = (random().reduce(f64::min)?, random().reduce(f64::max)?);
            Some(format!("{:.2} to {:.2}", ends.0, ends.1))
        };
        let Some(own) = point.runs.first() else { continue };
        println!(
            "{}\t{}\t{:.2}, {}\t{:?}, {:?}",
            point.stack,
            point.build,
            8.0 * own.unused,
            own.stall_cycles,
            range(|run| 8.0 * run.unused),
            range(|run| run.stall_cycles as f64),
        );
    }
    let reproduction = source().conclude(measurements, source().figures_named(&[])?);
    for one in &reproduction.claims {
        println!(
            "{}\t{}\t{}\t{}\t{}",
            one.claim.id,
            one.claim.published,
            one.our_values(),
            one.verdict_in_words(),
            one.reason()
        );
    }
    println!("{:?}", Summary::new(&reproduction).verdicts);
    Ok(())
}
