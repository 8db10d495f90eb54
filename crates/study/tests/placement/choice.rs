//! Which of several placements is chosen, and by which costs.

use super::sketch::sketch;
use super::{GOALS, observed, planned, request, steering};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use warmcore_costs::Profile;
use warmcore_study::placement::{Goal, HostPlacement, Target, Unplaceable, place};

/// Hosts that are drawn, the same ones each time.
const HOSTS: u32 = 40;

/// A placement that is refused is not in the way of others: where packets may also follow their readers, there is a plan
/// wherever there is one without that choice.
#[test]
fn a_choice_more_takes_no_plan_away() {
    let config = ProptestConfig { cases: HOSTS, ..ProptestConfig::default() };
    let server = Target::Name("server".to_owned());
    let mut runner = TestRunner::new_with_rng(config, TestRunner::deterministic().new_rng());
    let result = runner.run(&sketch(), |sketch| {
        let tree = sketch.tree();
        for goal in GOALS {
            let [with, without] = [tree.clone(), tree.clone().hiding("rps_flow_cnt")]
                .map(|tree| planned(&observed(&tree), &server, goal));
            prop_assert!(with.is_ok() || without.is_err(), "{goal}: {with:?} {without:?}");
        }
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

/// The plan for a crowded host whose softirqs took this part of each cpu.
fn with_softirqs(of_each: f64) -> Result<HostPlacement, Unplaceable> {
    let tree = steering::host(&[(0, 1_000); 16], |queue| format!("eth0-TxRx-{queue}"));
    let mut observed = observed(&tree);
    for cpu in &mut observed.rates.as_mut().expect("two looks").cpus {
        cpu.softirq = Some(of_each);
    }
    let profile = Profile::sgi_challenge_xl();
    place(&observed, &request(&Target::Name("server".to_owned()), Goal::Throughput, Some(&profile)))
}

#[test]
fn a_profile_by_which_the_packets_would_have_taken_far_longer_forecasts_nothing() {
    let placement = with_softirqs(0.001).expect("a plan that needs no costs");
    let why = placement.unforeseen.expect("no forecast");
    assert!(why.contains("the packets that arrived would take 1.6"), "{why}");
    assert!(why.contains("but softirqs took 0.06"), "{why}");
    assert!(with_softirqs(0.02).expect("a plan").then.is_some());
}

#[test]
fn a_kernel_that_takes_far_longer_than_the_profile_is_told_of() {
    let notes = with_softirqs(0.1).expect("a plan").notes.join("\n");
    assert!(notes.contains("Softirqs took 6.40 cpus; for the packets that came"), "{notes}");
    let notes = with_softirqs(0.02).expect("a plan").notes.join("\n");
    assert!(!notes.contains("for the packets that came"), "{notes}");
}
