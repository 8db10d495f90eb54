//! Leading an end of a connection: telling it its order, and asking it how far it is.

use super::end::{COUNT, Controller, PATIENCE, serve_end};
use super::error::TransferError;
use super::order::Order;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use warmcore_linux::Scheduled;
use warmcore_linux::net::Namespace;

/// What the ends of connections on this machine are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ends {
    /// Threads of this process.
    Threads,
    /// Processes: the program with its arguments, which must do nothing but [`serve_end`] over its standard
    /// input and output.
    Processes(Vec<OsString>),
}

/// What an end has done since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Count {
    /// Bytes written or read.
    pub(super) bytes: u64,
    /// What the scheduler did to the thread that moved them.
    pub(super) scheduled: Scheduled,
}

/// An end that is led; dropping this ends it.
pub(super) struct Led {
    /// What an error calls it.
    name: String,
    answers: Box<dyn BufRead + Send>,
    /// `None` once it has been told to end.
    orders: Option<Box<dyn Write + Send>>,
    body: Body,
}

/// Where an end is.
enum Body {
    Process(Child),
    /// `None` once it has ended.
    Thread(Option<JoinHandle<io::Result<()>>>),
    Host,
}

impl Led {
    /// Starts an end in a namespace, or in this thread's without one.
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

    /// An end on the host that serves at this address.
    pub(super) fn at(name: String, host: SocketAddr) -> Result<Self, TransferError> {
        let reached = || {
            let stream = TcpStream::connect_timeout(&host, PATIENCE)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE * 2))?;
            Ok((BufReader::new(stream.try_clone()?), stream))
        };
        let (answers, orders) =
            reached().map_err(|source| TransferError::Unreachable { host: host.to_string(), source })?;
        Ok(Self { name, answers: Box::new(answers), orders: Some(Box::new(orders)), body: Body::Host })
    }

    fn thread(name: &str) -> io::Result<Self> {
        let ((its_orders, orders), (answers, its_answers)) = (io::pipe()?, io::pipe()?);
        let work = move || serve_end(BufReader::new(its_orders), its_answers, Controller::Local);
        let body = Body::Thread(Some(thread::Builder::new().name("end".to_owned()).spawn(work)?));
        let (answers, orders) = (Box::new(BufReader::new(answers)), Some(Box::new(orders) as _));
        Ok(Self { name: name.to_owned(), answers, orders, body })
    }

    /// In a process group of its own, so that Ctrl-C comes to this process alone, which ends it.
    fn process(name: &str, words: &[OsString]) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let orders = child.stdin.take().map(|pipe| Box::new(pipe) as _);
        let answers = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let answers = Box::new(BufReader::new(answers));
        Ok(Self { name: name.to_owned(), answers, orders, body: Body::Process(child) })
    }

    /// The process it is, if it is one of its own on this machine.
    pub(super) fn process_id(&self) -> Option<u32> {
        match &self.body {
            Body::Process(child) => Some(child.id()),
            Body::Thread(_) | Body::Host => None,
        }
    }

    /// Whether this machine runs it.
    pub(super) fn is_here(&self) -> bool {
        !matches!(self.body, Body::Host)
    }

    /// Tells an end its order.
    pub(super) fn order(&mut self, order: &Order) -> Result<(), TransferError> {
        self.say(&order.to_string())
    }

    /// The port at which an end listens that was told to.
    pub(super) fn port(&mut self) -> Result<u16, TransferError> {
        self.answer("`listening PORT`", |line| line.strip_prefix("listening ")?.parse().ok())
    }

    /// Waits until it is connected and moves.
    pub(super) fn ready(&mut self) -> Result<(), TransferError> {
        self.answer("`ready`", |line| (line == "ready").then_some(()))
    }

    /// How far it is.
    pub(super) fn count(&mut self) -> Result<Count, TransferError> {
        self.say(COUNT)?;
        self.answer("`moved` and four numbers", counted)
    }

    fn say(&mut self, line: &str) -> Result<(), TransferError> {
        let said = self.orders.as_mut().map(|orders| writeln!(orders, "{line}"));
        match said {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    fn answer<T>(
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

    /// It cannot be heard any more.
    fn ended(&mut self) -> TransferError {
        self.orders = None;
        let how = match &mut self.body {
            Body::Process(child) => {
                child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
            }
            Body::Thread(_) => "its thread is gone".to_owned(),
            Body::Host => "the other host has closed the connection, or is silent".to_owned(),
        };
        TransferError::Ended { end: self.name.clone(), how }
    }
}

/// `moved BYTES VOLUNTARY INVOLUNTARY MIGRATIONS`.
fn counted(line: &str) -> Option<Count> {
    let words: Vec<&str> = line.strip_prefix("moved ")?.split(' ').collect();
    let [bytes, voluntary, involuntary, migrations] = words[..] else { return None };
    let migrations = if migrations == "-" { None } else { Some(migrations.parse().ok()?) };
    let scheduled =
        Scheduled { voluntary: voluntary.parse().ok()?, involuntary: involuntary.parse().ok()?, migrations };
    Some(Count { bytes: bytes.parse().ok()?, scheduled })
}

impl Drop for Led {
    /// An end has nothing to lose, so a process is not waited for longer than the kernel takes to end it.
    fn drop(&mut self) {
        self.orders = None;
        match &mut self.body {
            Body::Process(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Body::Thread(thread) => {
                let _ = thread.take().map(JoinHandle::join);
            }
            Body::Host => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_four_numbers_and_the_last_may_be_unknown() {
        let scheduled = Scheduled { voluntary: 2, involuntary: 3, migrations: Some(4) };
        assert_eq!(counted("moved 1 2 3 4"), Some(Count { bytes: 1, scheduled }));
        assert_eq!(counted("moved 1 2 3 -").and_then(|count| count.scheduled.migrations), None);
        for line in ["moved 1 2 3", "moved 1 2 3 x", "moved", "moved 1 2 3 4 5", ""] {
            assert_eq!(counted(line), None, "{line}");
        }
    }

    #[test]
    fn who_says_something_else_or_nothing_is_told() {
        let end = |program: &str, ask: fn(&mut Led) -> TransferError| {
            let mut led = Led::start("it".to_owned(), &Ends::Processes(vec![program.into()]), None).unwrap();
            ask(&mut led).to_string()
        };
        let counted = |led: &mut Led| led.count().unwrap_err();
        assert!(end("cat", counted).starts_with("it answers `count`; expected `moved`"));
        let gone = end("true", |led| led.ready().unwrap_err());
        assert!(gone.contains("it ended before the transfer did: exit status: 0"), "{gone}");
        let absent = Led::start("it".to_owned(), &Ends::Processes(vec!["/no/such".into()]), None);
        assert!(matches!(absent, Err(TransferError::NotStarted { .. })));
    }
}
