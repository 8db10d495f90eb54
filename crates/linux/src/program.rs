//! Runs a user's program next to a measurement. It starts on the cpu of the calling thread, and is
//! killed and reaped however the measurement ends. It is killed too if this process is: a thread that lives for as long
//! as the [`Program`] starts it (`parent_death`). Then nobody kills what the program itself has started.

use crate::{Probe, parent_death, pid_stat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, access};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The most output of a program that is kept, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// Why a user's program cannot run next to a measurement.
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
        /// The error of the system.
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
    /// It exited with a failure.
    #[error("`{program}` failed ({status})")]
    Failed {
        /// Its name.
        program: String,
        /// How it ended.
        status: String,
    },
}

/// A running program. Dropping it kills the program and everything it has started.
#[derive(Debug)]
pub struct Program {
    child: Child,
    /// The program dies with the thread that waits for this to be dropped.
    _starter: Sender<()>,
    name: String,
    output: Option<JoinHandle<String>>,
}

impl Program {
    /// Starts the program named by the first of `arguments`, with no input and its output discarded, in
    /// its own process group. It inherits the affinity of the calling thread, so pin that first.
    ///
    /// # Errors
    /// If no program is named or it cannot be started.
    pub fn start(arguments: &[OsString]) -> Result<Self, ProgramError> {
        Self::spawn(arguments, Stdio::null(), Stdio::null())
    }

    /// Starts a program like [`start`](Self::start), whose standard error goes where that of this process goes.
    ///
    /// # Errors
    /// If no program is named or it cannot be started.
    pub fn start_with_stderr(arguments: &[OsString]) -> Result<Self, ProgramError> {
        Self::spawn(arguments, Stdio::null(), Stdio::inherit())
    }

    /// Starts a program like [`start`](Self::start), and keeps its output for [`output`](Self::output).
    ///
    /// # Errors
    /// If no program is named or it cannot be started.
    pub fn start_captured(arguments: &[OsString]) -> Result<Self, ProgramError> {
        let mut program = Self::spawn(arguments, Stdio::piped(), Stdio::null())?;
        program.output = program.child.stdout.take().map(|mut pipe| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                // After a read error, the bytes read so far are returned.
                let _ = pipe.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
                // The rest is read too: a program whose pipe is closed would end by SIGPIPE.
                let _ = io::copy(&mut pipe, &mut io::sink());
                String::from_utf8_lossy(&bytes).into_owned()
            })
        });
        Ok(program)
    }

    /// The file of the program named by the first of `arguments`, as starting it finds it: it exists and may be run.
    /// It is not run.
    ///
    /// # Errors
    /// If no program is named or it could not be started.
    pub fn find(arguments: &[OsString]) -> Result<PathBuf, ProgramError> {
        let program = arguments.first().ok_or(ProgramError::Unnamed)?;
        let not_started =
            |source| ProgramError::NotStarted { program: program.to_string_lossy().into_owned(), source };
        candidates(program).fold(Err(io::ErrorKind::NotFound.into()), best).map_err(not_started)
    }

    fn spawn(arguments: &[OsString], output: Stdio, errors: Stdio) -> Result<Self, ProgramError> {
        let Some((program, arguments)) = arguments.split_first() else { return Err(ProgramError::Unnamed) };
        let name = program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
        parent_death::kill_with_this_thread(&mut command);
        match spawn_in_a_thread(command) {
            Ok((child, starter)) => Ok(Self { child, _starter: starter, name, output: None }),
            Err(source) => Err(ProgramError::NotStarted { program: name, source }),
        }
    }

    /// Returns all processes of its group: its own, and those it has started that have not left the group.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        pid_stat::of_group(Probe::new().tree(), self.child.id())
    }

    /// Whether it has ended successfully.
    ///
    /// # Errors
    /// If it exited with a failure.
    pub fn has_ended(&mut self) -> Result<bool, ProgramError> {
        let Some(status) = self.status() else { return Ok(false) };
        match status {
            Ok(status) if status.success() => Ok(true),
            status => Err(ProgramError::Failed { program: self.name.clone(), status: in_words(status) }),
        }
    }

    /// Waits until it ends, at most for `time`, and returns at that very moment. Returns whether it has ended
    /// successfully.
    ///
    /// # Errors
    /// If it exited with a failure, or cannot be waited for.
    pub fn ends_within(&mut self, time: Duration) -> Result<bool, ProgramError> {
        let waited = self.wait(time).map_err(|error| ProgramError::Failed {
            program: self.name.clone(),
            status: format!("cannot be waited for: {error}"),
        });
        waited.and_then(|()| self.has_ended())
    }

    fn wait(&self, time: Duration) -> io::Result<()> {
        // A child is not reaped while it runs, so its number still belongs to it.
        let child = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let handle = pidfd_open(child.ok_or(io::ErrorKind::NotFound)?, PidfdFlags::empty())?;
        let time = Timespec::try_from(time).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&time)) {
            // A signal ends the wait early, and the caller waits again.
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Kills the program if it still runs. Returns what it has printed.
    #[must_use]
    pub fn output(mut self) -> String {
        let output = self.output.take();
        // All processes that hold the other end of the pipe must end before end-of-file can be read.
        drop(self);
        output.and_then(|output| output.join().ok()).unwrap_or_default()
    }

    /// Checks that the program still runs.
    ///
    /// # Errors
    /// If the program has ended.
    pub fn check(&mut self) -> Result<(), ProgramError> {
        self.status().map_or(Ok(()), |status| {
            Err(ProgramError::Ended { program: self.name.clone(), status: in_words(status) })
        })
    }

    /// How it ended, or why that cannot be known; `None` while it runs.
    fn status(&mut self) -> Option<io::Result<ExitStatus>> {
        self.child.try_wait().transpose()
    }

    /// How it ended, in words; `None` while it runs.
    pub fn ended(&mut self) -> Option<String> {
        self.status().map(in_words)
    }

    /// Its name in reports.
    #[must_use]
    pub fn description(&self) -> String {
        format!("the program `{}`", self.name)
    }
}

/// Starts `command` from a thread of its own, which has the affinity of this one and ends when the sender is dropped.
fn spawn_in_a_thread(mut command: Command) -> io::Result<(Child, Sender<()>)> {
    let (started, child) = channel();
    let (starter, dropped) = channel::<()>();
    thread::Builder::new().name("starter".to_owned()).spawn(move || {
        let _ = started.send(command.spawn());
        drop(command);
        // Nothing is ever sent: this returns when the sender is gone.
        let _ = dropped.recv();
    })?;
    let child = child.recv().map_err(io::Error::other)?;
    child.map(|child| (child, starter))
}

fn in_words(status: io::Result<ExitStatus>) -> String {
    status.map_or_else(|error| error.to_string(), |status| status.to_string())
}

impl Drop for Program {
    /// Kills the process group, then the child itself in case it left the group, and reaps the child. A
    /// child is not reaped while it runs, so its number still belongs to it.
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // Fails only if the group is empty, which is what we want.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where programs are if `PATH` is not set (execvp(3)).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Returns the paths where a program may be: its own path if it contains a slash, or else the folders of
/// `PATH`.
fn candidates(program: &OsStr) -> impl Iterator<Item = PathBuf> {
    let is_path = program.as_bytes().contains(&b'/');
    let folders = env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    let in_folders: Vec<PathBuf> = env::split_paths(&folders).map(|folder| folder.join(program)).collect();
    if is_path { vec![program.into()] } else { in_folders }.into_iter()
}

/// Combines the result so far with that of `candidate`: the first one that may be run, or else the
/// error of the first one that exists.
fn best(found: io::Result<PathBuf>, candidate: PathBuf) -> io::Result<PathBuf> {
    if found.is_ok() {
        return found;
    }
    match (found, may_be_run(&candidate)) {
        (_, Ok(())) => Ok(candidate),
        (Err(earlier), Err(later)) if earlier.kind() == io::ErrorKind::NotFound => Err(later),
        (earlier, _) => earlier,
    }
}

fn may_be_run(path: &Path) -> io::Result<()> {
    if path.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(access(path, Access::EXEC_OK)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::process::ExitStatusExt;
    use std::thread::sleep;
    use std::time::Duration;

    fn arguments(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    /// Whether a process exists and is not a zombie.
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

    /// The kernel does it when the thread that started the program ends, and so when all of the process do.
    #[test]
    fn a_program_is_killed_with_the_thread_that_started_it() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        parent_death::kill_with_this_thread(&mut command);
        let (mut child, starter) = spawn_in_a_thread(command).unwrap();
        sleep(Duration::from_millis(20));
        assert!(child.try_wait().unwrap().is_none(), "the thread lives");
        drop(starter);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn children_of_a_dropped_program_are_killed() {
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
    fn its_output_is_kept_and_its_failure_reported() {
        let start = |script: &str| Program::start_captured(&arguments(&["sh", "-c", script])).unwrap();
        let until_it_ends = |program: &mut Program| {
            loop {
                match program.has_ended() {
                    Ok(false) => sleep(Duration::from_millis(5)),
                    ended => return ended,
                }
            }
        };
        let mut talkative = start("echo one; sleep 1000 & echo 2");
        assert!(until_it_ends(&mut talkative).unwrap());
        assert_eq!(talkative.output(), "one\n2\n");
        let mut flooding = start("head -c 3000000 /dev/zero && exit 0");
        assert!(until_it_ends(&mut flooding).expect("its pipe stays open"));
        assert_eq!(flooding.output().len(), 1 << 20);
        let failed = until_it_ends(&mut start("exit 3")).unwrap_err();
        assert!(failed.to_string().contains("`sh` failed (exit status: 3)"), "{failed}");
    }

    #[test]
    fn its_end_is_waited_for() {
        let start = |script: &str| Program::start(&arguments(&["sh", "-c", script])).unwrap();
        let begun = std::time::Instant::now();
        assert!(start("sleep 0.05").ends_within(Duration::from_secs(600)).unwrap());
        assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
        assert!(!start("sleep 1000").ends_within(Duration::from_millis(5)).unwrap());
        let failed = start("exit 3").ends_within(Duration::from_secs(600)).unwrap_err();
        assert!(failed.to_string().contains("`sh` failed (exit status: 3)"), "{failed}");
    }

    #[test]
    fn all_processes_of_its_group_are_listed() {
        let program = Program::start(&arguments(&["sh", "-c", "sleep 1000 & wait"])).unwrap();
        while program.processes().len() < 2 {
            sleep(Duration::from_millis(5));
        }
        assert!(program.processes().contains(&program.child.id()));
    }

    #[test]
    fn a_program_is_found_without_being_run() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        let find = |name: &Path| Program::find(&[name.into()]).map_err(|error| error.to_string());
        assert!(find(Path::new("sh")).is_ok_and(|found| found.is_absolute() && found.ends_with("sh")));
        assert_eq!(find(Path::new("/bin/sh")), Ok("/bin/sh".into()));
        for (name, problem) in [
            (Path::new("no-such-program"), "cannot start `no-such-program`: "),
            (&plain, "ermission denied"),
            (folder.path(), "directory"),
        ] {
            let refusal = find(name).unwrap_err();
            assert!(refusal.contains(problem), "{refusal}");
        }
        assert!(matches!(Program::find(&[]), Err(ProgramError::Unnamed)));
    }

    #[test]
    fn a_program_that_cannot_start_or_ends_early_is_reported() {
        assert!(matches!(Program::start(&[]), Err(ProgramError::Unnamed)));
        let absent = Program::start(&arguments(&["/nonexistent/program"])).unwrap_err();
        assert!(absent.to_string().contains("/nonexistent/program"), "{absent}");
        let mut brief = Program::start(&arguments(&["true"])).unwrap();
        brief.child.wait().unwrap();
        let ended = brief.check().unwrap_err();
        assert!(matches!(&ended, ProgramError::Ended { program, .. } if program == "true"), "{ended}");
    }
}
