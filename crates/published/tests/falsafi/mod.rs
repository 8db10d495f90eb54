//! The reproduction of Falsafi 1998, from the plan to its document.

use core::ops::ControlFlow;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_published::falsafi_1998::{
    App, Measured, Obtained, Options, Preliminaries, ReproduceError, Runs, Setup, System, Work, reproduce,
    source,
};
use warmcore_published::{ClaimVerdict, Evidence, document};
use warmcore_record::Manifest;
use warmcore_sim::cluster::Moment;
use warmcore_workload::programs::Size;

/// Nobody watches a run.
fn unwatched() -> impl Fn(Moment) -> ControlFlow<()> {
    |_| ControlFlow::Continue(())
}

fn options(figures: &[&str]) -> Options {
    let names: Vec<String> = figures.iter().map(|&name| name.to_owned()).collect();
    Options { figures: source().figures_named(&names).expect("they exist"), size: Size::Quick }
}

#[test]
fn a_remote_read_takes_what_the_text_says() {
    let options = options(&["table-5-1", "table-5-1-rows"]);
    let stop = AtomicBool::new(false);
    let runs =
        reproduce(&options, unwatched, |_| None, |_, _| Ok(()), |_| (), &stop).expect("it is not stopped");
    let reproduction = source().conclude(runs, options.figures);
    for concluded in &reproduction.claims {
        let expected = match concluded.claim.id {
            "request-response-hurricane-1" => ClaimVerdict::SourceInconsistent,
            _ => ClaimVerdict::Holds,
        };
        assert_eq!(concluded.verdict, expected, "{}: {}", concluded.claim.id, concluded.our_values());
    }
    assert_eq!(document(&reproduction, Manifest::now("test", "0")).validate(), Ok(()));
    assert_eq!(reproduction.evidence.results().expect("names differ").rows(), 6);
}

#[test]
fn an_interrupted_reproduction_goes_on_where_it_was() {
    let options = options(&["table-5-1"]);
    let (stop, saved) = (AtomicBool::new(false), Mutex::new(BTreeMap::new()));
    let keep = |setup: &Setup, result: &Obtained| {
        let mut saved = saved.lock().unwrap();
        assert!(saved.insert(*setup, result.clone()).is_none(), "{setup} is run again");
        stop.store(saved.len() >= 2, Ordering::Relaxed);
        Ok(())
    };
    let interrupted = reproduce(&options, unwatched, |_| None, keep, |_| (), &stop);
    assert!(matches!(interrupted, Err(ReproduceError::Interrupted)));
    let before = saved.lock().unwrap().clone();
    let known = |setup: &Setup| before.get(setup).cloned();
    let keep = |setup: &Setup, result: &Obtained| {
        saved.lock().unwrap().insert(*setup, result.clone());
        Ok(())
    };
    let runs = reproduce(&options, unwatched, known, keep, |_| (), &AtomicBool::new(false))
        .expect("it is not stopped");
    assert_eq!(*runs.results, *saved.lock().unwrap());
    assert!(before.len() < runs.results.len());
}

#[test]
fn a_program_and_a_microbenchmark_run_on_two_nodes() {
    let program = Setup { nodes: 2, processors: 2, ..Setup::chapter_5(System::Mult, App::Lu) };
    let request = Setup::pair(System::Fixed, 2, Work::NullHandler(50));
    for setup in [program, request] {
        match Obtained::by(&setup, Size::Quick, &Preliminaries::default(), &unwatched()) {
            Obtained::Measured(measured) => assert!(measured.cycles > 0 && measured.handlers > 0, "{setup}"),
            Obtained::Failed(reason) => panic!("{setup}: {reason}"),
        }
    }
}

#[test]
fn a_run_without_a_result_leaves_its_claims_open_and_says_why() {
    let options = options(&["5-8"]);
    let failed = |_: &Setup| Some(Obtained::Failed("a test has made it fail".to_owned()));
    let stop = AtomicBool::new(false);
    let runs = reproduce(&options, unwatched, failed, |_, _| Ok(()), |_| (), &stop).expect("all is known");
    assert!(runs.notes().iter().any(|note| note.contains("a test has made it fail")));
    let reproduction = source().conclude(runs, options.figures);
    assert!(!reproduction.claims.is_empty());
    for concluded in &reproduction.claims {
        assert_eq!(concluded.verdict, ClaimVerdict::NotDerived, "{}", concluded.claim.id);
        assert!(concluded.reason().contains("a test has made it fail"), "{}", concluded.claim.id);
    }
    assert_eq!(document(&reproduction, Manifest::now("test", "0")).validate(), Ok(()));
}

#[test]
fn scaled_inputs_decide_nothing_about_programs() {
    let options = options(&["5-8"]);
    let alike = |_: &Setup| Some(same());
    let stop = AtomicBool::new(false);
    let runs = reproduce(&options, unwatched, alike, |_, _| Ok(()), |_| (), &stop).expect("all is known");
    let reproduction = source().conclude(runs, options.figures);
    assert!(reproduction.claims.iter().all(|one| one.verdict == ClaimVerdict::Undecided));
}

/// Runs of all that `figures` need, as `make` has them.
fn made(figures: &[&str], size: Size, make: impl Fn(&Setup) -> Measured + Sync) -> Runs {
    let options = Options { size, ..options(figures) };
    let known = |setup: &Setup| Some(Obtained::Measured(make(setup)));
    reproduce(&options, unwatched, known, |_, _| Ok(()), |_| (), &AtomicBool::new(false))
        .expect("all is known")
}

/// The figures of any run, with so many cycles.
fn of_cycles(cycles: u64) -> Measured {
    match same() {
        Obtained::Measured(measured) => Measured { cycles, ..measured },
        Obtained::Failed(reason) => panic!("{reason}"),
    }
}

#[test]
fn what_the_warm_up_computes_is_not_counted() {
    // A processor that seldom computes, of five: more than U of its time cannot be computing.
    let setup = Setup::pair(System::Fixed, 6, Work::NullHandler(5));
    match Obtained::by(&setup, Size::Quick, &Preliminaries::default(), &unwatched()) {
        Obtained::Measured(measured) => assert!(measured.computing < 6.0, "{}", measured.computing),
        Obtained::Failed(reason) => panic!("{reason}"),
    }
}

#[test]
fn every_claim_reads_the_runs_of_its_figures_alone() {
    let any = Measured { interrupts: 1, round_trip: Some(1.0), bandwidth: Some(1.0), ..of_cycles(1_000) };
    for claim in source().claims {
        let runs = made(claim.needs, Size::Published, |_| any);
        let finding = runs.find(&claim).expect("it is derived");
        assert!(!finding.found.is_empty(), "{}: {}", claim.id, finding.note);
    }
}

#[test]
fn a_microbenchmark_that_depends_on_its_seed_decides_little() {
    let verdict = |by: u64| {
        // Floating takes as long as Fixed, but for what the seed changes.
        let cycles = |setup: &Setup| match setup.system {
            System::Floating => 1_000_000 + by * (setup.seed % 2) - by / 2,
            _ => 999_000,
        };
        let runs = made(&["4-3"], Size::Quick, |setup| of_cycles(cycles(setup)));
        let figures = options(&["4-3"]).figures;
        let reproduction = source().conclude(runs, figures);
        let of = |id| reproduction.claims.iter().find(|one| one.claim.id == id).map(|one| one.verdict);
        of("null-floating-never-from-four")
    };
    assert_eq!(verdict(0), Some(ClaimVerdict::Holds));
    assert_eq!(verdict(10_000), Some(ClaimVerdict::Undecided));
}

#[test]
fn less_than_the_scatter_of_a_program_decides_nothing() {
    let verdicts = |by: u64| {
        // Em3d is faster under Fixed by a thousandth; latency changes all by more or less than that.
        let cycles = |setup: &Setup| {
            let middle = if setup.system == System::Floating { 10_010_000 } else { 10_000_000 };
            middle + by * (setup.network - 99)
        };
        let runs = made(&["4-5"], Size::Published, |setup| of_cycles(cycles(setup)));
        let reproduction = source().conclude(runs, options(&["4-5"]).figures);
        let of = |id| {
            let one = reproduction.claims.iter().find(|one| one.claim.id == id).expect("it is a claim");
            (one.verdict, one.reason().contains("within the scatter"))
        };
        ["em3d-fixed-at-two", "em3d-32", "majority-fixed"].map(of)
    };
    let [gain, far, count] = verdicts(100);
    assert_eq!(gain, (ClaimVerdict::Holds, false));
    assert_eq!(far, (ClaimVerdict::Differs, false));
    assert_eq!(count, (ClaimVerdict::Holds, false));
    let [gain, far, count] = verdicts(10_000);
    assert_eq!(gain, (ClaimVerdict::Undecided, true));
    assert_eq!(far, (ClaimVerdict::Differs, false));
    assert_eq!(count, (ClaimVerdict::Undecided, true));
}

#[test]
fn where_no_interrupt_happens_its_cost_decides_nothing() {
    let places = |busy: u32| {
        let make = |setup: &Setup| {
            let happens = matches!(setup.work, Work::NullHandler(percent) if percent >= busy);
            let interrupts = u64::from(happens && setup.system == System::Floating);
            Measured { interrupts, ..of_cycles(1_000 + setup.interrupt * interrupts) }
        };
        let runs = made(&["4-2"], Size::Quick, make);
        let claims = source().claims;
        let claim = claims.iter().find(|one| one.id == "fixed-best-with-slow-interrupts").expect("it exists");
        runs.find(claim).map_or(0, |finding| finding.found.len())
    };
    assert_eq!([places(5), places(50), places(91)], [12, 6, 0]);
}

/// The result of any run.
fn same() -> Obtained {
    let setup = Setup::remote_read(System::SComa);
    Obtained::by(&setup, Size::Quick, &Preliminaries::default(), &unwatched())
}
