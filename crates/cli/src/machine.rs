//! `warmcore machine`.

use crate::args::MachineArguments;
use crate::json::{self, Versioned};
use crate::probe::look;
use crate::terminal::table;
use miette::{IntoDiagnostic, WrapErr};
use warmcore_linux::Probe;
use warmcore_topology::{CacheKind, Machine};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

pub(crate) fn run(arguments: &MachineArguments) -> miette::Result<()> {
    let probed = look(arguments.root.as_deref(), Probe::machine)?
        .into_diagnostic()
        .wrap_err("cannot look at the machine")?;
    let text = if arguments.json {
        json::pretty(&Versioned::new(SCHEMA, &probed.machine))?
    } else {
        let warnings: String = probed.warnings.iter().map(|warning| format!("note: {warning}\n")).collect();
        describe(&probed.machine) + &warnings
    };
    crate::output::print(text.as_bytes())
}

/// The machine in words and tables.
fn describe(machine: &Machine) -> String {
    let cores = machine.usable_cores();
    let mut text = format!("{}\n\n", machine.name);
    let mut cpus = table(["cpu", "core", "package", "node", "SMT siblings", "usable"]);
    for cpu in &machine.cpus {
        let siblings: Vec<String> = cpu
            .smt_siblings
            .iter()
            .filter(|&other| other != cpu.id)
            .map(|other| other.0.to_string())
            .collect();
        let siblings = if siblings.is_empty() { "none".to_owned() } else { siblings.join(",") };
        let usable = if machine.limits.allowed.contains(cpu.id) { "yes" } else { "no" };
        let numbers = [cpu.id.0, cpu.core, cpu.package, cpu.node].map(|number| number.to_string());
        cpus.add_row(numbers.into_iter().chain([siblings, usable.to_owned()]));
    }
    let mut caches = table(["cache", "size", "line", "ways", "shared by cpus", "private to a core"]);
    for cache in &machine.caches {
        let kind = match cache.kind {
            CacheKind::Unified => String::new(),
            kind => format!(" {kind}"),
        };
        caches.add_row([
            format!("L{}{kind}", cache.level),
            cache.geometry.size.to_string(),
            cache.geometry.line.to_string(),
            cache.geometry.ways.to_string(),
            cache.shared_by.to_string(),
            if machine.is_private(cache) { "yes" } else { "no" }.to_owned(),
        ]);
    }
    text += &format!("{cpus}\n\n{caches}\n\n");
    text += &format!(
        "This process may use cpus {} ({} physical {}).\n",
        machine.limits.allowed,
        cores.len(),
        if cores.len() == 1 { "core" } else { "cores" }
    );
    if let Some(quota) = machine.limits.cpu_quota {
        text += &format!("Its control group limits it to {quota} cpus' worth of time.\n");
    }
    if cores.len() < 2 {
        text += "With one core, the cost of migration between processors cannot be measured.\n";
    }
    text
}
