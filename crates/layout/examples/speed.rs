//! How many instructions a second the machine executes, untraced and traced.
//!
//! `cargo run --release -p warmcore-layout --example speed -- PROGRAM FUNCTION [ARGUMENT]…`

use std::time::Instant;
use warmcore_layout::riscv::{Image, Machine, Nobody, Observer};
use warmcore_layout::trace::{Access, Instruction};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(program), Some(function)) = (arguments.next(), arguments.next()) else {
        return Err("expected: PROGRAM FUNCTION [ARGUMENT]…".into());
    };
    let arguments = arguments.map(|argument| argument.parse()).collect::<Result<Vec<u64>, _>>()?;
    let image = Image::read(program.as_ref())?;
    let function = image.function(&function)?.address;
    report("untraced", &image, function, &arguments, &mut Nobody)?;
    let mut sum = 0_u64;
    let mut add = |instruction: &Instruction, accesses: &[Access]| {
        sum = sum.wrapping_add(instruction.address ^ accesses.len() as u64);
    };
    report("traced", &image, function, &arguments, &mut add)?;
    println!("checksum of the trace: {sum:#x}");
    Ok(())
}

fn report<O: Observer>(
    how: &str,
    image: &Image,
    function: u64,
    arguments: &[u64],
    observer: &mut O,
) -> Result<(), Failure> {
    let mut machine = Machine::new(image)?;
    let start = Instant::now();
    let result = machine.call_observed(function, arguments, observer)?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = machine.executed() as f64 / seconds / 1e6;
    println!("{how}: {result:#x} after {} instructions, {rate:.0} million a second", machine.executed());
    Ok(())
}
