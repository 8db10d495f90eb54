//! A host in a terminal: who is on which cpu.

use super::{driver, mismatch, words};
use crate::terminal::table;
use crate::visible::{visible, visible_lines};
use std::collections::BTreeSet;
use warmcore_linux::inventory::{Interface, Observation};
use warmcore_linux::{Inventory, Rates};
use warmcore_study::placement::Mismatch;

/// The most cpus that get a line.
const CPUS: usize = 16;
/// The most interfaces that get a line.
const INTERFACES: usize = 10;

/// The picture; where `observed` has rates, of what happened lately instead of since the machine started.
pub(super) fn picture(observed: &Observation, mismatch: &Mismatch) -> String {
    let (inventory, rates) = (&observed.inventory, observed.rates.as_ref());
    let mut text = head(inventory, rates);
    text += &mismatch::part(mismatch, inventory);
    text += &cpus(inventory, rates);
    text += &interfaces(inventory);
    let lines = driver::lines(inventory).into_iter().chain(words::circumstances(inventory));
    for line in lines.chain(words::restarted(rates)) {
        text += &format!("{line}\n");
    }
    for line in words::unseen(inventory) {
        text += &format!("Not seen: {line}.\n");
    }
    visible_lines(&text)
}

fn head(inventory: &Inventory, rates: Option<&Rates>) -> String {
    let machine = &inventory.machine;
    let nodes = machine.cpus.iter().map(|cpu| cpu.node).collect::<BTreeSet<_>>().len();
    let kernel = inventory
        .conditions
        .kernel
        .as_ref()
        .map(|kernel| format!(", Linux {}", visible(kernel)))
        .unwrap_or_default();
    let since = match (rates, inventory.uptime) {
        (Some(rates), _) => format!("in the last {}", rates.elapsed),
        (None, Some(uptime)) => format!("in the {} since its start", lasted(uptime.secs())),
        (None, None) => "since its start".to_owned(),
    };
    let plural = if nodes == 1 { "" } else { "s" };
    format!(
        "{}: {} cpus on {nodes} NUMA node{plural}{kernel}; {since}\n{}\n\n",
        visible(&machine.name),
        machine.cpus.len(),
        words::headline(inventory)
    )
}

/// `42 s`, `17 min`, `5 h`, `12 d`.
fn lasted(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} d", s / 86_400.0),
    }
}

fn cpus(inventory: &Inventory, rates: Option<&Rates>) -> String {
    let mut cpus = words::cpus(inventory, rates);
    if cpus.is_empty() {
        return String::new();
    }
    let all = cpus.len();
    let quiet = inventory.processors.len() - all;
    cpus.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    cpus.truncate(CPUS);
    cpus.sort_by_key(|of| of.cpu);
    let mut table =
        table(["cpu", "place", "busy", "softirq", "packets", "interrupts", "steering", "busy threads"]);
    for of in &cpus {
        let lists = [&of.interrupts, &of.steering, &of.threads].map(|names| words::few(names));
        let figures = [&of.place, &of.busy, &of.softirq, &of.packets].map(String::clone);
        table.add_row([of.cpu.0.to_string()].into_iter().chain(figures).chain(lists));
    }
    let others = [
        (all - cpus.len(), "with less to do are in --json"),
        (quiet, "take no interrupts and ran no busy thread"),
    ];
    let others = others
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} more cpus {what}"));
    let others: Vec<String> = others.collect();
    let rest = if others.is_empty() { String::new() } else { format!("{}.\n", others.join("; ")) };
    format!("{table}\n{rest}\n")
}

fn interfaces(inventory: &Inventory) -> String {
    let physical = |interface: &&Interface| interface.is_physical();
    let (first, then): (Vec<_>, Vec<_>) = inventory.interfaces.iter().partition(physical);
    let all: Vec<_> = first.into_iter().chain(then.into_iter().filter(|of| of.name != "lo")).collect();
    if all.is_empty() {
        return String::new();
    }
    let header =
        ["interface", "driver", "at", "node", "rx/tx", "interrupts go to", "may go to", "RPS", "RFS", "XPS"];
    let mut table = table(header);
    for interface in all.iter().take(INTERFACES) {
        let [goes, may] = words::targets(inventory, interface);
        let [rps, rfs, xps] = words::steering(interface);
        table.add_row([
            visible(&interface.name),
            visible(interface.driver.as_ref().or(interface.kind.as_ref()).map_or("virtual", String::as_str)),
            interface.device.as_ref().map(ToString::to_string).unwrap_or_default(),
            interface.node.map(|node| node.to_string()).unwrap_or_default(),
            format!("{}/{}", interface.receive.len(), interface.transmit.len()),
            goes,
            may,
            rps,
            rfs,
            xps,
        ]);
    }
    let more = match all.len().saturating_sub(INTERFACES) {
        0 => String::new(),
        more => format!("{more} more interfaces are in --json.\n"),
    };
    format!("{table}\n{more}\n")
}
