//! One run: single requests from one processor.

use super::connection::Connection;
use super::error::ServedProgramError;
use super::rounds::Experiment;
use super::served::ServedProgram;
use super::{Asked, http};
use crate::error::RunError;
use crate::requests::source::Request;
use crate::sockets::error::SocketError;
use crate::sockets::processors::Processors;
use crate::sockets::site::Site;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::cell::{Cell, RefCell};
use std::thread;
use warmcore_linux::{pin_to, realtime};
use warmcore_units::{CpuId, Nanos};

/// UDP sockets of the source, which take turns: the program sees so many peers.
const PEERS: usize = 16;
/// Requests before anything counts.
pub(crate) const WARM_UP: usize = 200;
/// Between them.
const WARM_UP_GAP: Duration = Duration::from_millis(1);
/// A program that has answered none of so many does not answer.
const MUTE: usize = 5;
/// A program that takes longer for a request is not measured.
pub(crate) const SLOWEST: Duration = Duration::from_millis(100);
/// Until all threads sleep.
const QUIET: Duration = Duration::from_millis(2);
/// A reply that takes longer is lost.
const LOST: Duration = Duration::from_millis(200);
/// The first replies may take longer: the program loads what it needs.
const FIRST: Duration = Duration::from_secs(1);
/// Between looks for a reply that is late.
const LOOK: Duration = Duration::from_micros(50);
/// A run ends after this, however few requests it had.
const LONGEST: Duration = Duration::from_secs(3);
/// How long a program is watched while nobody asks it anything.
const IDLE: Duration = Duration::from_millis(500);
/// Approximate length of a run.
const RUN: Duration = Duration::from_millis(60);
/// The fewest and the most requests of a run.
const REQUESTS: (usize, usize) = (15, 200);

/// What all runs share.
pub(crate) struct Context<'a> {
    site: &'a Site,
    processors: &'a Processors,
    asked: &'a Asked,
    program: RefCell<ServedProgram>,
    /// How long a request takes that comes alone.
    alone: Cell<Duration>,
    stop: &'a AtomicBool,
}

/// What a run gave.
pub(crate) struct Ran {
    pub(crate) requests: Vec<Request>,
    /// Processor time of the program.
    pub(crate) program_cpu: Nanos,
    /// How long the run took.
    pub(crate) long: Duration,
    /// Why the source had no real-time priority, if it had none.
    pub(crate) without_priority: Option<String>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        site: &'a Site,
        processors: &'a Processors,
        asked: &'a Asked,
        program: ServedProgram,
        stop: &'a AtomicBool,
    ) -> Self {
        let (program, alone) = (RefCell::new(program), Cell::new(Duration::ZERO));
        Self { site, processors, asked, program, alone, stop }
    }

    pub(crate) fn name(&self) -> String {
        self.program.borrow().name.clone()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends requests until the program has its caches and threads.
    ///
    /// # Errors
    /// If it answers none, or takes too long for each.
    pub(crate) fn warm_up(&self) -> Result<(), RunError> {
        let ran = self.send(WARM_UP, WARM_UP_GAP, self.processors.reader, FIRST)?;
        let delay = |request: &Request| Some(request.replied?.0 - request.began);
        let mut delays: Vec<f64> = ran.requests.iter().filter_map(delay).collect();
        delays.sort_by(f64::total_cmp);
        if self.is_stopped() {
            return Ok(());
        }
        let program = self.name();
        let Some(&median) = delays.get(delays.len() / 2) else {
            return Err(ServedProgramError::Mute { program, requests: ran.requests.len() }.into());
        };
        if median > SLOWEST.as_nanos() as f64 {
            return Err(ServedProgramError::Slow { program, delay: Nanos(median) }.into());
        }
        self.alone.set(Duration::from_nanos(median as u64));
        Ok(())
    }

    /// The processor time of the program so far.
    pub(crate) fn cpu_time(&self) -> Nanos {
        self.program.borrow().cpu_time()
    }

    /// The share of a processor that the program uses when nobody asks it anything.
    pub(crate) fn idle_share(&self) -> f64 {
        let before = self.program.borrow().cpu_time();
        thread::sleep(IDLE);
        let used = self.program.borrow().cpu_time() - before;
        (used.0 / IDLE.as_nanos() as f64).max(0.0)
    }

    /// Makes one run.
    pub(crate) fn run(&self, experiment: Experiment) -> Result<Ran, RunError> {
        let gap = experiment.gap.time();
        let each = (gap + self.alone.get()).as_nanos().max(1);
        let requests = ((RUN.as_nanos() / each) as usize).clamp(REQUESTS.0, REQUESTS.1);
        self.send(requests, gap, self.processors.get(experiment.softirq), LOST)
    }

    /// Sends so many `requests` from `cpu`, each `gap` after the reply of the one before.
    fn send(&self, requests: usize, gap: Duration, cpu: CpuId, lost: Duration) -> Result<Ran, RunError> {
        let address = self.program.borrow().address;
        let open = || Connection::open(self.site, address, self.asked);
        // A server that serves one connection at a time has one.
        let (count, get) = match self.asked {
            Asked::Http(path) => (1, http::get(path, &address.to_string())),
            Asked::Datagrams(_) => (PEERS, Vec::new()),
        };
        let connections = (0..count).map(|_| open()).collect::<Result<_, _>>()?;
        let (asked, stop) = (self.asked, self.stop);
        let mut source = Source { connections, buffer: Vec::new(), asked, get, lost, open: &open, stop };
        thread::sleep(QUIET);
        let before = self.program.borrow().cpu_time();
        let start = realtime::now() + QUIET;
        let (requests, without_priority) = thread::scope(|scope| {
            let sender = scope.spawn(|| -> Result<_, RunError> {
                let _pinned = pin_to(cpu)?;
                let priority = realtime::RealTime::begin();
                let requests = source.run(requests, gap, start)?;
                Ok((requests, priority.err().map(|error| error.to_string())))
            });
            sender.join().unwrap_or(Err(RunError::Panicked))
        })?;
        thread::sleep(QUIET);
        let long = realtime::now().saturating_sub(start);
        self.program.borrow_mut().check("during the measurement")?;
        let program_cpu = self.program.borrow().cpu_time() - before;
        Ok(Ran { requests, program_cpu, long, without_priority })
    }
}

/// A source, with one request under way at a time.
struct Source<'a> {
    connections: Vec<Connection>,
    buffer: Vec<u8>,
    asked: &'a Asked,
    /// The request of HTTP.
    get: Vec<u8>,
    /// A reply that takes longer is lost.
    lost: Duration,
    open: &'a (dyn Fn() -> Result<Connection, SocketError> + Sync),
    stop: &'a AtomicBool,
}

impl Source<'_> {
    /// Sends requests from `start` on. Says what became of each; due is when it was sent.
    fn run(&mut self, count: usize, gap: Duration, start: Duration) -> Result<Vec<Request>, RunError> {
        let since = |moment| realtime::nanos_between(start, moment);
        let (mut requests, mut answered): (Vec<Request>, usize) = (Vec::with_capacity(count), 0);
        let mut next = start;
        for number in 0..count {
            let is_long = number >= MUTE && realtime::now() > start + LONGEST;
            if self.stop.load(Ordering::Relaxed) || is_long || (answered == 0 && number >= MUTE) {
                break;
            }
            let flow = number % self.connections.len();
            let request: &[u8] = match self.asked {
                Asked::Datagrams(payloads) => payloads.get(number as u64),
                Asked::Http(_) => &self.get,
            };
            realtime::sleep_until(next);
            let began = realtime::now();
            let sent = self.connections[flow].send(request)?;
            let ended = realtime::now();
            next = ended + gap;
            let reply = if sent { self.reply(flow, next)? } else { None };
            answered += usize::from(reply.is_some());
            match reply {
                // It was there when the next one was to be sent.
                Some(received) if received < next => next = next.max(received + gap),
                Some(received) => next = received + gap,
                None => {
                    self.connections[flow] = (self.open)()?;
                    next = realtime::now() + gap;
                }
            }
            requests.push(Request {
                flow,
                due: since(began),
                began: since(began),
                ended: since(ended),
                replied: reply.map(|received| (since(received), 0)),
            });
        }
        Ok(requests)
    }

    /// When the reply came: looked for at `next`, and after that until it is lost. Before, its processor is the program's.
    fn reply(&mut self, flow: usize, next: Duration) -> Result<Option<Duration>, RunError> {
        let last = realtime::now() + self.lost;
        let mut look = next;
        loop {
            realtime::sleep_until(look);
            if let Some(received) = self.connections[flow].reply(&mut self.buffer)? {
                return Ok(Some(received));
            }
            if realtime::now() > last || self.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            look = realtime::now() + LOOK;
        }
    }
}
