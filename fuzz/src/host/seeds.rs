//! Real documents, with which the fuzzer begins: plans, and the journals of applying them.

use super::Machine;
use super::scene;
use std::path::PathBuf;
use std::{env, fs};
use warmcore_linux::tuning::{Line, Plan};

/// Lines that the plan of the tests does not have: one that changes channels, and some behind links out of the
/// machine, which no plan may reach.
const MORE: &str = r#"
    [[lines]]
    set = { channels = { interface = "eth0", combined = 1 } }

    [[lines]]
    set = { cpuset = { group = "/out", cpus = "2-3" } }

    [[lines]]
    set = { rps_cpus = { interface = "out0", queue = 0, cpus = "1" } }
"#;

/// Plans by name: the whole one of the tests, and one for each of its lines and some more.
///
/// # Panics
/// If a plan is no document.
#[must_use]
pub fn plans() -> Vec<(String, String)> {
    #[derive(serde::Deserialize)]
    struct Lines {
        lines: Vec<Line>,
    }
    let whole = scene::plan();
    let more: Lines = toml::from_str(MORE).expect("lines of a plan");
    let lines = whole.lines.iter().chain(&more.lines);
    let single = lines.map(|line| Plan { lines: vec![line.clone()], ..whole.clone() });
    let text = |plan: &Plan| toml::to_string(plan).expect("a plan is a document");
    let named = single.enumerate().map(|(index, plan)| (format!("line-{index}.toml"), text(&plan)));
    named.chain([("whole.toml".to_owned(), text(&whole))]).collect()
}

/// Journals by name: of every plan that can be applied, as it is in force; the machine's folder is `ROOT` in them.
///
/// # Panics
/// If a plan cannot be undone.
#[must_use]
pub fn journals() -> Vec<(String, String)> {
    let journal = |(name, text): (String, String)| {
        let machine = Machine::new();
        let plan: Plan = toml::from_str(&text).expect("a plan");
        warmcore_linux::tuning::steps(&plan, &machine.scene.disk()).ok()?;
        machine.scene.apply_plan_through(&plan, &machine.scene.disk()).ok()?;
        let path = machine.scene.journals.path().join("active.journal");
        let journal = fs::read_to_string(path).expect("a journal");
        let root = machine.scene.root.to_str().expect("a path in UTF-8");
        Some((name.replace(".toml", ".journal"), journal.replace(root, "ROOT")))
    };
    plans().into_iter().filter_map(journal).collect()
}

/// Writes `documents` into the folder that `WARMCORE_SEEDS` names, if it does.
///
/// # Panics
/// If a file cannot be written.
pub fn write(documents: impl FnOnce() -> Vec<(String, String)>) {
    let Some(folder) = env::var_os("WARMCORE_SEEDS").map(PathBuf::from) else { return };
    for (name, text) in documents() {
        fs::write(folder.join(name), text).expect("a file can be written");
    }
}
