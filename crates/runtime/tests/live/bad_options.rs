//! Invalid options are refused before anything is received.

use super::numbered::Numbered;
use super::support::*;
use std::sync::atomic::Ordering;
use warmcore_runtime::run;
use warmcore_runtime::{Options, RunError};
use warmcore_scenario::{Parallelism, ProcessorPolicy, QueueRule, Scheduling};
use warmcore_units::CpuId;

/// Runs with options that `spoil` has made invalid, and returns the error. Nothing may be received.
fn refusal(spoil: impl FnOnce(&mut Options)) -> RunError {
    let mut options = options(Scheduling::default(), 4);
    spoil(&mut options);
    let driver = Numbered::new(4, 10);
    let offered = driver.offered.clone();
    let ended = run(&options, &mut { driver }, &flows(4), &ignoring, |_| {
        panic!("a run with invalid options must not start")
    });
    assert_eq!(offered.load(Ordering::Relaxed), 0);
    ended.unwrap_err()
}

#[test]
fn invalid_options_are_refused_by_name() {
    let _lock = lock_processors();
    let field = |spoil: fn(&mut Options)| match refusal(spoil) {
        RunError::Option { field, expected, .. } if !expected.is_empty() => field,
        error => panic!("{error}"),
    };
    assert_eq!(field(|options| options.cpus.clear()), "cpus");
    assert_eq!(field(|options| options.cpus.push(options.cpus[0])), "cpus");
    assert_eq!(field(|options| options.streams = 3), "streams");
    assert_eq!(field(|options| options.stacks = 0), "stacks");
    assert_eq!(field(|options| options.stacks = 5), "stacks");
    assert_eq!(field(|options| options.capacity = 0), "capacity");
    let impossible = Scheduling {
        approach: Parallelism::Hybrid,
        policy: ProcessorPolicy::Hash,
        queue: QueueRule::SameStreamFirst,
        ..Scheduling::default()
    };
    assert!(matches!(
        refusal(|options| options.scheduling = impossible),
        RunError::Option { field: "scheduling", .. }
    ));
}

#[test]
fn a_processor_that_is_not_there_is_named() {
    let _lock = lock_processors();
    for absent in [CpuId(1023), CpuId(u32::MAX)] {
        let error = refusal(|options| options.cpus.push(absent));
        assert!(matches!(error, RunError::Pin { .. }), "{error}");
        assert!(error.to_string().contains("expected"), "{error}");
    }
}
