//! Applies a plan at every boot: writes a systemd unit, and udev rules for devices that are added again
//! and have lost their settings. Nothing is installed here.

use super::plan::{Plan, Setting};
use std::collections::BTreeSet;
use std::path::Path;

/// The name of the systemd unit.
pub const UNIT: &str = "warmcore-host.service";

/// The plan cannot be applied at every boot.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "line {} pins threads of process {pid}, which will not exist after a reboot: leave out such lines, and add \
     `CPUAffinity={cpus}` to the unit of `{name}`", line + 1
)]
pub struct NotPersistable {
    /// The line, from 0.
    pub line: usize,
    /// The number of the process.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// The cpus on which its threads should run.
    pub cpus: String,
}

/// Checks that every line is still valid after a reboot.
///
/// # Errors
/// The first line that is not: one about a running process.
pub fn check(plan: &Plan) -> Result<(), NotPersistable> {
    let threads = plan.lines.iter().enumerate().find_map(|(index, line)| match &line.set {
        Setting::Thread { pid, name, cpus, .. } => {
            Some(NotPersistable { line: index, pid: *pid, name: name.clone(), cpus: cpus.to_string() })
        }
        _ => None,
    });
    threads.map_or(Ok(()), Err)
}

/// Writes the unit that applies the plan at `path` by `program host apply` with `flags`.
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

/// Writes the udev rules that apply the plan again when one of its devices is added or gets a driver.
#[must_use]
pub fn rule(plan: &Plan) -> String {
    let matches: BTreeSet<String> = plan.lines.iter().filter_map(|line| matching(&line.set)).collect();
    let run = format!("RUN+=\"/usr/bin/systemctl --no-block restart {UNIT}\"");
    let rules: String = matches.into_iter().map(|matching| format!("{matching}, {run}\n")).collect();
    format!("# /etc/udev/rules.d/90-warmcore-host.rules\n{rules}")
}

/// Returns the match of the udev event that resets a setting to its default.
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

/// Quotes a word of a command in a unit (systemd.service(5), "Command lines").
fn quoted(word: &str) -> String {
    let mut quoted = String::from('"');
    for letter in word.chars() {
        match letter {
            '\\' | '"' => quoted.extend(['\\', letter]),
            '%' | '$' => quoted.extend([letter, letter]),
            // A line break would begin a line of the unit.
            letter if letter.is_ascii_control() => quoted += &format!("\\x{:02x}", u32::from(letter)),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Escapes a name in a pattern of udev(7): replaces special characters by `?`.
fn escaped(name: &str) -> String {
    name.chars().map(|c| if "*?[]|\\\"".contains(c) || c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_a_path_ends_a_word_or_a_line_of_the_unit() {
        let plan = Path::new("/a\nExecStartPre=/bin/x\r\t\"b\\%n$c\x7f");
        let unit = unit(Path::new("/warmcore"), plan, &[]);
        assert!(!unit.contains("\nExecStartPre="), "{unit}");
        let expected = r#""/a\x0aExecStartPre=/bin/x\x0d\x09\"b\\%%n$$c\x7f""#;
        assert!(unit.contains(expected), "{unit}");
        assert_eq!(escaped("a*\n\"b"), "a???b");
    }
}
