//! Clones compute what the originals compute, and touch the same data.

use super::{CloneError, Cloned, clone_functions};
use crate::riscv::testing::compile;
use crate::riscv::{Image, Machine, Relocation};
use crate::trace::{Access, Class, Trace};
use object::elf::{R_RISCV_CALL_PLT, R_RISCV_GOT_HI20};
use proptest::prelude::*;
use std::sync::OnceLock;

/// The functions of the path, but none that cannot be moved.
const PATH: [&str; 5] = [
    "path",
    "checksum",
    "descend",
    "<program::Adds as program::Layer>::input",
    "<program::Multiplies as program::Layer>::input",
];
/// A place near the program, and one that is not.
const NEAR: u64 = 0x4_0000;
const FAR: u64 = 0x3000_0000;

fn image() -> &'static Image {
    static IMAGE: OnceLock<Image> = OnceLock::new();
    IMAGE.get_or_init(|| Image::parse(&executable()).unwrap())
}

fn executable() -> Vec<u8> {
    let roots = ["path", "table", "falls", "blind", "odd", "through"];
    compile(include_str!("../../tests/programs/path.rs"), &roots)
}

fn index(name: &str) -> usize {
    image().function_index(name).unwrap()
}

/// The functions of the path one after the other, each `gap` bytes behind the one before.
fn placed(first: u64, gap: u64) -> Vec<(usize, u64)> {
    let mut next = first;
    let mut place = |name: &&str| {
        let index = index(name);
        let address = next;
        next += image().functions()[index].size + gap;
        (index, address)
    };
    PATH.iter().map(&mut place).collect()
}

/// What `path` computes for each seed, and its trace.
fn run(image: &Image, path: u64, seeds: &[u64]) -> (Vec<u64>, Trace) {
    let mut machine = Machine::new(image).unwrap();
    machine.set_limit(1_000_000);
    let mut trace = Trace::new(image.functions().to_vec());
    let results = seeds.iter().map(|&seed| machine.call_observed(path, &[20, seed], &mut trace).unwrap());
    (results.collect(), trace)
}

fn run_clone(cloned: &Cloned, seeds: &[u64]) -> (Vec<u64>, Trace) {
    run(&cloned.image, cloned.clones[0].address, seeds)
}

fn run_original(image: &Image, seeds: &[u64]) -> (Vec<u64>, Trace) {
    run(image, image.address("path").unwrap(), seeds)
}

fn data(trace: &Trace) -> Vec<Access> {
    trace.steps().flat_map(|step| step.accesses.to_vec()).collect()
}

/// How many calls by two instructions a trace of the original has.
fn pairs(trace: &Trace) -> usize {
    let is_pair = |relocation: &&Relocation| relocation.kind == R_RISCV_CALL_PLT.0;
    let calls: Vec<u64> = image().relocations().iter().filter(is_pair).map(|call| call.address).collect();
    trace.steps().filter(|step| calls.contains(&step.instruction.address)).count()
}

/// Whether every step is in a clone.
fn only_clones(cloned: &Cloned, trace: &Trace) -> bool {
    trace.instructions().iter().all(|instruction| {
        let function = trace.function_at(instruction.address).map(|index| &trace.functions()[index]);
        function.is_some_and(|function| cloned.clones.contains(function))
    })
}

#[test]
fn clones_compute_the_same_and_touch_the_same() {
    let seeds = [0, 1, 2, 77];
    let (expected, before) = run_original(image(), &seeds);
    assert!(pairs(&before) > 100, "{}", pairs(&before));
    for (first, gap, near) in [
        (NEAR, 0, true),
        (NEAR, 4, true),
        (NEAR + 0x1_0000, 4096, true),
        (FAR, 0, true),
        (FAR, 3 << 20, false),
    ] {
        let cloned = clone_functions(image(), &placed(first, gap)).unwrap();
        let (found, after) = run_clone(&cloned, &seeds);
        assert_eq!(found, expected, "at {first:#x}, gap {gap}");
        let saved = before.steps().len() - after.steps().len();
        assert_eq!(saved == pairs(&before), near, "{saved} saved at {first:#x}, gap {gap}");
        assert_eq!(data(&after), data(&before));
        assert!(only_clones(&cloned, &after));
    }
}

#[test]
fn a_near_call_is_one_jump() {
    let seeds = [3, 4];
    let (expected, before) = run_original(image(), &seeds);
    let cloned = clone_functions(image(), &placed(FAR, 0)).unwrap();
    let (found, after) = run_clone(&cloned, &seeds);
    assert_eq!(found, expected);
    assert_eq!(after.steps().len(), before.steps().len() - pairs(&before));
    assert_eq!(data(&after), data(&before));
    assert!(only_clones(&cloned, &after));
    // Every direct call names its place; those that do not go through data.
    let direct = after.steps().filter(|step| step.instruction.class == Class::Call);
    assert!(direct.filter(|step| step.instruction.target.is_some()).count() > 0);
    for (clone, name) in cloned.clones.iter().zip(PATH) {
        assert!(clone.size <= image().functions()[index(name)].size, "{name}");
    }
}

#[test]
fn the_originals_stay_and_meet_clones_only_through_data() {
    let placements = placed(NEAR, 0);
    let cloned = clone_functions(image(), &placements).unwrap();
    let (expected, before) = run_original(image(), &[5]);
    let (found, after) = run_original(&cloned.image, &[5]);
    assert_eq!((found, data(&after)), (expected, data(&before)));
    for function in image().functions() {
        for address in (function.address..function.address + function.size).step_by(4) {
            assert_eq!(cloned.image.word(address), image().word(address));
        }
    }
    // The tables of methods lead to clones.
    let methods = &cloned.clones[3..];
    assert!(methods.iter().all(|method| after.instructions().iter().any(|i| i.address == method.address)));
}

#[test]
fn one_clone_alone_calls_the_originals() {
    let (expected, before) = run_original(image(), &[9]);
    for address in [NEAR, FAR] {
        let cloned = clone_functions(image(), &[(index("path"), address)]).unwrap();
        let (found, after) = run_clone(&cloned, &[9]);
        assert_eq!((found, data(&after)), (expected.clone(), data(&before)));
    }
}

#[test]
fn an_address_from_a_table_is_still_found() {
    let through = index("through");
    let is_table = |relocation: &Relocation| relocation.kind == R_RISCV_GOT_HI20.0;
    assert!(image().relocations().iter().any(is_table), "{:#?}", image().relocations());
    let expected = Machine::new(image()).unwrap().call(image().functions()[through].address, &[3]);
    for place in [NEAR, FAR] {
        let cloned = clone_functions(image(), &[(through, place)]).unwrap();
        assert_eq!(Machine::new(&cloned.image).unwrap().call(place, &[3]), expected);
    }
    assert!(expected.is_ok());
}

#[test]
fn what_cannot_be_moved_is_named() {
    let refused = |name: &str, address| clone_functions(image(), &[(index(name), address)]).unwrap_err();
    let at = |name: &str| image().address(name).unwrap();
    let function = || "table".to_owned();
    assert!(matches!(refused("table", NEAR), CloneError::JumpTable { function: f, .. } if f == function()));
    assert_eq!(refused("falls", NEAR), CloneError::FallsThrough { function: "falls".to_owned() });
    let blind = CloneError::Unrelocated { function: "blind".to_owned(), address: at("blind") };
    assert_eq!(refused("blind", NEAR), blind);
    let (address, word) = (at("odd"), 0x0000_707b);
    assert_eq!(
        refused("odd", NEAR),
        CloneError::UnknownInstruction { function: "odd".to_owned(), address, word }
    );
}

#[test]
fn a_place_that_cannot_be_is_refused() {
    let path = index("path");
    let refused = |placements: &[(usize, u64)]| clone_functions(image(), placements).unwrap_err();
    let function = || "path".to_owned();
    let size = image().functions()[path].size;
    assert_eq!(
        refused(&[(path, NEAR + 2)]),
        CloneError::Alignment { function: function(), address: NEAR + 2, size }
    );
    assert_eq!(refused(&[(path, NEAR), (path, FAR)]), CloneError::Twice { function: function() });
    let address = image().address("checksum").unwrap();
    assert_eq!(refused(&[(path, address)]), CloneError::Overlap { function: function(), address });
    let address = NEAR + 4;
    let overlap = refused(&[(index("checksum"), NEAR), (path, address)]);
    assert_eq!(overlap, CloneError::Overlap { function: function(), address });
    assert!(matches!(refused(&[(path, 1 << 40)]), CloneError::TooFar { .. }));
    assert!(matches!(
        refused(&[(path, u64::MAX - 3)]),
        CloneError::TooFar { .. } | CloneError::Overlap { .. }
    ));
    let functions = image().functions().len();
    assert_eq!(refused(&[(functions, NEAR)]), CloneError::NoFunction { index: functions, functions });
    let bare = crate::riscv::testing::image_of(&[0x0000_8067]);
    assert_eq!(clone_functions(&bare, &[(0, NEAR)]), Err(CloneError::NoRelocations));
}

#[test]
fn a_broken_program_leads_to_no_panic() {
    let mut bytes = executable();
    assert!(bytes.len() < 20_000, "{} bytes take too long", bytes.len());
    for bit in (0..8 * bytes.len()).step_by(5) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(image) = Image::parse(&bytes) {
            for index in 0..image.functions().len() {
                let _ = clone_functions(&image, &[(index, NEAR)]);
            }
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// An order of the functions, the gaps before them in words, and where the first begins.
fn placements() -> impl Strategy<Value = Vec<(usize, u64)>> {
    let order = Just(PATH.to_vec()).prop_shuffle();
    let gap = prop_oneof![0_u64..64, 0_u64..0x10_0000];
    (order, prop::collection::vec(gap, PATH.len()), 0x1_0000_u64..0x800_0000).prop_map(
        |(order, gaps, first)| {
            let mut next = 4 * first;
            let mut placements = Vec::new();
            for (name, gap) in order.iter().zip(gaps) {
                next += 4 * gap;
                placements.push((index(name), next));
                next += image().functions()[index(name)].size;
            }
            placements
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn clones_compute_the_same_wherever_they_are(placements in placements(), seed: u64) {
        let cloned = clone_functions(image(), &placements).unwrap();
        let path = cloned.image.address("path.clone").unwrap();
        let (expected, before) = run_original(image(), &[seed]);
        let (found, after) = run(&cloned.image, path, &[seed]);
        prop_assert_eq!(found, expected);
        prop_assert_eq!(data(&after), data(&before));
        prop_assert!(only_clones(&cloned, &after));
        let saved = before.steps().len() - after.steps().len();
        let most = pairs(&before);
        prop_assert!(saved <= most, "{} of {}", saved, most);
        let ends = cloned.clones.iter().map(|clone| clone.address + clone.size);
        let first = placements[0].1;
        if ends.max().unwrap() - first < 1 << 19 {
            prop_assert_eq!(saved, most);
        }
    }

    #[test]
    fn no_subset_and_no_place_leads_to_a_panic(
        placements in prop::collection::vec((0_usize..20, any::<u64>()), 0..6),
        low in any::<bool>(),
    ) {
        let bounded = |(index, address): (usize, u64)| (index, if low { (address % 0x10_0000) & !3 } else { address });
        let placements: Vec<(usize, u64)> = placements.into_iter().map(bounded).collect();
        let _ = clone_functions(image(), &placements);
    }
}
