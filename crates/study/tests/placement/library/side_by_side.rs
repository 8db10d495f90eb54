//! Our plans beside an expert's and those of other tools, for every host of the library.
//! `WARMCORE_REWRITE=1` writes the reviewed table anew.

use super::quality::{Quality, Queue, queues};
use super::rules::{PERFTUNE, RULES, perftune_settings};
use super::{Case, hosts};
use crate::{observed, request};
use core::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use warmcore_linux::inventory::Observation;
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, PlannedLine, Request, Unplaceable, place};
use warmcore_units::CpuId;

fn plan(case: &Case, observed: &Observation) -> Result<HostPlacement, Unplaceable> {
    let interfaces: Vec<String> = case.spread.iter().map(|&name| name.to_owned()).collect();
    let channels = case.channels;
    place(
        observed,
        &Request { interfaces: &interfaces, channels, ..request(&case.reader, Goal::Throughput, None) },
    )
}

/// The lines of a plan that change something.
fn changes(placement: &HostPlacement) -> impl Iterator<Item = &PlannedLine> {
    let lines = placement.lines.iter();
    lines.filter(|line| line.changes)
}

/// Where the plan puts each queue.
fn ours(placement: Option<&HostPlacement>, queues: &[Queue<'_>]) -> Vec<CpuId> {
    let moved = |queue: &Queue<'_>| {
        let name = queue.interrupt.id.actions.join(",");
        changes(placement?).find_map(|line| match &line.set {
            Setting::Interrupt { action: Some(action), cpus, .. } if *action == name => cpus.first(),
            _ => None,
        })
    };
    queues.iter().map(|queue| moved(queue).unwrap_or(queue.now)).collect()
}

fn expert(case: &Case, queues: &[Queue<'_>]) -> Vec<CpuId> {
    let told = |queue: &Queue<'_>| {
        let mut told = case.queues.iter();
        let found =
            told.find(|(interface, number, _)| (*interface, *number) == (queue.interface, queue.number));
        found.map(|&(_, _, cpu)| CpuId(cpu))
    };
    queues.iter().map(|queue| told(queue).unwrap_or(queue.now)).collect()
}

/// How the placement `other` compares with `ours`, in words.
fn beside(ours: &Quality, other: &Quality) -> String {
    match other.compare(ours) {
        (Ordering::Equal, _) => "as ours".to_owned(),
        (Ordering::Greater, "queues that move") => "same placement with more moves".to_owned(),
        (Ordering::Less, by) => format!("better: fewer {by}"),
        (Ordering::Greater, by) => format!("worse: more {by}"),
    }
}

#[test]
fn every_plan_is_as_good_as_an_experts() {
    for case in hosts::all() {
        let observed = observed(&case.tree);
        let queues = queues(&observed);
        assert!(!queues.is_empty(), "{}: its queues are not known", case.name);
        let placement = plan(&case, &observed);
        let placement = placement.as_ref();
        let [ours, expert] = [ours(placement.ok(), &queues), expert(&case, &queues)]
            .map(|cpus| Quality::new(&observed, &queues, &cpus));
        let (order, by) = ours.compare(&expert);
        assert_ne!(order, Ordering::Greater, "{}: more {by}: {ours:?}, {expert:?}", case.name);
        for (setting, value) in &case.others {
            let lines = placement.expect("a plan");
            let found =
                changes(lines).find(|line| line.set.to_string() == *setting).map(|line| line.to.as_str());
            assert_eq!(found, Some(*value), "{}: {setting}", case.name);
        }
        if case.queues.is_empty() && case.others.is_empty() {
            let made: Vec<String> = placement
                .iter()
                .flat_map(|placement| changes(placement))
                .map(|line| line.set.to_string())
                .collect();
            assert!(made.is_empty(), "{}: {made:?}", case.name);
        }
    }
}

/// What our plan does, in few words.
fn made(placement: &Result<HostPlacement, Unplaceable>) -> String {
    match placement {
        Ok(placement) => format!("{} lines change something", changes(placement).count()),
        Err(Unplaceable::Quiet(rate)) => format!("nothing: {rate} is no load"),
        Err(Unplaceable::NothingToGain(_)) => "nothing".to_owned(),
        Err(why) => panic!("no plan: {why}"),
    }
}

#[test]
fn the_table_beside_other_tools_is_the_one_that_was_reviewed() {
    let cases = hosts::all();
    assert!(cases.len() >= 20, "{}", cases.len());
    let tools = RULES.map(|(name, _)| name).join(" | ");
    let mut table = format!("| host | an expert | `host plan` | {tools} |\n|---|---|---|---|---|---|\n");
    let mut sources = String::new();
    let mut counts = RULES.map(|_| BTreeMap::new());
    for case in cases {
        let observed = observed(&case.tree);
        let queues = queues(&observed);
        let placement = plan(&case, &observed);
        let quality = |cpus: Vec<CpuId>| Quality::new(&observed, &queues, &cpus);
        let ours = quality(ours(placement.as_ref().ok(), &queues));
        let moves_readers = placement.iter().flat_map(changes).any(|line| line.set.places_threads());
        let rules = RULES.map(|(name, rule)| match case.channels {
            true if name == PERFTUNE => perftune_settings(&observed.inventory),
            true => "changes no channels".to_owned(),
            false => {
                let words = beside(&ours, &quality(rule(&observed.inventory, &queues)));
                let is_alike = !words.contains(':');
                // No tool but ours moves readers.
                if is_alike && moves_readers { words + ": readers are not compared" } else { words }
            }
        });
        for (counts, rule) in counts.iter_mut().zip(&rules) {
            let word = rule.split(':').next().unwrap_or_default().to_owned();
            *counts.entry(word).or_insert(0) += 1;
        }
        let (name, made) = (case.name.replace('_', " "), made(&placement));
        writeln!(table, "| {name} | {} | {made} | {} |", case.expert, rules.join(" | "))
            .expect("a text can be written to");
        writeln!(sources, "- {name}: {}", case.source).expect("a text can be written to");
    }
    let sums = counts.map(|counts: BTreeMap<String, usize>| {
        counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    });
    let text = format!("{table}| **in all** | | | {} |\n\n{sources}", sums.join(" | "));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/placement/plans/library.md");
    if std::env::var_os("WARMCORE_REWRITE").is_some() {
        fs::write(&file, &text).expect("a table can be written");
    }
    assert_eq!(text, fs::read_to_string(&file).unwrap_or_default(), "another table than was reviewed");
}
