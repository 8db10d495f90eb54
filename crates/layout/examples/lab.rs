//! The stacks' paths through the source's caches, in every build: `cargo run --release --package warmcore-layout --example lab`.

use warmcore_cachesim::machines;
use warmcore_layout::lab::{Form, Protocols, Switches, placed, trace};
use warmcore_layout::order::{Site, Strategy};
use warmcore_layout::simulate::{Setup, Start};
use warmcore_layout::trace::Trace;
use warmcore_units::{Bytes, Cycles};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let setup = Setup::new(machines::dec_3000_600(Cycles(50)));
    let start = match std::env::args().nth(1).as_deref() {
        Some("steady") => Start::Steady,
        Some("nearest-cold") => Start::NearestCold,
        _ => Start::Cold,
    };
    let setup = setup.starting(start);
    let site = Site::new(&setup.caches, 0x0400_0000, Bytes(4))?;
    for protocols in Protocols::ALL {
        println!("{protocols:?}");
        for form in Form::ALL {
            let traced = trace(&form.image()?, protocols, Switches::IMPROVED)?;
            show(&format!("{form:?}"), &setup, &traced)?;
            for strategy in Strategy::ALL {
                let image = placed(&form.image()?, protocols, strategy, &site)?;
                show(
                    &format!("{form:?} {strategy:?}"),
                    &setup,
                    &trace(&image, protocols, Switches::IMPROVED)?,
                )?;
            }
        }
    }
    Ok(())
}

fn show(name: &str, setup: &Setup, trace: &Trace) -> Result<(), Box<dyn std::error::Error>> {
    let summary = setup.run(trace)?;
    let columns: Vec<String> = summary
        .columns
        .iter()
        .map(|column| format!("{:5} {:5} {:4}", column.misses, column.accesses, column.replacements))
        .collect();
    println!(
        "{name:32} {:5} iCPI {:.2} mCPI {:.2} unused {:4.1} % | {}",
        summary.instructions,
        summary.icpi(),
        summary.mcpi(),
        100.0 * summary.words.unused_part(),
        columns.join(" | "),
    );
    Ok(())
}
