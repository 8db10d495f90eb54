//! Programs that set what a plan sets, and would undo it without a word.

use super::plan::{Plan, Setting};
use super::system::System;

/// A program that runs and sets what the plan sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rival {
    /// Its name, as `/proc/PID/comm` has it.
    pub name: &'static str,
    /// What it sets.
    pub sets: &'static str,
    interrupts: bool,
    threads: bool,
}

/// The rivals that are known.
const KNOWN: [Rival; 3] = [
    Rival {
        name: "irqbalance",
        sets: "places interrupts anew every few seconds",
        interrupts: true,
        threads: false,
    },
    Rival {
        name: "tuned",
        sets: "places interrupts and threads as its profile says",
        interrupts: true,
        threads: true,
    },
    Rival { name: "numad", sets: "moves threads to the memory they use", interrupts: false, threads: true },
];

impl Rival {
    fn concerns(&self, set: &Setting) -> bool {
        match set {
            Setting::Interrupt { .. } | Setting::DefaultInterrupt { .. } => self.interrupts,
            Setting::Thread { .. } => self.threads,
            _ => false,
        }
    }
}

/// The rivals of `plan` that run now.
#[must_use]
pub fn running(plan: &Plan, system: &dyn System) -> Vec<Rival> {
    let is_rival = |rival: &Rival| plan.lines.iter().any(|line| rival.concerns(&line.set));
    let mut rivals: Vec<Rival> = KNOWN.into_iter().filter(is_rival).collect();
    if rivals.is_empty() {
        return rivals;
    }
    let entries = system.entries("proc").unwrap_or_default();
    let processes = entries.iter().filter(|entry| entry.bytes().all(|byte| byte.is_ascii_digit()));
    let names: Vec<String> =
        processes.filter_map(|number| system.read(&format!("proc/{number}/comm")).ok()).collect();
    rivals.retain(|rival| names.iter().any(|name| name.trim() == rival.name));
    rivals
}
