//! Programs compute right results on every machine, the same on each.

use crate::coherent::machines;
use warmcore_sim::cluster::{Device, Error, Machine, Options, Outcome, run};
use warmcore_workload::programs::image::PAGE;
use warmcore_workload::programs::{
    AnyProgram, Barnes, Cholesky, Em3d, Fft, Fmm, Gauss, Image, Lu, Pace, Program, Radix, Size, WaterSp,
};

fn small() -> Vec<AnyProgram> {
    vec![
        AnyProgram::Fft(Fft { points: 1 << 10, ..Fft::default() }),
        AnyProgram::Radix(Radix { keys: 1 << 12, ..Radix::default() }),
        AnyProgram::Lu(Lu { order: 64, ..Lu::default() }),
        AnyProgram::Em3d(Em3d { nodes: 512, ..Em3d::default() }),
    ]
}

fn outcome(machine: &Machine, program: &AnyProgram) -> Result<Outcome, Error> {
    run(machine, program, &Options::within(10_000_000_000))
}

#[test]
fn results_are_right_and_the_same_on_every_machine() {
    for program in small() {
        let alone =
            outcome(&Machine::chapter_5(1, 4, Device::SComa {}), &program).expect("it runs alone").digest;
        for machine in machines(2, 2) {
            let digest = outcome(&machine, &program).map(|outcome| outcome.digest);
            assert_eq!(digest, Ok(alone), "{program:?} on {machine:?}");
        }
    }
}

#[test]
fn run_ahead_changes_times_little_and_results_not() {
    let program = AnyProgram::Fft(Fft { points: 1 << 12, ..Fft::default() });
    for machine in machines(4, 2) {
        let exact = outcome(&Machine { run_ahead: 0, ..machine.clone() }, &program).expect("it runs");
        let ahead = outcome(&Machine { run_ahead: 100, ..machine.clone() }, &program).expect("it runs");
        assert_eq!(exact.digest, ahead.digest);
        let ratio = ahead.cycles as f64 / exact.cycles as f64;
        assert!((0.98..1.02).contains(&ratio), "{ratio} on {machine:?}");
    }
}

#[test]
fn sixty_four_nodes_of_sixteen_run_in_memory_that_they_touch() {
    let machine = Machine::chapter_5(64, 16, Device::SComa {});
    let program = AnyProgram::Em3d(Em3d::quick());
    let outcome = outcome(&machine, &program).expect("it runs");
    let mut image = Image::new();
    program.prepare(&mut image, machine.compute_processors()).expect("it is laid out");
    let all = (8 * image.words().len() as u64 / PAGE) as usize;
    // Beside its own share of the data, a node touches pages of its neighbours and of barriers: not the pages of all.
    let pages: Vec<usize> = outcome.nodes.iter().map(|node| node.pages).collect();
    assert!(pages.iter().all(|&pages| pages < all / 8), "{pages:?} of {all}");
}

/// With locks, who comes first differs between machines, and with it the order of sums.
#[test]
fn programs_with_locks_are_right_on_every_machine() {
    let programs = [
        AnyProgram::Barnes(Barnes { bodies: 96, steps: 1, ..Barnes::default() }),
        AnyProgram::Cholesky(Cholesky { grid: (6, 7), unknowns: 2, ..Cholesky::default() }),
        AnyProgram::Fmm(Fmm { particles: 200, levels: 2, steps: 1, ..Fmm::default() }),
        AnyProgram::Gauss(Gauss { equations: 40, ..Gauss::default() }),
        AnyProgram::WaterSp(WaterSp { molecules: 64, cutoff: 4.0, steps: 1, ..WaterSp::default() }),
    ];
    for program in programs {
        for machine in machines(3, 2) {
            let outcome = outcome(&machine, &program);
            assert!(outcome.is_ok(), "{program:?} on {machine:?}: {:?}", outcome.err());
        }
    }
}

/// Those that poll words in different pages must not take the frame from each other for ever: on each node some have work to do.
#[test]
fn one_frame_is_shared_fairly() {
    let pace = Pace::new(0.0);
    let cholesky = Cholesky { grid: (5, 9), unknowns: 3, panel: 4, pace, seed: 565 };
    let machine = Machine {
        page_cache_pages: Some(1),
        block_bytes: 1024,
        cache_bytes: 65536,
        run_ahead: 0,
        ..Machine::chapter_5(4, 4, Device::Hurricane { processors: 4, mhz: 100 })
    };
    let outcome = run(&machine, &AnyProgram::Cholesky(cholesky), &Options::within(200_000_000));
    assert!(outcome.is_ok(), "{:?}", outcome.err());
}

/// The paces are chosen so (Falsafi 1998, Table 5.3).
fn takes_as_long_as_published(name: &str, million_cycles: f64) {
    let program = AnyProgram::from_name(name, Size::Published).expect("it is listed");
    let outcome = outcome(&Machine::chapter_5(1, 1, Device::SComa {}), &program).expect("it runs");
    let ratio = outcome.cycles as f64 / (1e6 * million_cycles);
    assert!((0.99..1.01).contains(&ratio), "{name}: {ratio}");
}

#[test]
fn a_uniprocessor_takes_the_published_time_with_a_short_program() {
    takes_as_long_as_published("radix", 903.0);
}

#[test]
#[ignore = "takes minutes"]
fn a_uniprocessor_takes_the_published_times() {
    for (name, million_cycles) in [
        ("barnes", 2284.0),
        ("cholesky", 976.0),
        ("em3d", 740.0),
        ("fft", 2489.0),
        ("fmm", 3351.0),
        ("water-sp", 3965.0),
    ] {
        takes_as_long_as_published(name, million_cycles);
    }
}

#[test]
#[ignore = "takes minutes"]
fn all_programs_run_on_all_machines() {
    for name in AnyProgram::NAMES {
        let program = AnyProgram::from_name(name, Size::Quick).expect("it is listed");
        for machine in machines(4, 4) {
            let outcome = outcome(&machine, &program);
            assert!(outcome.is_ok(), "{name} on {machine:?}: {:?}", outcome.err());
        }
    }
}
