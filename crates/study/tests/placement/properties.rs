//! Properties that every plan has.

use super::sketch::sketch;
use super::{GOALS, picture, planned, plans};
use proptest::prelude::*;
use std::time::{Duration, Instant};
use warmcore_linux::inventory::Managed;
use warmcore_linux::tuning::Setting;
use warmcore_linux::{Inventory, fake};
use warmcore_study::placement::{Goal, HostPlacement, Target};

/// What is wrong with a plan for the host in `picture`, if anything.
fn fault(picture: &Inventory, goal: Goal, placement: &HostPlacement) -> Option<String> {
    if let Err(fault) = placement.plan.check() {
        return Some(fault.to_string());
    }
    if placement.plan.missing().is_some() {
        return Some("half a plan".to_owned());
    }
    placement.plan.lines.iter().find_map(|line| {
        let wrong = wrong(picture, goal, &line.set)?;
        Some(format!("{}: {wrong}", line.set))
    })
}

fn wrong(picture: &Inventory, goal: Goal, set: &Setting) -> Option<&'static str> {
    let cpus = set.cpus().cloned().unwrap_or_default();
    if !cpus.difference(&picture.machine.online()).is_empty() {
        return Some("offline");
    }
    match set {
        Setting::Thread { thread, .. } => {
            let thread = picture.threads.iter().find(|of| Some(of.key.tid) == *thread)?;
            let cpuset = picture.cpusets.iter().find(|cpuset| Some(&cpuset.group) == thread.group.as_ref());
            let outside = cpuset.is_some_and(|cpuset| !cpus.difference(&cpuset.cpus).is_empty());
            outside.then_some("outside the cpuset")
        }
        Setting::Interrupt { device, action, .. } => {
            let is_meant = |of: &&warmcore_linux::inventory::Interrupt| {
                of.devices.iter().any(|address| address.to_string() == *device)
                    && Some(of.id.actions.join(",")) == *action
            };
            let managed = picture.interrupts.iter().find(is_meant).map(|of| of.managed);
            let isolated = !cpus.intersection(&picture.special_cpus.isolated).is_empty();
            match managed {
                None => Some("nobody's interrupt"),
                Some(Managed::Yes) => Some("managed"),
                _ if isolated && goal != Goal::Isolation => Some("isolated"),
                _ => None,
            }
        }
        Setting::RpsCpus { .. } if !cpus.intersection(&picture.special_cpus.isolated).is_empty() => {
            Some("isolated")
        }
        _ => None,
    }
}

#[test]
fn every_plan_keeps_to_what_may_be_used() {
    for (host, picture, goal, placement) in plans() {
        assert_eq!(fault(&picture, goal, &placement), None, "{} for {goal}", host.name);
    }
}

#[test]
fn every_gain_has_its_half_width_or_says_why_there_is_none() {
    for (host, _, goal, placement) in plans() {
        for line in &placement.plan.lines {
            let gain = &line.expected_gain;
            let honest = gain.contains(" ± ") || gain.starts_with("unknown: ") || gain.starts_with("none: ");
            assert!(honest && !line.reason.is_empty(), "{} for {goal}: {gain}", host.name);
        }
    }
}

/// Debug builds take ten times as long as release builds, and a busy machine several times that.
#[test]
fn a_host_of_128_cpus_and_64_queues_takes_no_time() {
    let picture = picture(fake::hosts::two_socket_server());
    for goal in GOALS {
        let began = Instant::now();
        let placement = planned(&picture, &Target::Busiest, goal).expect("a plan");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(10), "{goal}: {took:?}");
        assert!(placement.lines.len() > 32, "{goal}");
        println!("{goal}: {took:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn plans_of_any_host_keep_to_what_may_be_used_and_are_the_same_again(sketch in sketch()) {
        let picture = picture(sketch.tree());
        for goal in GOALS {
            let placement = planned(&picture, &Target::Busiest, goal);
            prop_assert_eq!(&placement, &planned(&picture, &Target::Busiest, goal));
            if let Ok(placement) = placement {
                prop_assert_eq!(fault(&picture, goal, &placement), None);
            }
        }
    }
}
