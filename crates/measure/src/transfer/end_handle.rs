//! A handle to an end of a connection, for giving it its instruction and asking for its counts.

use super::end::{COUNT, Controller, TIMEOUT, serve_end};
use super::error::TransferError;
use super::instruction::Instruction;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use warmcore_linux::SchedulerCounts;
use warmcore_linux::net::Namespace;

/// How the ends on this machine are run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ends {
    /// As threads of this process.
    Threads,
    /// As processes: the program with its arguments. It must do nothing but [`serve_end`] over its
    /// standard input and output.
    Processes(Vec<OsString>),
}

/// The counts of an end since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Count {
    /// Bytes written or read.
    pub(super) bytes: u64,
    /// What the scheduler did to the thread that moved them.
    pub(super) scheduled: SchedulerCounts,
}

/// A handle to an end. Dropping it stops the end.
pub(super) struct EndHandle {
    /// Its name in errors.
    name: String,
    answers: Box<dyn BufRead + Send>,
    /// `None` after it was told to stop.
    instructions: Option<Box<dyn Write + Send>>,
    kind: EndKind,
}

/// Where an end runs.
enum EndKind {
    Process(Child),
    /// `None` once it has ended.
    Thread(Option<JoinHandle<io::Result<()>>>),
    Host,
}

impl EndHandle {
    /// Starts an end in a namespace, or in this thread's namespace if there is none.
    pub(super) fn start(
        name: String,
        ends: &Ends,
        inside: Option<&Namespace>,
    ) -> Result<Self, TransferError> {
        let started = || match ends {
            Ends::Threads => Self::thread(&name),
            Ends::Processes(words) => Self::process(&name, words),
        };
        let started = match inside {
            Some(namespace) => namespace.run(started)?,
            None => started(),
        };
        started.map_err(|source| TransferError::NotStarted { end: name.clone(), source })
    }

    /// Connects to an end on the host that serves at this address.
    pub(super) fn connect(name: String, host: SocketAddr) -> Result<Self, TransferError> {
        let reached = || {
            let stream = TcpStream::connect_timeout(&host, TIMEOUT)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(TIMEOUT * 2))?;
            Ok((BufReader::new(stream.try_clone()?), stream))
        };
        let (answers, instructions) =
            reached().map_err(|source| TransferError::Unreachable { host: host.to_string(), source })?;
        Ok(Self {
            name,
            answers: Box::new(answers),
            instructions: Some(Box::new(instructions)),
            kind: EndKind::Host,
        })
    }

    fn thread(name: &str) -> io::Result<Self> {
        let ((its_instructions, instructions), (answers, its_answers)) = (io::pipe()?, io::pipe()?);
        let serve = move || serve_end(BufReader::new(its_instructions), its_answers, Controller::Local);
        let kind = EndKind::Thread(Some(thread::Builder::new().name("end".to_owned()).spawn(serve)?));
        let (answers, instructions) = (Box::new(BufReader::new(answers)), Some(Box::new(instructions) as _));
        Ok(Self { name: name.to_owned(), answers, instructions, kind })
    }

    /// Starts a process in its own process group, so that Ctrl-C reaches only this process, which then
    /// stops the end.
    fn process(name: &str, words: &[OsString]) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let instructions = child.stdin.take().map(|pipe| Box::new(pipe) as _);
        let answers = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let answers = Box::new(BufReader::new(answers));
        Ok(Self { name: name.to_owned(), answers, instructions, kind: EndKind::Process(child) })
    }

    /// Its process id, if it is a process on this machine.
    pub(super) fn process_id(&self) -> Option<u32> {
        match &self.kind {
            EndKind::Process(child) => Some(child.id()),
            EndKind::Thread(_) | EndKind::Host => None,
        }
    }

    /// Whether it runs on this machine.
    pub(super) fn is_local(&self) -> bool {
        !matches!(self.kind, EndKind::Host)
    }

    /// Sends the instruction.
    pub(super) fn instruct(&mut self, instruction: &Instruction) -> Result<(), TransferError> {
        self.send_line(&instruction.to_string())
    }

    /// Reads the port at which the end listens.
    pub(super) fn port(&mut self) -> Result<u16, TransferError> {
        self.read_answer("`listening PORT`", |line| line.strip_prefix("listening ")?.parse().ok())
    }

    /// Waits until it is connected and transfers bytes.
    pub(super) fn ready(&mut self) -> Result<(), TransferError> {
        self.read_answer("`ready`", |line| (line == "ready").then_some(()))
    }

    /// Asks for its counts.
    pub(super) fn count(&mut self) -> Result<Count, TransferError> {
        self.send_line(COUNT)?;
        self.read_answer("`moved` and four numbers", counted)
    }

    fn send_line(&mut self, line: &str) -> Result<(), TransferError> {
        let said = self.instructions.as_mut().map(|instructions| writeln!(instructions, "{line}"));
        match said {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    fn read_answer<T>(
        &mut self,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, TransferError> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) | Err(_) => return Err(self.ended()),
            Ok(_) => {}
        }
        let (line, end) = (line.trim(), self.name.clone());
        match (read(line), line.strip_prefix("failed ")) {
            (Some(answer), _) => Ok(answer),
            (None, Some(said)) => Err(TransferError::Failed { end, said: said.to_owned() }),
            (None, None) => Err(TransferError::UnexpectedAnswer { end, answer: line.to_owned(), expected }),
        }
    }

    /// The error for an end that can no longer be reached.
    fn ended(&mut self) -> TransferError {
        self.instructions = None;
        let how = match &mut self.kind {
            EndKind::Process(child) => {
                child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
            }
            EndKind::Thread(_) => "its thread is gone".to_owned(),
            EndKind::Host => "the other host has closed the connection, or does not answer".to_owned(),
        };
        TransferError::Ended { end: self.name.clone(), how }
    }
}

/// `moved BYTES VOLUNTARY INVOLUNTARY MIGRATIONS`.
fn counted(line: &str) -> Option<Count> {
    let words: Vec<&str> = line.strip_prefix("moved ")?.split(' ').collect();
    let [bytes, voluntary, involuntary, migrations] = words[..] else { return None };
    let migrations = if migrations == "-" { None } else { Some(migrations.parse().ok()?) };
    let scheduled = SchedulerCounts {
        voluntary: voluntary.parse().ok()?,
        involuntary: involuntary.parse().ok()?,
        migrations,
    };
    Some(Count { bytes: bytes.parse().ok()?, scheduled })
}

impl Drop for EndHandle {
    /// Stops the end. An end has nothing to save, so a process is killed.
    fn drop(&mut self) {
        self.instructions = None;
        match &mut self.kind {
            EndKind::Process(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            EndKind::Thread(thread) => {
                let _ = thread.take().map(JoinHandle::join);
            }
            EndKind::Host => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_four_numbers_and_the_last_may_be_unknown() {
        let scheduled = SchedulerCounts { voluntary: 2, involuntary: 3, migrations: Some(4) };
        assert_eq!(counted("moved 1 2 3 4"), Some(Count { bytes: 1, scheduled }));
        assert_eq!(counted("moved 1 2 3 -").and_then(|count| count.scheduled.migrations), None);
        for line in ["moved 1 2 3", "moved 1 2 3 x", "moved", "moved 1 2 3 4 5", ""] {
            assert_eq!(counted(line), None, "{line}");
        }
    }

    #[test]
    fn an_unexpected_or_missing_answer_is_reported() {
        let end = |program: &str, ask: fn(&mut EndHandle) -> TransferError| {
            let mut end =
                EndHandle::start("it".to_owned(), &Ends::Processes(vec![program.into()]), None).unwrap();
            ask(&mut end).to_string()
        };
        let counted = |end: &mut EndHandle| end.count().unwrap_err();
        assert!(end("cat", counted).starts_with("it answered `count`; expected `moved`"));
        let gone = end("true", |end| end.ready().unwrap_err());
        assert!(gone.contains("it ended before the transfer did: exit status: 0"), "{gone}");
        let absent = EndHandle::start("it".to_owned(), &Ends::Processes(vec!["/no/such".into()]), None);
        assert!(matches!(absent, Err(TransferError::NotStarted { .. })));
    }
}
