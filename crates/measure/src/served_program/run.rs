//! One run: single requests from one processor.

use super::connection::Connection;
use super::error::ServedProgramError;
use super::rounds::Experiment;
use super::served::ServedProgram;
use super::{Asked, http};
use crate::error::RunError;
use crate::requests::schedule::{Due, spaced};
use crate::requests::source::Request;
use crate::sockets::error::SocketError;
use crate::sockets::processors::Processors;
use crate::sockets::site::Site;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::cell::RefCell;
use std::thread;
use warmcore_linux::{pin_to, realtime};
use warmcore_units::{CpuId, Nanos};

/// Connections of the source, which take turns.
const CONNECTIONS: usize = 16;
/// Requests before anything counts.
pub(crate) const WARM_UP: usize = 200;
/// A request whose delay is a smaller fraction of the interval between two comes alone.
pub(super) const ALONE: f64 = 0.5;
/// Until all threads sleep.
const QUIET: Duration = Duration::from_millis(2);
/// How long the last replies are waited for.
const LAST: Duration = Duration::from_millis(200);
/// The first replies may take longer: the program loads what it needs.
const FIRST: Duration = Duration::from_secs(1);
/// How long a program is watched while nobody asks it anything.
const IDLE: Duration = Duration::from_millis(500);

/// What all runs share.
pub(crate) struct Context<'a> {
    site: &'a Site,
    processors: &'a Processors,
    asked: &'a Asked,
    program: RefCell<ServedProgram>,
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
        Self { site, processors, asked, program: RefCell::new(program), stop }
    }

    pub(crate) fn name(&self) -> String {
        self.program.borrow().name.clone()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends requests until the program has its caches and threads. Returns how long a request takes that comes alone: the
    /// median of those sent at the shortest interval at which they do.
    ///
    /// # Errors
    /// If it answers none, or takes too long for each.
    pub(crate) fn warm_up(&self) -> Result<Duration, RunError> {
        let mut median = 0.0;
        for (requests, gap) in [(WARM_UP, 1), (WARM_UP / 4, 10), (WARM_UP / 10, 50)] {
            let due = spaced(requests, Duration::from_millis(gap), CONNECTIONS);
            let ran = self.send(&due, self.processors.reader, FIRST)?;
            let mut delays: Vec<f64> =
                ran.requests.iter().filter_map(|request| Some(request.replied?.0 - request.due)).collect();
            delays.sort_by(f64::total_cmp);
            if self.is_stopped() {
                return Ok(Duration::ZERO);
            }
            median = *delays
                .get(delays.len() / 2)
                .ok_or_else(|| ServedProgramError::Mute { program: self.name() })?;
            if median < ALONE * 1e6 * gap as f64 {
                return Ok(Duration::from_nanos(median as u64));
            }
        }
        Err(ServedProgramError::Slow { program: self.name(), delay: Nanos(median) }.into())
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
        let due = spaced(experiment.gap.requests(), experiment.gap.time(), CONNECTIONS);
        self.send(&due, self.processors.get(experiment.softirq), LAST)
    }

    fn send(&self, due: &[Due], cpu: CpuId, last: Duration) -> Result<Ran, RunError> {
        let address = self.program.borrow().address;
        let connections = (0..CONNECTIONS).map(|_| Connection::open(self.site, address, self.asked));
        let mut source = Source {
            connections: connections.collect::<Result<_, _>>()?,
            waiting: vec![None; CONNECTIONS],
            buffer: Vec::new(),
            asked: self.asked,
            get: match self.asked {
                Asked::Http(path) => http::get(path, &address.to_string()),
                Asked::Datagrams(_) => Vec::new(),
            },
            reopen: &|| Connection::open(self.site, address, self.asked),
        };
        thread::sleep(QUIET);
        let before = self.program.borrow().cpu_time();
        let start = realtime::now() + QUIET;
        let (requests, without_priority) = thread::scope(|scope| {
            let sender = scope.spawn(|| -> Result<_, RunError> {
                let _pinned = pin_to(cpu)?;
                let priority = realtime::RealTime::begin();
                let requests = source.run(due, start, last, self.stop)?;
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

/// A source: connections, and the request that waits on each.
struct Source<'a> {
    connections: Vec<Connection>,
    waiting: Vec<Option<usize>>,
    buffer: Vec<u8>,
    asked: &'a Asked,
    /// The request of HTTP.
    get: Vec<u8>,
    reopen: &'a (dyn Fn() -> Result<Connection, SocketError> + Sync),
}

impl Source<'_> {
    /// Sends what is due, counted from `start`, and waits for the last replies. Says what became of each request.
    fn run(
        &mut self,
        due: &[Due],
        start: Duration,
        last: Duration,
        stop: &AtomicBool,
    ) -> Result<Vec<Request>, RunError> {
        let since = |moment| realtime::nanos_between(start, moment);
        let mut requests: Vec<Request> = Vec::with_capacity(due.len());
        for (number, Due { at, flow }) in due.iter().copied().enumerate() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            // The reply of this connection's last request has come long ago, or will not.
            self.read(flow, start, &mut requests)?;
            if self.waiting[flow].take().is_some() {
                self.connections[flow] = (self.reopen)()?;
            }
            let request: &[u8] = match self.asked {
                Asked::Datagrams(payloads) => payloads.get(number as u64),
                Asked::Http(_) => &self.get,
            };
            let moment = start + at;
            realtime::sleep_until(moment);
            let began = realtime::now();
            let sent = self.connections[flow].send(request)?;
            let ended = realtime::now();
            if sent {
                self.waiting[flow] = Some(number);
            }
            requests.push(Request {
                flow,
                due: since(moment),
                began: since(began),
                ended: since(ended),
                replied: None,
            });
        }
        let last = realtime::now() + last;
        while self.waiting.iter().any(Option::is_some)
            && realtime::now() < last
            && !stop.load(Ordering::Relaxed)
        {
            realtime::sleep_until(realtime::now() + Duration::from_micros(500));
            (0..self.connections.len()).try_for_each(|flow| self.read(flow, start, &mut requests))?;
        }
        Ok(requests)
    }

    /// Reads the reply of a connection, if it is there.
    fn read(&mut self, flow: usize, start: Duration, requests: &mut [Request]) -> Result<(), RunError> {
        let Some(number) = self.waiting[flow] else { return Ok(()) };
        if let Some(received) = self.connections[flow].reply(&mut self.buffer)? {
            self.waiting[flow] = None;
            requests[number].replied = Some((realtime::nanos_between(start, received), 0));
        }
        Ok(())
    }
}
