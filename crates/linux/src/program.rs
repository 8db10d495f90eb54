//! A user's own program beside a measurement: started on the processor of the thread that starts
//! it, ended and reaped however the measurement ends.

use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Why a user's program cannot run beside a measurement.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// No program was named.
    #[error("the program is empty: give its name, and its arguments after it")]
    Unnamed,
    /// It cannot be started.
    #[error("cannot start `{program}`: {source}; give the path of a program that can be run")]
    NotStarted {
        /// Its name.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// It ended while it was still needed.
    #[error(
        "`{program}` ended ({status}) before the measurement did; give one that runs for as long as the measurement, such as one repeated in a shell loop"
    )]
    Ended {
        /// Its name.
        program: String,
        /// How it ended.
        status: String,
    },
}

/// A running program; dropping this ends it, with everything it has started.
#[derive(Debug)]
pub struct Program {
    child: Child,
    name: String,
}

impl Program {
    /// Starts the program that `arguments` begin with, silent and without input, in a process
    /// group of its own. It inherits the affinity of the calling thread: call this pinned.
    ///
    /// # Errors
    /// If no program is named or it cannot be started.
    pub fn start(arguments: &[OsString]) -> Result<Self, ProgramError> {
        let Some((program, arguments)) = arguments.split_first() else { return Err(ProgramError::Unnamed) };
        let name = program.to_string_lossy().into_owned();
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map(|child| Self { child, name: name.clone() })
            .map_err(|source| ProgramError::NotStarted { program: name, source })
    }

    /// Finds out whether the program still runs.
    ///
    /// # Errors
    /// If the program has ended.
    pub fn check(&mut self) -> Result<(), ProgramError> {
        let ended = |status| ProgramError::Ended { program: self.name.clone(), status };
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(ended(status.to_string())),
            Err(error) => Err(ended(error.to_string())),
        }
    }

    /// What a report calls it.
    #[must_use]
    pub fn description(&self) -> String {
        format!("the program `{}`", self.name)
    }
}

impl Drop for Program {
    /// Ends the group, then the child itself in case it left the group, and reaps the child. It
    /// was not reaped before unless it had ended, so its number is still its own.
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // Refused only if nobody is left in the group, which is what we want.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::thread::sleep;
    use std::time::Duration;

    fn arguments(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    /// Whether a process is there and not merely waiting to be reaped by somebody.
    fn is_running(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    }

    #[test]
    fn a_dropped_program_is_killed_and_reaped() {
        let mut program = Program::start(&arguments(&["sleep", "1000"])).unwrap();
        let pid = program.child.id();
        program.check().unwrap();
        drop(program);
        assert!(fs::metadata(format!("/proc/{pid}")).is_err(), "{pid} was not reaped");
    }

    #[test]
    fn what_the_program_started_ends_with_it() {
        let directory = std::env::temp_dir().join(format!("warmcore-program-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let note = directory.join("pid");
        let script = format!("sleep 1000 & echo $! > {}; wait", note.display());
        let program = Program::start(&arguments(&["sh", "-c", &script])).unwrap();
        let grandchild: u32 = loop {
            match fs::read_to_string(&note).unwrap_or_default().trim().parse() {
                Ok(pid) => break pid,
                Err(_) => sleep(Duration::from_millis(5)),
            }
        };
        drop(program);
        for _ in 0..1000 {
            if !is_running(grandchild) {
                break;
            }
            sleep(Duration::from_millis(5));
        }
        assert!(!is_running(grandchild));
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn what_cannot_be_started_or_ends_early_is_told() {
        assert!(matches!(Program::start(&[]), Err(ProgramError::Unnamed)));
        let absent = Program::start(&arguments(&["/nonexistent/program"])).unwrap_err();
        assert!(absent.to_string().contains("/nonexistent/program"), "{absent}");
        let mut brief = Program::start(&arguments(&["true"])).unwrap();
        brief.child.wait().unwrap();
        let ended = brief.check().unwrap_err();
        assert!(matches!(&ended, ProgramError::Ended { program, .. } if program == "true"), "{ended}");
    }
}
