//! Runs a program on a simulated cluster of SMPs, and prints where the time went and how fast the simulator was:
//!
//! ```sh
//! cargo run --release -p warmcore-sim --example cluster -- fft quick hurricane-1-mult 8 8
//! ```
//!
//! Arguments: program, `quick` or `published`, device, nodes, processors of a node, and the run-ahead in cycles (100).

use std::time::Instant;
use warmcore_sim::cluster::tally::Breakdown;
use warmcore_sim::cluster::{Device, Machine, Options, run};
use warmcore_workload::programs::{AnyProgram, Size};

fn machine(device: &str, nodes: u32, processors: u32) -> Option<Machine> {
    let hurricane = |processors, mhz| Device::Hurricane { processors, mhz };
    let dedicated = |processors| Device::Hurricane1 { dedicated: processors };
    let chapter_5 = |device| Machine::chapter_5(nodes, processors, device);
    Some(match device {
        "s-coma" => chapter_5(Device::SComa {}),
        "hurricane-1pp" => chapter_5(hurricane(1, 400)),
        "hurricane-2pp" => chapter_5(hurricane(2, 400)),
        "hurricane-4pp" => chapter_5(hurricane(4, 400)),
        "hurricane-1-1pp" => chapter_5(dedicated(1)),
        "hurricane-1-2pp" => chapter_5(dedicated(2)),
        "hurricane-1-4pp" => chapter_5(dedicated(4)),
        "hurricane-1-mult" => chapter_5(Device::MULT),
        "fixed" => Machine::chapter_4(nodes, processors, Device::FIXED),
        "floating" => Machine::chapter_4(nodes, processors, Device::FLOATING),
        _ => return None,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |place: usize, default: &str| arguments.get(place).map_or(default, String::as_str).to_owned();
    let size = if argument(1, "quick") == "published" { Size::Published } else { Size::Quick };
    let program = AnyProgram::from_name(&argument(0, "fft"), size).map_err(|fault| format!("{fault:?}"))?;
    let (nodes, processors) = (argument(3, "8").parse()?, argument(4, "8").parse()?);
    let machine = machine(&argument(2, "s-coma"), nodes, processors).ok_or("there is no such device")?;
    let machine = Machine { run_ahead: argument(5, "100").parse()?, ..machine };
    let start = Instant::now();
    let outcome = run(&machine, &program, &Options::default())?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{} cycles, results {:016x}", outcome.cycles, outcome.digest);
    println!(
        "{} references, {:.1} million a second",
        outcome.references(),
        outcome.references() as f64 / seconds / 1e6
    );
    let sum = |part: fn(&Breakdown) -> u64| {
        let all = f64::from(machine.compute_processors()) * outcome.cycles as f64;
        100.0 * outcome.processors.iter().map(part).sum::<u64>() as f64 / all
    };
    println!(
        "computing {:.1}%, cache misses {:.1}%, remote misses {:.1}%, synchronization {:.1}%, protocol {:.1}%, interrupts {:.1}%",
        sum(Breakdown::computing),
        sum(|part| part.cache_misses.cycles),
        sum(|part| part.remote_misses.cycles),
        sum(|part| part.synchronization),
        sum(|part| part.protocol),
        sum(|part| part.interrupts.cycles),
    );
    println!("{:?}", outcome.network);
    println!("node 0: {:?}", outcome.nodes[0]);
    Ok(())
}
