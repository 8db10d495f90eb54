//! The smallest inputs are right, whatever the seed.

use crate::threads;
use warmcore_workload::programs::{Barnes, Image, Prepared, Program, WaterSp};

#[track_caller]
fn assert_right<P: Program<Prepared: Sync> + std::fmt::Debug>(program: &P) {
    let mut image = Image::new();
    let prepared = program.prepare(&mut image, 1).expect("a possible size");
    threads::run(&prepared, &mut image, 1);
    if let Err(wrong) = prepared.check(&image) {
        panic!("{program:?}: {wrong}");
    }
}

#[test]
fn few_bodies() {
    for bodies in [2, 3, 4, 6, 12, 32, 96, 256] {
        for opening in [0.1, 0.5, 1.0] {
            for (softening, seed) in
                [0.05, 1e-6].into_iter().flat_map(|softening| (0..6).map(move |seed| (softening, seed)))
            {
                assert_right(&Barnes { bodies, opening, softening, seed, steps: 1, ..Barnes::default() });
            }
        }
    }
}

#[test]
fn few_molecules() {
    for molecules in 2..40 {
        // Their box is too small for the usual cutoff.
        for step in [0.0, 0.15, 0.3] {
            assert_right(&WaterSp { molecules, seed: molecules, cutoff: 1.0, step, ..WaterSp::default() });
        }
    }
}
