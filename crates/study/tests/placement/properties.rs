//! Properties that every plan has.

use super::hosts::server_named as server;
use super::interrupt_cores::{card, thread, two_sockets};
use super::sketch::sketch;
use super::{GOALS, observed, planned, plans, steering};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use warmcore_linux::inventory::{Interrupt, Managed, Observation, Thread};
use warmcore_linux::tuning::{Line, Setting};
use warmcore_linux::{Inventory, fake};
use warmcore_study::placement::{Goal, HostPlacement, Target};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Sums differ by this in the order of summation.
const ROUNDING: f64 = 1e-9;

/// A forecast may fall by less than this, as a fraction: what a plan must gain at least counts as visible.
const VISIBLE: f64 = 0.01;

/// What is wrong with a plan for the host that was observed, if anything.
fn fault(observed: &Observation, goal: Goal, placement: &HostPlacement) -> Option<String> {
    if let Err(fault) = placement.plan.check() {
        return Some(fault.to_string());
    }
    let picture = &observed.inventory;
    let [now, then] = [&[][..], &placement.plan.lines].map(|lines| most_interrupted(observed, lines));
    if goal != Goal::Isolation && then > now + ROUNDING {
        return Some(format!("the busiest cpu gets {then} interrupts a second instead of {now}"));
    }
    if let (Some(now), Some(then)) = (&placement.now, &placement.then) {
        let shrunk = now.capacity.mean.0 - then.capacity.mean.0;
        if goal != Goal::Isolation && shrunk > now.capacity.mean.0 * VISIBLE {
            return Some(format!("capacity {} becomes {}", now.capacity, then.capacity));
        }
    }
    placement.plan.lines.iter().find_map(|line| {
        let wrong = wrong(picture, &line.set)?;
        Some(format!("{}: {wrong}", line.set))
    })
}

/// Receive interrupts of the cpu that gets most of them, a second, once `lines` are applied.
fn most_interrupted(observed: &Observation, lines: &[Line]) -> f64 {
    let mut on: BTreeMap<CpuId, f64> = BTreeMap::new();
    let rates = observed.rates.as_ref().expect("rates");
    let receives =
        |of: &&Interrupt| of.interface.is_some() && of.queue.is_none_or(|queue| queue.direction.receives());
    for interrupt in observed.inventory.interrupts.iter().filter(receives) {
        let rate =
            rates.interrupts.iter().find(|rate| rate.id == interrupt.id).map_or(0.0, |rate| rate.rate.0);
        let moved = lines.iter().find_map(|line| match &line.set {
            Setting::Interrupt { device, action, cpus, .. }
                if is_meant(interrupt, device, action.as_deref()) =>
            {
                Some(cpus.clone())
            }
            _ => None,
        });
        let cpus = moved.unwrap_or_else(|| interrupt.goes_to().clone());
        cpus.iter().for_each(|cpu| *on.entry(cpu).or_default() += rate / cpus.len() as f64);
    }
    on.into_values().fold(0.0, f64::max)
}

fn is_meant(interrupt: &Interrupt, device: &str, action: Option<&str>) -> bool {
    interrupt.devices.iter().any(|address| address.to_string() == device)
        && Some(interrupt.id.actions.join(",").as_str()) == action
}

fn wrong(picture: &Inventory, set: &Setting) -> Option<&'static str> {
    let cpus = set.cpus().cloned().unwrap_or_default();
    if !cpus.difference(&picture.machine.online()).is_empty() {
        return Some("offline");
    }
    let special = &picture.special_cpus;
    let kept_apart: CpuSet = special.isolated.iter().chain(special.nohz_full.iter()).collect();
    // What is on such a cpu already may stay there.
    let comes_to_isolated = |now: &CpuSet| !cpus.intersection(&kept_apart).difference(now).is_empty();
    match set {
        Setting::Thread { pid, thread, .. } => {
            let own = picture.threads.iter().filter(|of| of.key.pid == *pid);
            let own: Vec<&Thread> = own.filter(|of| thread.is_none_or(|tid| of.key.tid == tid)).collect();
            let leaves_cpuset = |thread: &&Thread| {
                let cpuset = picture.cpusets.iter().find(|of| Some(&of.group) == thread.group.as_ref());
                cpuset.is_some_and(|cpuset| !cpus.difference(&cpuset.cpus).is_empty())
            };
            let is_isolated = |of: &&Thread| of.allowed.as_ref().is_some_and(&comes_to_isolated);
            match () {
                () if own.is_empty() => Some("nobody's thread"),
                () if cpus.is_empty() => Some("nowhere"),
                () if own.iter().any(leaves_cpuset) => Some("outside the cpuset"),
                () if own.iter().any(is_isolated) => Some("isolated"),
                () => None,
            }
        }
        Setting::Cpuset { group, .. } => {
            let Some(cpuset) = picture.cpusets.iter().find(|of| of.group == *group) else {
                return Some("nobody's cpuset");
            };
            match () {
                () if cpus.is_empty() => Some("nowhere"),
                () if !cpus.difference(&cpuset.cpus).is_empty() => Some("outside the cpuset that it has"),
                () => comes_to_isolated(&CpuSet::default()).then_some("isolated"),
            }
        }
        Setting::Interrupt { device, action, .. } => {
            let mut meant = picture.interrupts.iter().filter(|of| is_meant(of, device, action.as_deref()));
            let Some(interrupt) = meant.next() else { return Some("nobody's interrupt") };
            let now = interrupt.allowed.clone().unwrap_or_default();
            match interrupt.managed {
                Managed::Yes => Some("managed"),
                _ => comes_to_isolated(&now).then_some("isolated"),
            }
        }
        Setting::DefaultInterrupt { .. } => {
            let now = picture.default_affinity.clone().unwrap_or_default();
            comes_to_isolated(&now).then_some("isolated")
        }
        Setting::RpsCpus { .. } => comes_to_isolated(&CpuSet::default()).then_some("isolated"),
        _ => None,
    }
}

#[test]
fn every_plan_keeps_to_what_may_be_used() {
    for (host, observed, goal, placement) in plans() {
        assert_eq!(fault(&observed, goal, &placement), None, "{} for {goal}", host.name);
    }
}

/// A control group on one node of two, whose card is on the other, where each core has an isolated hardware thread.
#[test]
fn the_cpuset_of_a_group_keeps_to_what_may_be_used() {
    let mut tree = two_sockets(
        vec![card("eth1", "0000:81:00.0", 1)],
        vec![thread(1000, 1000, 60, 3, &"0-127".parse().expect("cpus"))],
        &[1000],
    );
    let group = "/system.slice/server1000.service";
    tree.put(format!("sys/fs/cgroup{group}/cpuset.cpus"), "0-127");
    tree.put(format!("sys/fs/cgroup{group}/cpuset.cpus.effective"), "0-127");
    tree.put("sys/devices/system/cpu/isolated", "96-127");
    let observed = observed(&tree);
    for goal in [Goal::Throughput, Goal::Isolation] {
        let placement = planned(&observed, &Target::Group(group.to_owned()), goal).expect("a plan");
        let is_cpuset = |line: &Line| matches!(line.set, Setting::Cpuset { .. });
        assert!(placement.plan.lines.iter().any(is_cpuset), "{goal}: {:?}", placement.plan.lines);
        assert_eq!(fault(&observed, goal, &placement), None, "{goal}");
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

#[test]
fn interrupts_that_no_line_can_tell_apart_stay() {
    let crowded = [(0, 1_000); 16];
    let planned = |name: fn(usize) -> String| {
        let placement = planned(&observed(&steering::host(&crowded, name)), &server(), Goal::Throughput);
        let lines = placement.map(|placement| placement.lines).unwrap_or_default();
        let interrupts = lines.iter().filter(|line| matches!(line.set, Setting::Interrupt { .. }));
        interrupts.count()
    };
    assert_eq!(planned(|queue| format!("eth0-TxRx-{queue}")), 16);
    // Two of them have one name.
    assert_eq!(planned(|queue| format!("eth0-TxRx-{}", queue.max(1))), 14);
}

/// Debug builds take ten times as long as release builds, and a busy machine several times that.
#[test]
fn a_host_of_128_cpus_and_64_queues_takes_no_time() {
    let observed = observed(&fake::hosts::two_socket_server());
    for goal in GOALS {
        let began = Instant::now();
        let placement = planned(&observed, &server(), goal).expect("a plan");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(10), "{goal}: {took:?}");
        assert!(goal == Goal::Isolation || placement.lines.len() > 128, "{goal}");
        println!("{goal}: {took:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn plans_of_any_host_keep_to_what_may_be_used_and_are_the_same_again(sketch in sketch()) {
        let observed = observed(&sketch.tree());
        for goal in GOALS {
            let placement = planned(&observed, &server(), goal);
            prop_assert_eq!(&placement, &planned(&observed, &server(), goal));
            if let Ok(placement) = placement {
                prop_assert_eq!(fault(&observed, goal, &placement), None);
            }
        }
    }
}
