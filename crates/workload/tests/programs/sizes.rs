//! Impossible sizes are refused, and the field is named.

use warmcore_workload::programs::{
    AnyProgram, Barnes, Cholesky, Em3d, Fft, Fmm, Gauss, Image, Lu, Pace, Program, Radix, Size, WaterSp,
};

#[track_caller]
fn assert_refused(program: &impl Program, processors: u32, field: &str) {
    let Err(fault) = program.prepare(&mut Image::new(), processors) else { panic!("{field} is accepted") };
    assert_eq!(fault.field, field, "{fault}");
}

#[test]
fn impossible_sizes_are_refused() {
    assert_refused(&Fft { points: 1 << 11, ..Fft::default() }, 1, "points");
    assert_refused(&Fft { points: 0, ..Fft::default() }, 1, "points");
    assert_refused(&Fft { points: 16, ..Fft::default() }, 5, "processors");
    assert_refused(&Fft { points: 16, tile: 0, ..Fft::default() }, 1, "tile");
    assert_refused(&Radix { keys: 0, ..Radix::default() }, 1, "keys");
    assert_refused(&Radix { radix: 1000, ..Radix::default() }, 1, "radix");
    assert_refused(&Radix { key_range: 0, ..Radix::default() }, 1, "key_range");
    assert_refused(&Lu { order: 100, ..Lu::default() }, 1, "order");
    assert_refused(&Lu { block: 0, ..Lu::default() }, 1, "block");
    assert_refused(&Gauss { equations: 0, ..Gauss::default() }, 1, "equations");
    assert_refused(&Em3d { nodes: 0, ..Em3d::default() }, 1, "nodes");
    assert_refused(&Em3d { degree: 0, ..Em3d::default() }, 1, "degree");
    assert_refused(&Em3d { degree: 1000, ..Em3d::default() }, 1, "degree");
    assert_refused(&Em3d { remote: 1.5, ..Em3d::default() }, 1, "remote");
    assert_refused(&Em3d { distance: 0, ..Em3d::default() }, 1, "distance");
    assert_refused(&Em3d { nodes: 5, ..Em3d::default() }, 6, "processors");
    assert_refused(&Em3d { nodes: 5, parts: Some(6), ..Em3d::default() }, 1, "parts");
    assert_refused(&Barnes { bodies: 1, ..Barnes::default() }, 1, "bodies");
    assert_refused(&Barnes { bodies: 3, ..Barnes::default() }, 4, "bodies");
    assert_refused(&Barnes { opening: 0.0, ..Barnes::default() }, 1, "opening");
    assert_refused(&Barnes { opening: 1.1, ..Barnes::default() }, 1, "opening");
    assert_refused(&Barnes { softening: 0.0, ..Barnes::default() }, 1, "softening");
    assert_refused(&Barnes { step: f64::NAN, ..Barnes::default() }, 1, "step");
    assert_refused(&Barnes { steps: 0, ..Barnes::default() }, 1, "steps");
    assert_refused(&Fmm { particles: 1, ..Fmm::default() }, 1, "particles");
    assert_refused(&Fmm { levels: 1, ..Fmm::default() }, 1, "levels");
    assert_refused(&Fmm { terms: 0, ..Fmm::default() }, 1, "terms");
    assert_refused(&Fmm { step: 1.0, ..Fmm::default() }, 1, "step");
    assert_refused(&Fmm { steps: 0, ..Fmm::default() }, 1, "steps");
    // A single one neither moves nor meets another.
    assert_refused(&WaterSp { molecules: 1, ..WaterSp::default() }, 1, "molecules");
    assert_refused(&WaterSp { molecules: 100, ..WaterSp::default() }, 1, "cutoff");
    assert_refused(&WaterSp { cutoff: f64::NAN, ..WaterSp::default() }, 1, "cutoff");
    assert_refused(&WaterSp { step: -1.0, ..WaterSp::default() }, 1, "step");
    // Energy would not be conserved.
    assert_refused(&WaterSp { step: 0.4, ..WaterSp::default() }, 1, "step");
    assert_refused(&WaterSp { steps: 1 << 20, ..WaterSp::default() }, 1, "steps");
    assert_refused(&Cholesky { grid: (0, 3), ..Cholesky::default() }, 1, "grid");
    assert_refused(&Cholesky { grid: (1000, 1000), ..Cholesky::default() }, 1, "grid");
    assert_refused(&Cholesky { unknowns: 0, ..Cholesky::default() }, 1, "unknowns");
    assert_refused(&Cholesky { panel: 0, ..Cholesky::default() }, 1, "panel");
}

#[test]
fn an_impossible_machine_or_pace_is_refused() {
    assert_refused(&Radix::quick(), 0, "processors");
    assert_refused(&Radix::quick(), 5000, "processors");
    for factor in [-1.0, f64::NAN, 1e9] {
        assert_refused(&Radix { pace: Pace { factor }, ..Radix::quick() }, 1, "pace");
    }
}

#[test]
fn published_and_quick_inputs_are_possible_on_the_clusters_of_the_thesis() {
    for (size, processors) in [(Size::Published, 64), (Size::Quick, 80)] {
        for name in AnyProgram::NAMES {
            let program = AnyProgram::from_name(name, size).expect("a name of the catalogue");
            if let Err(fault) = program.prepare(&mut Image::new(), processors) {
                panic!("{name} on {processors} processors: {fault}");
            }
        }
    }
}

#[test]
fn an_unknown_name_is_refused_with_those_that_there_are() {
    let fault = AnyProgram::from_name("ocean", Size::Quick).expect_err("no such program");
    assert!(fault.to_string().contains("barnes, cholesky"), "{fault}");
}
