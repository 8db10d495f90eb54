//! One end of a connection. It gets an [`Instruction`], sends or receives bytes, and reports how many
//! whenever it is asked. Instructions and answers travel over any pair of pipes, so an end may be a
//! thread, a process or on another host. It ends when its input ends, even if the controlling process
//! was killed.
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

/// How long the ends of a connection wait for each other. On a busy machine one may be late.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

/// Longest instruction line, in bytes.
const MAX_LINE: u64 = 1024;

/// The question to a running end.
pub(super) const COUNT: &str = "count";

/// Who controls an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Controller {
    /// This program, which may give any instruction.
    Local,
    /// Another host. Whatever the instruction, the end only listens, at this address, and does not
    /// change its affinity; it refuses to connect anywhere.
    Remote(IpAddr),
}

/// Runs an end until its input ends. Failures of the end are reported among the `answers`.
///
/// # Errors
/// If the controller can no longer be read from or written to.
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

/// Reads the next line; `None` at the end of the input.
fn next(instructions: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let length = instructions.take(MAX_LINE).read_line(&mut line)?;
    if length as u64 == MAX_LINE {
        return Err(ErrorKind::InvalidData.into());
    }
    Ok((length > 0).then(|| line.trim().to_owned()))
}

/// An end that sends or receives until this is dropped.
struct ActiveEnd {
    stream: TcpStream,
    moved: Arc<AtomicU64>,
    thread: ThreadNumber,
    transfer_thread: Option<JoinHandle<io::Result<()>>>,
}

impl ActiveEnd {
    /// Carries out the instruction in `line`. If it listens, it first reports the port.
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

    /// Starts the thread that sends or receives.
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

    /// Reports the bytes so far and the scheduler's counts for the thread; or why it ended.
    fn count(&mut self) -> String {
        if let Some(transfer_thread) =
            self.transfer_thread.take_if(|transfer_thread| transfer_thread.is_finished())
        {
            return match transfer_thread.join() {
                Ok(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => {
                    failed(&"the other end closed the connection")
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
        // This fails if the other end has closed the connection; the thread then ends by itself.
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
            Err(io::Error::other("this host only listens: it connects to nobody"))
        }
    }
}

fn run_on(cpus: &CpuSet) -> io::Result<()> {
    if cpus.is_empty() { Ok(()) } else { affinity::set_mask(cpus).map_err(io::Error::other) }
}

/// Accepts one connection, or fails after [`TIMEOUT`].
fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    let waiting = wait_readable(&[listener.as_fd()], Some(TIMEOUT)).map_err(io::Error::other)?;
    if waiting == 0 {
        return Err(io::Error::other("the other end did not connect in time"));
    }
    listener.accept().map(|(stream, _)| stream)
}
