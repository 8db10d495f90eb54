//! The systemd unit that applies a plan at every boot.

use super::{JOURNAL, PersistError};
use crate::tuning::plan::Plan;
use crate::tuning::rivals;
use std::path::Path;

/// Writes the unit that applies `plan`, installed as [`PLAN`](super::PLAN), by `program`.
///
/// # Errors
/// If systemd cannot start `program`.
pub(super) fn unit(program: &Path, despite: &[String], plan: &Plan) -> Result<String, PersistError> {
    let program = executable(program).ok_or_else(|| PersistError::Program(program.to_owned()))?;
    let flags: String = despite.iter().map(|name| format!(" --despite {}", quoted(name))).collect();
    let rivals = conflicts(plan, despite);
    let file = super::PLAN;
    Ok(format!(
        "[Unit]\n\
         Description=Placement of interrupts and packets\n\
         # By default a shutdown would stop this unit, and restored channels would take links down while network file\n\
         # systems are still mounted. The kernel forgets all settings anyway.\n\
         DefaultDependencies=no\n\
         Requires=sysinit.target\n\
         After=sysinit.target basic.target\n\
         # Many drivers request the interrupts of a card only when its interface is brought up.\n\
         Wants=network-online.target\n\
         After=network-online.target\n\
         {rivals}\
         # A card that comes up late is waited for: a failed start is repeated every 5 s, for some minutes.\n\
         # Starts by the udev rule count too.\n\
         StartLimitIntervalSec=600\n\
         StartLimitBurst=60\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         # With a journal of its own, so that this unit takes back what it has applied itself, and no other plan.\n\
         ExecStart={program} host apply --yes{flags} --journal {JOURNAL} {file}\n\
         # Also after a start that was killed. With --force, because a driver that was loaded again has reset values,\n\
         # which would otherwise pass for changes by somebody else and be kept.\n\
         ExecStopPost={program} host undo --force --journal {JOURNAL}\n\
         # For Type=oneshot this needs systemd 244.\n\
         Restart=on-failure\n\
         RestartSec=5\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    ))
}

/// The lines about programs that would undo the plan. `host apply` refuses while they run.
fn conflicts(plan: &Plan, despite: &[String]) -> String {
    let rivals = rivals::known_to_undo(plan).filter(|name| !despite.iter().any(|accepted| accepted == name));
    let units: Vec<String> = rivals.map(|name| format!("{name}.service")).collect();
    if units.is_empty() {
        return String::new();
    }
    // Without an order they would still run while the plan is applied.
    format!(
        "# They would undo the plan. The start of this unit stops them, and the start of one of them stops this unit.\n\
         # `warmcore host persist --despite NAME` leaves one running.\n\
         Conflicts={0}\n\
         After={0}\n",
        units.join(" ")
    )
}

/// Quotes the program of a command; `None` if systemd refuses it: no absolute path, or special characters
/// in it (`config_parse_exec` in systemd's src/core/load-fragment.c). `$` is no variable there.
fn executable(program: &Path) -> Option<String> {
    let path = program.to_str().filter(|path| path.starts_with('/'))?;
    let is_safe = !path.contains(|letter: char| letter.is_control() || "\"'\\".contains(letter));
    is_safe.then(|| format!("\"{}\"", path.replace('%', "%%")))
}

/// Quotes an argument of a command (systemd.service(5), "Command lines").
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::Fingerprint;
    use crate::tuning::plan::{Line, Setting};
    use warmcore_topology::CpuSet;

    fn plan(set: Setting) -> Plan {
        let machine = Fingerprint { cpus: cpus("0-3"), nodes: Vec::new(), interfaces: Vec::new() };
        let line = Line { set, reason: String::new(), expected_gain: String::new() };
        Plan { schema: Plan::SCHEMA, machine, promise: None, lines: vec![line] }
    }

    fn cpus(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    fn text(program: &str, despite: &[&str]) -> Result<String, PersistError> {
        let despite: Vec<String> = despite.iter().map(ToString::to_string).collect();
        unit(Path::new(program), &despite, &plan(Setting::DefaultInterrupt { cpus: cpus("2") }))
    }

    #[test]
    fn no_character_of_an_argument_ends_a_word_or_a_line_of_the_unit() {
        let unit = text("/warmcore", &["a\nExecStartPre=/bin/x\r\t\"b\\%n$c\x7f"]).unwrap();
        assert!(!unit.contains("\nExecStartPre="), "{unit}");
        let expected = r#"--despite "a\x0aExecStartPre=/bin/x\x0d\x09\"b\\%%n$$c\x7f" --journal /var/"#;
        assert!(unit.contains(expected), "{unit}");
    }

    #[test]
    fn a_program_is_written_as_systemd_reads_it_or_refused() {
        let unit = text("/opt/a b/50%/$x/é/warmcore", &[]).unwrap();
        assert!(unit.contains("ExecStart=\"/opt/a b/50%%/$x/é/warmcore\" host apply"), "{unit}");
        for program in ["/a\nExecStartPre=/bin/x", "/a\"b", "/it's", "/a\\b", "/a\x7f", "warmcore"] {
            let error = text(program, &[]).unwrap_err().to_string();
            assert!(error.contains("install it elsewhere") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn programs_that_would_undo_the_plan_are_stopped_unless_they_are_accepted() {
        let unit = text("/warmcore", &[]).unwrap();
        assert!(unit.contains("\nConflicts=irqbalance.service tuned.service\n"), "{unit}");
        assert!(unit.contains("\nAfter=irqbalance.service tuned.service\n"), "{unit}");
        let unit = text("/warmcore", &["tuned"]).unwrap();
        assert!(
            unit.contains("\nConflicts=irqbalance.service\n") && !unit.contains("tuned.service"),
            "{unit}"
        );
        let flows = plan(Setting::GlobalFlows { flows: 4096 });
        let unit = super::unit(Path::new("/warmcore"), &[], &flows).unwrap();
        assert!(!unit.contains("Conflicts="), "{unit}");
    }
}
