//! The reproduction of Falsafi 1998, from the plan to its document.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_published::falsafi_1998::{
    App, Obtained, Options, ReproduceError, Setup, System, Work, reproduce, source,
};
use warmcore_published::{ClaimVerdict, Evidence, document};
use warmcore_record::Manifest;
use warmcore_workload::programs::Size;

fn options(figures: &[&str]) -> Options {
    let names: Vec<String> = figures.iter().map(|&name| name.to_owned()).collect();
    Options { figures: source().figures_named(&names).expect("they exist"), size: Size::Quick }
}

#[test]
fn a_remote_read_takes_what_the_text_says() {
    let options = options(&["table-5-1", "table-5-1-rows"]);
    let stop = AtomicBool::new(false);
    let runs = reproduce(&options, |_| None, |_, _| Ok(()), |_| (), &stop).expect("it is not stopped");
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
    let interrupted = reproduce(&options, |_| None, keep, |_| (), &stop);
    assert!(matches!(interrupted, Err(ReproduceError::Interrupted)));
    let before = saved.lock().unwrap().clone();
    let known = |setup: &Setup| before.get(setup).cloned();
    let keep = |setup: &Setup, result: &Obtained| {
        saved.lock().unwrap().insert(*setup, result.clone());
        Ok(())
    };
    let runs = reproduce(&options, known, keep, |_| (), &AtomicBool::new(false)).expect("it is not stopped");
    assert_eq!(runs.results, *saved.lock().unwrap());
    assert!(before.len() < runs.results.len());
}

#[test]
fn a_program_and_a_microbenchmark_run_on_two_nodes() {
    let program = Setup { nodes: 2, processors: 2, ..Setup::chapter_5(System::Mult, App::Lu) };
    let request = Setup::pair(System::Fixed, 2, Work::NullHandler(50));
    for setup in [program, request] {
        match Obtained::by(&setup, Size::Quick) {
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
    let runs = reproduce(&options, failed, |_, _| Ok(()), |_| (), &stop).expect("all is known");
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
    let runs = reproduce(&options, alike, |_, _| Ok(()), |_| (), &stop).expect("all is known");
    let reproduction = source().conclude(runs, options.figures);
    assert!(reproduction.claims.iter().all(|one| one.verdict == ClaimVerdict::Undecided));
}

/// The result of any run.
fn same() -> Obtained {
    let setup = Setup::remote_read(System::SComa);
    Obtained::by(&setup, Size::Quick)
}
