//! Small programs in Rust, compiled for the machine: they compute what they compute here.

use super::{Machine, Nobody, Stop};
use crate::riscv::testing::compile;
use crate::riscv::{Image, ImageError};
use crate::trace::{Class, Trace};

/// Compiled for the machine and for the host alike.
const SOURCE: &str = include_str!("../../../../tests/programs/mix.rs");

#[allow(dead_code, reason = "the program uses it all")]
mod host {
    include!("../../../../tests/programs/mix.rs");
}

fn image() -> Image {
    Image::parse(&compile(SOURCE, &["mix", "ask"])).unwrap()
}

#[test]
fn a_program_computes_what_it_computes_here() {
    let image = image();
    let mut machine = Machine::new(&image).unwrap();
    let mix = image.function("mix").unwrap().address;
    for seed in [0, 1, 77, u64::MAX] {
        assert_eq!(machine.call(mix, &[seed, 1000]), Ok(host::mix(seed, 1000)));
    }
}

#[test]
fn its_trace_has_every_instruction_and_names_its_functions() {
    let image = image();
    let mut machine = Machine::new(&image).unwrap();
    let mut trace = Trace::new(image.functions().to_vec());
    machine.call_observed(image.address("mix").unwrap(), &[3, 10], &mut trace).unwrap();
    assert_eq!(trace.steps().len() as u64, machine.executed());
    let visited = |name: &str| {
        let function = trace.functions().iter().position(|function| function.name.ends_with(name)).unwrap();
        trace.steps().filter(|step| trace.function_at(step.instruction.address) == Some(function)).count()
    };
    assert!(visited("mix") > 10 && visited("signed_part") > 10);
    let of_class = |class| trace.steps().filter(|step| step.instruction.class == class).count();
    assert!(of_class(Class::Divide) >= 20 && of_class(Class::Call) >= 10);
    assert_eq!(of_class(Class::Return), of_class(Class::Call) + 1);
}

#[test]
fn a_program_asks_its_host() {
    let image = image();
    let mut machine = Machine::new(&image).unwrap();
    machine.begin(image.address("ask").unwrap(), &[20]).unwrap();
    let Stop::Ecall(arguments) = machine.run(&mut Nobody).unwrap() else { panic!("no ecall") };
    assert_eq!(arguments[0], 21);
    machine.answer(arguments[0] * 2);
    assert_eq!(machine.run(&mut Nobody), Ok(Stop::Returned(142)));
}

#[test]
fn what_is_no_such_program_is_refused() {
    let good = compile(SOURCE, &["mix"]);
    let changed = |offset: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[offset] = value;
        Image::parse(&bytes).unwrap_err()
    };
    assert!(matches!(changed(0, 0), ImageError::NotElf { .. }));
    assert!(matches!(changed(4, 1), ImageError::NotElf { .. }));
    assert_eq!(changed(5, 2), ImageError::WrongMachine { machine: 62208 });
    assert_eq!(changed(18, 62), ImageError::WrongMachine { machine: 62 });
    assert_eq!(changed(16, 3), ImageError::NotStatic { kind: 3 });
    assert!(Image::parse(&[]).is_err());
    let image = Image::parse(&good).unwrap();
    assert_eq!(image.address("none"), Err(ImageError::MissingSymbol { name: "none".to_owned() }));
    assert!(image.function("none").is_err());
}

#[test]
fn a_broken_file_leads_to_no_panic() {
    let good = compile(SOURCE, &["mix"]);
    assert!(good.len() < 10_000, "{} bytes take too long", good.len());
    for length in 0..good.len() {
        let _ = Image::parse(&good[..length]);
    }
    for place in 0..good.len() {
        let mut bytes = good.clone();
        bytes[place] ^= 1 << (place % 8);
        let Ok(image) = Image::parse(&bytes) else { continue };
        let Ok(mut machine) = Machine::new(&image) else { continue };
        machine.set_limit(1000);
        let _ = image.address("mix").map(|mix| machine.call(mix, &[1, 10]));
    }
}
