//! A machine of today can get both high and low confidence: its profile as measured by a quick study, and as
//! a quieter and a busier hour would have measured it.

use std::sync::atomic::AtomicBool;
use warmcore_costs::Profile;
use warmcore_costs::profile::{Measured, Runs};
use warmcore_record::document::ConfidenceLevel;
use warmcore_scenario::Study;
use warmcore_study::present::verdict::verdict;
use warmcore_study::{Findings, conclude};
use warmcore_units::{Nanos, PerSecond};

/// The profile of two processors, with `change` applied to every time.
fn profile(change: impl Fn(&mut Measured)) -> Profile {
    let mut profile: Profile = toml::from_str(include_str!("profiles/epyc-43ns.toml")).expect("a profile");
    for times in [&mut profile.times.locking, &mut profile.times.independent_stacks] {
        change(&mut times.fully_cold);
        for receive in times.cached.values_mut().chain(times.migrates.values_mut()) {
            change(&mut receive.hot);
            receive.cold.iter_mut().for_each(&change);
        }
    }
    if let Some(pool) = &mut profile.free_memory {
        change(&mut pool.acquire);
        change(&mut pool.release);
    }
    profile
        .intervened
        .iter_mut()
        .flat_map(|curve| &mut curve.points)
        .for_each(|point| change(&mut point.time));
    profile
}

/// A study of two processors at a few loads.
fn study(profile: Profile) -> Findings {
    let mut study = Study::quick(vec![2]);
    study.prediction.rates_per_s = [10_000.0, 1e6, 5e6, 1e7, 3e7].map(PerSecond).to_vec();
    conclude(&study, profile, None, &|_, _| (), &AtomicBool::new(false)).expect("it can be predicted")
}

fn levels(findings: &Findings) -> Vec<ConfidenceLevel> {
    verdict(findings).statements.iter().map(|statement| statement.confidence.level).collect()
}

#[test]
fn a_clear_winner_on_a_quiet_machine_is_sure() {
    let quiet = |time: &mut Measured| {
        let half_width = Some(time.mean * 0.005);
        *time = Measured { half_width, runs: 40, disturbed: 0, missed_target: false, ..*time };
    };
    let mut profile = profile(quiet);
    profile.provenance.runs = Some(Runs { made: 3_000, disturbed: 40, vcpu_moved: 0 });
    let findings = study(profile);
    let reasons = || verdict(&findings).statements;
    assert!(levels(&findings).contains(&ConfidenceLevel::High), "{:#?}", reasons());
}

#[test]
fn the_same_measured_in_a_busy_hour_is_not() {
    let busy = |time: &mut Measured| {
        let half_width = time.half_width.map(|half| half.max(time.mean * 0.3));
        *time = Measured { half_width, missed_target: true, rests_on_disturbed: true, ..*time };
    };
    let findings = study(profile(busy));
    assert!(
        levels(&findings).iter().all(|level| *level == ConfidenceLevel::Low),
        "{:#?}",
        verdict(&findings).statements
    );
    assert_eq!(verdict(&findings).confidence.map(|confidence| confidence.level), Some(ConfidenceLevel::Low));
}

/// The verdict states the distance of the processors, and how the choices change with more streams.
#[test]
fn the_scope_names_the_distance_and_more_streams() {
    let mut profile = profile(|_| ());
    profile.provenance.handover_range = Some([Nanos(40.2), Nanos(51.0)]);
    let findings = study(profile);
    let scope = verdict(&findings).scope;
    assert!(scope.contains("43 ns (40 ns to 51 ns)") && scope.contains("with 64 streams"), "{scope}");
}
