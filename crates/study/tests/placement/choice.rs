//! Which of several placements is chosen, and by which costs.

use super::sketch::sketch;
use super::{GOALS, observed, planned, request, steering};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use warmcore_costs::Profile;
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, Target, Unplaceable, place};
use warmcore_units::CpuId;

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

/// The plan for a host whose 16 queues crowd cpu 0, with so many packets a second each. Softirqs took these parts of cpu 0
/// and of each other cpu.
fn with_softirqs(rate: u64, here: f64, elsewhere: f64) -> Result<HostPlacement, Unplaceable> {
    let tree = steering::host(&[(0, rate); 16], |queue| format!("eth0-TxRx-{queue}"));
    let mut observed = observed(&tree);
    for cpu in &mut observed.rates.as_mut().expect("two looks").cpus {
        cpu.softirq = Some(if cpu.cpu == CpuId(0) { here } else { elsewhere });
    }
    let profile = Profile::sgi_challenge_xl();
    place(&observed, &request(&Target::Name("server".to_owned()), Goal::Throughput, Some(&profile)))
}

#[test]
fn a_profile_by_which_the_packets_would_have_taken_far_longer_forecasts_nothing() {
    // What softirqs take where no packets are processed is not theirs.
    let placement = with_softirqs(1_000, 0.06, 0.5).expect("a plan that needs no costs");
    let why = placement.unforeseen.expect("no forecast");
    assert!(why.contains("the packets that arrived would take 1.6"), "{why}");
    assert!(why.contains("but softirqs there took 0.06"), "{why}");
    assert!(with_softirqs(1_000, 0.9, 0.0).expect("a plan").then.is_some());
}

#[test]
fn a_kernel_that_takes_far_longer_than_the_profile_is_told_of() {
    let told = |here| with_softirqs(100, here, 0.5).expect("a plan").notes.join("\n");
    assert!(
        told(0.6).contains("Softirqs took 0.60 cpus where packets are processed; for the packets"),
        "{}",
        told(0.6)
    );
    assert!(!told(0.2).contains("where packets are processed"));
}

#[test]
fn packets_are_spread_only_if_softirqs_take_long_where_they_are_processed() {
    let spread = |elsewhere| {
        let tree = steering::host(&[(0, 1_500), (1, 1_500)], |queue| format!("eth0-TxRx-{queue}"));
        let mut observed = observed(&tree);
        for cpu in &mut observed.rates.as_mut().expect("two looks").cpus {
            let is_here = cpu.cpu.0 < 2;
            cpu.softirq = Some(if is_here { 1.0 - elsewhere } else { elsewhere });
        }
        let placement =
            place(&observed, &request(&Target::Name("server".to_owned()), Goal::Throughput, None));
        let lines = placement.map(|placement| placement.plan.lines).unwrap_or_default();
        lines.iter().any(|line| matches!(&line.set, Setting::RpsCpus { cpus, .. } if !cpus.is_empty()))
    };
    assert!(!spread(0.96), "the time is that of others");
    assert!(spread(0.04));
}
