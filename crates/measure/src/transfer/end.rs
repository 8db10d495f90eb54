//! One end of a connection: it is given an [`Instruction`], moves bytes, and says how many whenever it is
//! asked. Orders come and answers go over any pair of pipes, so that an end may be a thread, a process or
//! on another host; it ends when its orders do, also when who gave them was killed.
//!
//! ```text
//! listen 10.77.0.2 receive - - 0      ─►
//!                                     ◄─  listening 40213
//!                                     ◄─  ready
//! count                               ─►
//!                                     ◄─  moved 1310720 12 3 0     bytes, switches, preemptions, migrations
//! ```

use super::bulk::bulk;
use super::instruction::{Instruction, Opening};
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use warmcore_linux::affinity;
use warmcore_linux::net::wait_readable;
use warmcore_linux::{SchedulerCounts, ThreadNumber};
use warmcore_topology::CpuSet;

/// For how long the ends of a connection wait for each other; on a busy machine one may come late.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

/// No order is longer.
const MAX_LINE: u64 = 1024;

/// The question to an end that works.
pub(super) const COUNT: &str = "count";

/// Whose orders an end takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Controller {
    /// This program's: it may be told anything.
    Local,
    /// Somebody's on the network: the end listens at this address whatever it is told, goes to nobody,
    /// and runs where it is put.
    Remote(IpAddr),
}

/// Is an end until there are no more `orders`. What goes wrong is among the `answers`.
///
/// # Errors
/// If who gives orders cannot be heard or answered any more.
pub fn serve_end(
    mut instructions: impl BufRead,
    mut answers: impl Write,
    controller: Controller,
) -> io::Result<()> {
    let Some(line) = next(&mut instructions)? else { return Ok(()) };
    match ActiveEnd::begin(&line, controller, &mut answers) {
        Ok(mut active) => {
            writeln!(answers, "ready")?;
            while let Some(line) = next(&mut instructions)? {
                let answer = if line == COUNT { active.count() } else { failed(&"expected `count`") };
                writeln!(answers, "{answer}")?;
            }
            Ok(())
        }
        Err(error) => writeln!(answers, "{}", failed(&error)),
    }
}

fn failed(why: &dyn core::fmt::Display) -> String {
    format!("failed {}", why.to_string().replace('\n', "; "))
}

/// The next line; `None` at the end.
fn next(instructions: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let length = instructions.take(MAX_LINE).read_line(&mut line)?;
    if length as u64 == MAX_LINE {
        return Err(ErrorKind::InvalidData.into());
    }
    Ok((length > 0).then(|| line.trim().to_owned()))
}

/// An end that moves bytes, until this is dropped.
struct ActiveEnd {
    stream: TcpStream,
    moved: Arc<AtomicU64>,
    thread: ThreadNumber,
    transfer_thread: Option<JoinHandle<io::Result<()>>>,
}

impl ActiveEnd {
    /// Obeys the order in `line`, and tells the port at which it listens meanwhile.
    fn begin(line: &str, controller: Controller, answers: &mut impl Write) -> io::Result<Self> {
        let instruction: Instruction = line.parse().map_err(io::Error::other)?;
        let instruction = permitted(instruction, controller)?;
        let stream = match instruction.opening {
            Opening::Connect(address) => TcpStream::connect_timeout(&address, TIMEOUT)?,
            Opening::Listen(address) => {
                let listener = TcpListener::bind((address, 0))?;
                writeln!(answers, "listening {}", listener.local_addr()?.port())?;
                accept(&listener)?
            }
        };
        Self::start(stream, &instruction)
    }

    /// Starts the thread that moves.
    fn start(stream: TcpStream, instruction: &Instruction) -> io::Result<Self> {
        let moved = Arc::new(AtomicU64::new(0));
        let (placed, place) = sync_channel(1);
        let (own, count, instruction) = (stream.try_clone()?, Arc::clone(&moved), instruction.clone());
        let transfer_thread = thread::Builder::new().name("transfer".to_owned()).spawn(move || {
            let mask = run_on(&instruction.cpus);
            let is_placed = mask.is_ok();
            let _ = placed.send(mask.map(|()| ThreadNumber::current()));
            if is_placed { bulk(&own, instruction.role, &count) } else { Ok(()) }
        })?;
        let thread = place.recv().map_err(io::Error::other)??;
        Ok(Self { stream, moved, thread, transfer_thread: Some(transfer_thread) })
    }

    /// What was moved until now, and what the scheduler did to the thread that moves; or why it ended.
    fn count(&mut self) -> String {
        if let Some(transfer_thread) =
            self.transfer_thread.take_if(|transfer_thread| transfer_thread.is_finished())
        {
            return match transfer_thread.join() {
                Ok(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => {
                    failed(&"the other end went away")
                }
                Ok(Err(error)) => failed(&error),
                Ok(Ok(())) | Err(_) => failed(&"it has ended"),
            };
        }
        let Some(SchedulerCounts { voluntary, involuntary, migrations }) = self.thread.scheduler_counts()
        else {
            return failed(&"it has ended");
        };
        let migrations = migrations.map_or_else(|| "-".to_owned(), |count| count.to_string());
        format!("moved {} {voluntary} {involuntary} {migrations}", self.moved.load(Ordering::Relaxed))
    }
}

impl Drop for ActiveEnd {
    fn drop(&mut self) {
        // Refused if the other end closed it, and then the thread ends by itself.
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(transfer_thread) = self.transfer_thread.take() {
            let _ = transfer_thread.join();
        }
    }
}

fn permitted(instruction: Instruction, controller: Controller) -> io::Result<Instruction> {
    match (controller, instruction.opening) {
        (Controller::Local, _) => Ok(instruction),
        (Controller::Remote(address), Opening::Listen(_)) => {
            Ok(Instruction { opening: Opening::Listen(address), cpus: CpuSet::default(), ..instruction })
        }
        (Controller::Remote(_), Opening::Connect(_)) => {
            Err(io::Error::other("this host goes to nobody: let it listen"))
        }
    }
}

fn run_on(cpus: &CpuSet) -> io::Result<()> {
    if cpus.is_empty() { Ok(()) } else { affinity::set_mask(cpus).map_err(io::Error::other) }
}

/// The first that comes, if somebody does in time.
fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    let waiting = wait_readable(&[listener.as_fd()], Some(TIMEOUT)).map_err(io::Error::other)?;
    if waiting == 0 {
        return Err(io::Error::other("the other end of the connection did not come"));
    }
    listener.accept().map(|(stream, _)| stream)
}
