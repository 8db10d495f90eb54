//! A peer in a process of its own, which answers one question after another, so that neither its start
//! nor what it loads is part of any measurement. Questions and answers are lines.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A process that answers.
#[derive(Debug)]
pub struct Program {
    name: String,
    patience: Duration,
    process: Child,
    /// `None` once the process has been told to end.
    questions: Option<ChildStdin>,
    answers: Receiver<io::Result<String>>,
}

/// A program could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be started: most likely it is not installed.
    #[error("cannot start {}: {source}", program.display())]
    Absent {
        /// What was to be started.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It cannot be reached or heard any more.
    #[error("{name} cannot be talked to: {source}")]
    Broken {
        /// What a table calls it.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// It has ended.
    #[error("{name} ended where an answer was expected; its own message is above")]
    Ended {
        /// What a table calls it.
        name: String,
    },
    /// It has not answered for so long that it never will, and was ended.
    #[error("{name} did not answer within {} s, and was ended", patience.as_secs())]
    Stuck {
        /// What a table calls it.
        name: String,
        /// How long it was waited for.
        patience: Duration,
    },
    /// It has said something else.
    #[error("{name} answers `{answer}`; expected {expected}")]
    Unclear {
        /// What a table calls it.
        name: String,
        /// What it said.
        answer: String,
        /// What would have been right.
        expected: &'static str,
    },
}

impl Program {
    /// Starts `command`, which a table calls `name` and whose answers are waited for so long.
    ///
    /// # Errors
    /// If it cannot be started ([`ProgramError::Absent`]).
    pub fn start(name: &str, command: &mut Command, patience: Duration) -> Result<Self, ProgramError> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started
            .map_err(|source| ProgramError::Absent { program: command.get_program().into(), source })?;
        let questions = process.stdin.take();
        let output = process.stdout.take().expect("its output is a pipe");
        let (said, answers) = channel();
        // Ends with the process, or when nobody listens any more.
        thread::spawn(move || BufReader::new(output).lines().try_for_each(|line| said.send(line)));
        Ok(Self { name: name.to_owned(), patience, process, questions, answers })
    }

    /// Its process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Says a line, and waits for the one that answers it.
    ///
    /// # Errors
    /// If it has ended, is stuck, or cannot be reached.
    pub fn ask(&mut self, question: &str) -> Result<String, ProgramError> {
        let questions = self.questions.as_mut().expect("it is told to end when dropped");
        match writeln!(questions, "{question}") {
            Ok(()) => self.listen(),
            Err(source) => Err(ProgramError::Broken { name: self.name.clone(), source }),
        }
    }

    /// Waits for a line that it says unasked.
    ///
    /// # Errors
    /// If it has ended, is stuck, or cannot be heard.
    pub fn listen(&mut self) -> Result<String, ProgramError> {
        let name = || self.name.clone();
        match self.answers.recv_timeout(self.patience) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(source)) => Err(ProgramError::Broken { name: name(), source }),
            Err(RecvTimeoutError::Disconnected) => Err(ProgramError::Ended { name: name() }),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.process.kill();
                Err(ProgramError::Stuck { name: name(), patience: self.patience })
            }
        }
    }

    /// What to say of an `answer` that is not what was `expected`.
    #[must_use]
    pub fn unclear(&self, answer: &str, expected: &'static str) -> ProgramError {
        ProgramError::Unclear { name: self.name.clone(), answer: answer.to_owned(), expected }
    }
}

impl Drop for Program {
    /// Ends the process by closing its input, and waits for it.
    fn drop(&mut self) {
        self.questions = None;
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_question_has_the_answer_that_follows_it() {
        let mut echo = Program::start("cat", &mut Command::new("cat"), LONG).unwrap();
        assert_eq!(echo.ask("1 2").unwrap(), "1 2");
        assert_eq!(echo.ask("3").unwrap(), "3");
    }

    #[test]
    fn who_has_ended_is_told_from_who_is_not_there() {
        let mut ended = Program::start("true", &mut Command::new("true"), LONG).unwrap();
        assert!(matches!(ended.listen(), Err(ProgramError::Ended { .. })));
        let absent = Program::start("nobody", &mut Command::new("/no/such/program"), LONG);
        assert!(matches!(absent, Err(ProgramError::Absent { .. })));
    }

    #[test]
    fn who_is_stuck_is_ended() {
        let mut sleep = Command::new("sleep");
        let mut stuck = Program::start("sleep", sleep.arg("3600"), Duration::from_millis(10)).unwrap();
        assert!(matches!(stuck.listen(), Err(ProgramError::Stuck { .. })));
        // Does not wait for an hour.
        drop(stuck);
    }
}
