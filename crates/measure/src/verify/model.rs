//! The affinity models of Foong, Fung & Newell 2004, "Results and Analysis", and what they mean for a plan.

use std::fmt;
use warmcore_linux::tuning::{Line, Plan};

/// What is placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// Nothing: all is where the kernel puts it. The control of an experiment.
    NoAffinity,
    /// Where packets are handled: interrupts and steering.
    InterruptOnly,
    /// Where threads run.
    ProcessOnly,
    /// Both.
    Full,
}

impl Model {
    /// The lines of `plan` that this model is about.
    #[must_use]
    pub fn part_of(self, plan: &Plan) -> Plan {
        let wanted = |line: &&Line| match self {
            Self::NoAffinity => false,
            Self::InterruptOnly => !line.set.places_threads(),
            Self::ProcessOnly => line.set.places_threads(),
            Self::Full => true,
        };
        Plan { lines: plan.lines.iter().filter(wanted).cloned().collect(), ..plan.clone() }
    }
}

/// The source's words.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NoAffinity => "none",
            Self::InterruptOnly => "interrupt-only",
            Self::ProcessOnly => "process-only",
            Self::Full => "full",
        })
    }
}

/// What is to be tried of `plan`: no affinity, the same again (A/A), its halves if it has both, and all of
/// it.
#[must_use]
pub fn of(plan: &Plan) -> Vec<Model> {
    let has = |model: Model| !model.part_of(plan).lines.is_empty();
    let mut models = vec![Model::NoAffinity, Model::NoAffinity];
    if has(Model::InterruptOnly) && has(Model::ProcessOnly) {
        models.extend([Model::InterruptOnly, Model::ProcessOnly]);
    }
    models.push(Model::Full);
    models
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::tuning::{Fingerprint, Setting, plan::SCHEMA};
    use warmcore_topology::CpuSet;

    fn plan(sets: &[Setting]) -> Plan {
        let line =
            |set: &Setting| Line { set: set.clone(), reason: String::new(), expected_gain: String::new() };
        let machine = Fingerprint { cpus: CpuSet::default(), nodes: Vec::new(), interfaces: Vec::new() };
        Plan { schema: SCHEMA, machine, lines: sets.iter().map(line).collect() }
    }

    #[test]
    fn a_half_plan_has_no_halves() {
        let cpus = || "1".parse().expect("a set");
        let steering = Setting::DefaultInterrupt { cpus: cpus() };
        let thread = Setting::Thread { pid: 1, started: 1, name: "a".to_owned(), thread: None, cpus: cpus() };
        let whole = plan(&[steering.clone(), thread]);
        let names: Vec<String> = of(&whole).iter().map(Model::to_string).collect();
        assert_eq!(names, ["none", "none", "interrupt-only", "process-only", "full"]);
        let lines = of(&whole).iter().map(|model| model.part_of(&whole).lines.len()).collect::<Vec<_>>();
        assert_eq!(lines, [0, 0, 1, 1, 2]);
        assert_eq!(of(&plan(&[steering])), [Model::NoAffinity, Model::NoAffinity, Model::Full]);
    }
}
