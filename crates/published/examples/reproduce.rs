//! Reproduces Salehi, Kurose & Towsley 1994 and prints its claims, with no files and no command line:
//! `cargo run --release -p warmcore-published --example reproduce -- [--quick] [FIGURE]...`

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use warmcore_published::Summary;
use warmcore_published::salehi_1994::{FigureName, ReproductionOptions, reproduce, source};

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let figures = source().figures_named(&names)?;
    let mut options = if flags.contains(&"--quick".to_owned()) {
        ReproductionOptions::quick()
    } else {
        ReproductionOptions::default()
    };
    options.figures =
        Some(figures.iter().filter_map(|name| FigureName::named(name)).collect::<BTreeSet<_>>());
    let begun = Instant::now();
    let simulations = reproduce(options, |_| None, |_, _| Ok(()), |_, _| (), &AtomicBool::new(false))?;
    let (settings, unsettled) = (simulations.settings().count(), simulations.unsettled().count());
    println!("{settings} settings in {:.1?}; {unsettled} points missed the precision", begun.elapsed());
    let reproduction = source().conclude(simulations, figures);
    for one in &reproduction.claims {
        println!("{}\t{}\t{}\t{}", one.claim.id, one.claim.published, one.our_values(), one.verdict);
    }
    println!("{:?}", Summary::new(&reproduction).verdicts);
    Ok(())
}
