//! A peer that runs in its own process and answers requests, so that starting it and loading its code are
//! not measured. Each request and each answer is one line of text.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A child process that answers requests.
#[derive(Debug)]
pub struct Program {
    name: String,
    timeout: Duration,
    process: Child,
    /// `None` once the process's input has been closed.
    requests: Option<ChildStdin>,
    answers: Receiver<io::Result<String>>,
}

/// A program could not be started or gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be started; most likely it is not installed.
    #[error("cannot start {}: {source}", program.display())]
    Absent {
        /// The program's path.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Writing to it or reading from it failed.
    #[error("cannot communicate with {name}: {source}")]
    Broken {
        /// Its name in tables.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// It exited before it answered.
    #[error("{name} exited before it answered; its own message is above")]
    Ended {
        /// Its name in tables.
        name: String,
    },
    /// It did not answer in time and was killed.
    #[error("{name} did not answer within {timeout:?} and was killed")]
    TimedOut {
        /// Its name in tables.
        name: String,
        /// The longest time an answer may take.
        timeout: Duration,
    },
    /// Its answer has the wrong form.
    #[error("{name} answered `{answer}`; expected {expected}")]
    Unexpected {
        /// Its name in tables.
        name: String,
        /// Its answer.
        answer: String,
        /// What the answer should contain.
        expected: &'static str,
    },
}

impl Program {
    /// Starts `command`. Tables call it `name`; each answer must come within `timeout`.
    ///
    /// # Errors
    /// If it cannot be started ([`ProgramError::Absent`]).
    pub fn start(name: &str, command: &mut Command, timeout: Duration) -> Result<Self, ProgramError> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started
            .map_err(|source| ProgramError::Absent { program: command.get_program().into(), source })?;
        let requests = process.stdin.take();
        let output = process.stdout.take().expect("stdout is piped");
        let (lines, answers) = channel();
        // Ends when the process closes its output or the receiver is dropped.
        thread::spawn(move || BufReader::new(output).lines().try_for_each(|line| lines.send(line)));
        Ok(Self { name: name.to_owned(), timeout, process, requests, answers })
    }

    /// The process identifier.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends one line and waits for the line that answers it.
    ///
    /// # Errors
    /// If it has exited, does not answer in time, or cannot be written to or read from.
    pub fn ask(&mut self, request: &str) -> Result<String, ProgramError> {
        let requests = self.requests.as_mut().expect("its input is open until it is dropped");
        match writeln!(requests, "{request}") {
            Ok(()) => self.listen(),
            Err(source) => Err(ProgramError::Broken { name: self.name.clone(), source }),
        }
    }

    /// Waits for a line that it prints without a request.
    ///
    /// # Errors
    /// If it has exited, prints nothing in time, or cannot be read from.
    pub fn listen(&mut self) -> Result<String, ProgramError> {
        let name = || self.name.clone();
        match self.answers.recv_timeout(self.timeout) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(source)) => Err(ProgramError::Broken { name: name(), source }),
            Err(RecvTimeoutError::Disconnected) => Err(ProgramError::Ended { name: name() }),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.process.kill();
                Err(ProgramError::TimedOut { name: name(), timeout: self.timeout })
            }
        }
    }

    /// The error for an `answer` that is not what was `expected`.
    #[must_use]
    pub fn unclear(&self, answer: &str, expected: &'static str) -> ProgramError {
        ProgramError::Unexpected { name: self.name.clone(), answer: answer.to_owned(), expected }
    }
}

impl Drop for Program {
    /// Closes the process's input, which ends it, and waits for it to exit.
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn each_request_gets_the_next_answer() {
        let mut echo = Program::start("cat", &mut Command::new("cat"), LONG).unwrap();
        assert_eq!(echo.ask("1 2").unwrap(), "1 2");
        assert_eq!(echo.ask("3").unwrap(), "3");
    }

    #[test]
    fn exited_and_missing_programs_give_different_errors() {
        let mut ended = Program::start("true", &mut Command::new("true"), LONG).unwrap();
        assert!(matches!(ended.listen(), Err(ProgramError::Ended { .. })));
        let absent = Program::start("missing", &mut Command::new("/no/such/program"), LONG);
        assert!(matches!(absent, Err(ProgramError::Absent { .. })));
    }

    #[test]
    fn a_program_that_does_not_answer_is_killed() {
        let mut sleep = Command::new("sleep");
        let mut stuck = Program::start("sleep", sleep.arg("3600"), Duration::from_millis(10)).unwrap();
        let error = stuck.listen().unwrap_err();
        assert_eq!(error.to_string(), "sleep did not answer within 10ms and was killed");
        // Returns at once, not after an hour.
        drop(stuck);
    }
}
