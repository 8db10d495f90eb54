//! How a plan would be applied at every start of the machine: a systemd unit, and a udev rule for
//! when a device of the plan comes back with other values. Nothing is installed here.

use super::plan::{Plan, Setting};
use std::collections::BTreeSet;
use std::path::Path;

/// The unit's name.
pub const UNIT: &str = "warmcore-host.service";

/// A plan that cannot be applied at every start.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "line {} pins threads of process {pid}, which will be another one after a restart: leave such lines out, and give \
     the unit of `{name}` the line `CPUAffinity={cpus}`", line + 1
)]
pub struct NotPersistable {
    /// The line, from 0.
    pub line: usize,
    /// The process.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Where its threads are to run.
    pub cpus: String,
}

/// Finds out whether every line means something after a restart.
///
/// # Errors
/// The first line that does not: one about a running process.
pub fn check(plan: &Plan) -> Result<(), NotPersistable> {
    let threads = plan.lines.iter().enumerate().find_map(|(line, of)| match &of.set {
        Setting::Thread { pid, name, cpus, .. } => {
            Some(NotPersistable { line, pid: *pid, name: name.clone(), cpus: cpus.to_string() })
        }
        _ => None,
    });
    threads.map_or(Ok(()), Err)
}

/// The unit that applies the plan at `path` with `flags` of `program host apply`.
#[must_use]
pub fn unit(program: &Path, path: &Path, flags: &[String]) -> String {
    let word = |path: &Path| quoted(&path.to_string_lossy());
    let flags: String = flags.iter().map(|flag| format!(" {}", quoted(flag))).collect();
    let (program, plan) = (word(program), word(path));
    format!(
        "# /etc/systemd/system/{UNIT}\n\
         [Unit]\n\
         Description=Placement of interrupts and packets\n\
         After=network.target irqbalance.service tuned.service\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         ExecStart={program} host apply --yes{flags} {plan}\n\
         ExecStop={program} host undo\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    )
}

/// The rule that applies the plan again when a device it is about is added or gets a driver.
#[must_use]
pub fn rule(plan: &Plan) -> String {
    let matches: BTreeSet<String> = plan.lines.iter().filter_map(|line| matching(&line.set)).collect();
    let run = format!("RUN+=\"/usr/bin/systemctl --no-block restart {UNIT}\"");
    let rules: String = matches.into_iter().map(|matching| format!("{matching}, {run}\n")).collect();
    format!("# /etc/udev/rules.d/90-warmcore-host.rules\n{rules}")
}

/// The events after which a setting has its default again.
fn matching(set: &Setting) -> Option<String> {
    match set {
        Setting::Interrupt { device, .. } => {
            Some(format!("ACTION==\"bind\", SUBSYSTEM==\"pci\", KERNEL==\"{device}\""))
        }
        _ => {
            let name = escaped(set.interface()?);
            Some(format!("ACTION==\"add\", SUBSYSTEM==\"net\", KERNEL==\"{name}\""))
        }
    }
}

/// A word of a command in a unit (systemd.service(5), "Command lines").
fn quoted(word: &str) -> String {
    let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{word}\"")
}

/// A name in a pattern of udev(7), where these characters stand for others.
fn escaped(name: &str) -> String {
    name.chars().map(|c| if "*?[]|\\\"".contains(c) { '?' } else { c }).collect()
}
