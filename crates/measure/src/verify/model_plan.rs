//! The part of a plan that each affinity model of Foong, Fung & Newell 2004 applies.

use crate::model::Model;
use warmcore_linux::tuning::{Line, Plan};

/// The lines of `plan` that `model` applies. The other models put things where no plan does, so they
/// apply none of its lines.
#[must_use]
pub fn model_plan(plan: &Plan, model: Model) -> Plan {
    let wanted = |line: &&Line| match model {
        Model::InterruptOnly => !line.set.places_threads(),
        Model::ProcessOnly => line.set.places_threads(),
        Model::Full => true,
        Model::None | Model::Crossed | Model::Cpu0 | Model::ProcessCpu0 => false,
    };
    Plan { lines: plan.lines.iter().filter(wanted).cloned().collect(), ..plan.clone() }
}

/// The models to run for `plan`: no affinity, the same again (A/A), interrupts only and processes only
/// if the plan has lines for both, and the whole plan.
#[must_use]
pub fn models_to_try(plan: &Plan) -> Vec<Model> {
    let has = |model: Model| !model_plan(plan, model).lines.is_empty();
    let mut models = vec![Model::None, Model::None];
    if has(Model::InterruptOnly) && has(Model::ProcessOnly) {
        models.extend([Model::InterruptOnly, Model::ProcessOnly]);
    }
    models.push(Model::Full);
    models
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use warmcore_linux::tuning::{Fingerprint, Setting};
    use warmcore_topology::CpuSet;

    /// A plan of these settings, in this order.
    pub(in crate::verify) fn plan(sets: &[Setting]) -> Plan {
        let line =
            |set: &Setting| Line { set: set.clone(), reason: String::new(), expected_gain: String::new() };
        let machine = Fingerprint { cpus: CpuSet::default(), nodes: Vec::new(), interfaces: Vec::new() };
        Plan { schema: Plan::SCHEMA, machine, promise: None, lines: sets.iter().map(line).collect() }
    }

    #[test]
    fn a_plan_without_threads_is_not_split() {
        let cpus = || "1".parse().expect("a set");
        let steering = Setting::DefaultInterrupt { cpus: cpus() };
        let thread = Setting::Thread { pid: 1, started: 1, name: "a".to_owned(), thread: None, cpus: cpus() };
        let whole = plan(&[steering.clone(), thread]);
        let names: Vec<String> = models_to_try(&whole).iter().map(Model::to_string).collect();
        assert_eq!(names, ["none", "none", "interrupt-only", "process-only", "full"]);
        let lines = models_to_try(&whole)
            .iter()
            .map(|model| model_plan(&whole, *model).lines.len())
            .collect::<Vec<_>>();
        assert_eq!(lines, [0, 0, 1, 1, 2]);
        assert_eq!(models_to_try(&plan(&[steering])), [Model::None, Model::None, Model::Full]);
    }
}
