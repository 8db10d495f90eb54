//! A plan is accepted unchanged, applied, and undone, on the files of the host that it was made for.

use super::scene::{self, Scene};
use super::{GOALS, all, observed, planned};
use tempfile::TempDir;
use warmcore_linux::inventory::Observation;
use warmcore_linux::tuning::Plan;
use warmcore_study::placement::HostPlacement;

/// The host's files below `place`. Its plan is applied as written, then undone.
fn try_out(told: &str, place: &TempDir, observed: &Observation, placement: &HostPlacement) {
    let text = toml::to_string(&placement.plan).expect("a plan is a document");
    let plan: Plan = toml::from_str(&text).expect("a document is a plan");
    assert_eq!(plan, placement.plan, "{told}");
    let scene = Scene::at(place.path(), &plan);
    let before = scene.files();
    let steps = scene.steps(&observed.inventory).unwrap_or_else(|error| panic!("{told}: {error}"));
    assert!(!steps.is_empty(), "{told}");

    scene.apply(steps, &scene.disk()).unwrap_or_else(|error| panic!("{told}: {error}"));
    assert_ne!(scene.files(), before, "{told}");
    assert!(scene.is_applied(), "{told}");
    assert_eq!(scene.undo(), Ok(true), "{told}");
    assert_eq!(scene.files(), before, "{told}");
}

#[test]
fn every_plan_is_admitted_as_it_is_written_applied_and_taken_back() {
    let (mut applied, mut longest) = (0, 0);
    for host in all() {
        let observed = observed(&host.tree);
        let plans = GOALS.map(|goal| (goal, planned(&observed, &host.subject, goal)));
        let mut plans = plans.into_iter().filter_map(|(goal, plan)| Some((goal, plan.ok()?))).peekable();
        if plans.peek().is_none() {
            continue;
        }
        let place = tempfile::tempdir().expect("a temporary folder");
        scene::write(&host.tree, place.path());
        for (goal, placement) in plans {
            try_out(&format!("{} for {goal}", host.name), &place, &observed, &placement);
            applied += 1;
            longest = longest.max(placement.plan.lines.len());
        }
    }
    assert!(applied >= 15 && longest > 128, "{applied} plans, one of {longest} lines");
}
