//! Every program on 1, 2, 4 and 7 processors: right, the same on each, and never right with a wrong word.

use crate::threads;
use warmcore_workload::programs::{
    AnyProgram, Barnes, Cholesky, Em3d, Fft, Fmm, Gauss, Image, Lu, Prepared, Program, Radix, Size, WaterSp,
};

/// How many words are spoiled, one at a time.
const SPOILED: usize = 500;

/// Asserts that `program` is right on any number of processors, and that its check notices at least this share of spoiled
/// words among its results.
#[track_caller]
fn assert_right<P: Program<Prepared: Sync>>(program: &P, noticed: f64) {
    let mut digests = Vec::new();
    for processors in [1, 2, 4, 7] {
        let mut image = Image::new();
        let prepared = program.prepare(&mut image, processors).expect("a possible size");
        assert!(prepared.check(&image).is_err(), "{}: nothing is computed yet", program.name());
        threads::run(&prepared, &mut image, processors);
        if let Err(wrong) = prepared.check(&image) {
            panic!("{} on {processors} processors: {wrong}", program.name());
        }
        digests.push(prepared.digest(&image));
        if processors == 4 {
            assert_noticed(program.name(), &prepared, &mut image, noticed);
        }
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{}: {digests:x?}", program.name());
}

#[track_caller]
fn assert_noticed(name: &str, prepared: &impl Prepared, image: &mut Image, noticed: f64) {
    let digest = prepared.digest(image);
    let (mut tried, mut found) = (0, 0);
    let words = image.words().len();
    for word in (0..words).step_by(words.div_ceil(SPOILED)) {
        // Doubles or halves a number; makes a key or an index impossible.
        let spoil = |image: &mut Image| image.words_mut()[word] ^= 1 << 52;
        spoil(image);
        // Other words are scratch.
        if prepared.digest(image) != digest {
            tried += 1;
            found += usize::from(prepared.check(image).is_err());
        }
        spoil(image);
    }
    println!("{name}: {found} of {tried} spoiled words noticed");
    assert!(tried >= SPOILED / 25, "{name}: {tried} words of the results tried");
    assert!(found as f64 >= noticed * tried as f64, "{name}: {found} of {tried} spoiled words noticed");
}

#[test]
fn fft() {
    assert_right(&Fft { points: 1 << 10, ..Fft::default() }, 1.0);
}

#[test]
fn radix() {
    // With three passes and with two.
    assert_right(&Radix { keys: 3001, radix: 128, ..Radix::default() }, 1.0);
    assert_right(&Radix { keys: 5000, radix: 1024, ..Radix::default() }, 1.0);
}

#[test]
fn lu() {
    assert_right(&Lu { order: 96, block: 8, ..Lu::default() }, 1.0);
}

#[test]
fn gauss() {
    assert_right(&Gauss { equations: 61, ..Gauss::default() }, 1.0);
}

#[test]
fn em3d() {
    assert_right(&Em3d { nodes: 1000, parts: Some(12), distance: 3, ..Em3d::default() }, 1.0);
}

#[test]
fn barnes() {
    // Only accelerations are checked one by one: a place or velocity is one of hundreds in a sum of some tolerance.
    assert_right(&Barnes { bodies: 700, steps: 3, ..Barnes::default() }, 0.3);
    // More accurate, as the tolerance demands.
    assert_right(&Barnes { bodies: 300, opening: 0.4, steps: 1, ..Barnes::default() }, 0.3);
}

#[test]
fn fmm() {
    assert_right(&Fmm { particles: 900, levels: 3, steps: 3, ..Fmm::default() }, 0.9);
    // Fewer terms are less accurate, and let more pass.
    assert_right(&Fmm { particles: 300, levels: 2, terms: 8, steps: 1, ..Fmm::default() }, 0.6);
}

#[test]
fn water_sp() {
    assert_right(&WaterSp { molecules: 125, cutoff: 5.0, ..WaterSp::default() }, 1.0);
}

#[test]
fn cholesky() {
    assert_right(&Cholesky { grid: (9, 13), unknowns: 3, panel: 8, ..Cholesky::default() }, 1.0);
    assert_right(&Cholesky { grid: (1, 20), unknowns: 1, panel: 1, ..Cholesky::default() }, 1.0);
}

#[test]
fn em3d_on_the_parts_of_its_processors_is_another_graph_on_each() {
    let program = Em3d { nodes: 1000, ..Em3d::default() };
    let digest = |processors| {
        let mut image = Image::new();
        let prepared = program.prepare(&mut image, processors).expect("a possible size");
        threads::run(&prepared, &mut image, processors);
        prepared.check(&image).expect("a right result");
        prepared.digest(&image)
    };
    assert_ne!(digest(2), digest(4));
}

#[test]
fn every_quick_input_is_right_on_64_processors() {
    for name in AnyProgram::NAMES {
        let program = AnyProgram::from_name(name, Size::Quick).expect("a name of the catalogue");
        assert_eq!(program.name(), *name);
        let mut image = Image::new();
        let prepared = program.prepare(&mut image, 64).expect("a possible size");
        let work = threads::run(&prepared, &mut image, 64);
        if let Err(wrong) = prepared.check(&image) {
            panic!("{name}: {wrong}");
        }
        let mean = work.iter().sum::<u64>() / 64;
        println!("{name}: {} {}", *work.iter().max().unwrap() as f64 / mean as f64, mean);
    }
}
