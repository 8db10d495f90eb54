//! One trial: a server of ours under one policy, and sources that send it requests.

use crate::error::RunError;
use crate::requests::connection::Connection;
use crate::requests::handler::{FlowState, answer};
use crate::requests::schedule::{Due, spaced};
use crate::requests::service::{ServedHandler, Service};
use crate::requests::source::{Sent, Source};
use crate::sockets::site::Site;
use core::sync::atomic::AtomicBool;
use core::time::Duration;
use std::net::SocketAddr;
use std::sync::{Barrier, OnceLock};
use std::thread;
use warmcore_linux::{pin_to, realtime};
use warmcore_runtime::server::{Frames, Policy, Report, Running, Server, WorkerReport};
use warmcore_units::{CpuId, Nanos, Transport};

/// Between requests that open the flows.
const SETTLING_GAP: Duration = Duration::from_micros(200);
/// How often each flow is used before anything counts.
const SETTLING: usize = 2;
/// Until all threads sleep.
const QUIET: Duration = Duration::from_millis(2);

/// What is tried.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    /// Which worker gets which request.
    pub(crate) policy: Policy,
    /// Workers, one for each of the first usable cores.
    pub(crate) workers: usize,
    /// What is asked and answered.
    pub(crate) service: Service,
    /// The processors of the sources.
    pub(crate) sources: Vec<CpuId>,
    /// Flows of each source.
    pub(crate) flows: usize,
}

/// What came out.
#[derive(Clone, Debug)]
pub(crate) struct TrialOutcome {
    /// What each source sent.
    pub(crate) sent: Vec<Sent>,
    /// What each worker did.
    pub(crate) workers: Vec<WorkerDid>,
    /// Why sources had no real-time priority, if they had none.
    pub(crate) without_priority: Option<String>,
}

/// What a worker did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct WorkerDid {
    pub(crate) cpu: Option<CpuId>,
    pub(crate) requests: u64,
    pub(crate) cpu_time: Nanos,
}

impl Trial {
    /// Starts the server, opens all flows, and sends what each source's schedule says.
    ///
    /// # Errors
    /// If the server cannot start or end, or a source fails.
    pub(crate) fn run(
        &self,
        site: &Site,
        schedules: &[Vec<Due>],
        stop: &AtomicBool,
    ) -> Result<TrialOutcome, RunError> {
        let server = self.start(site)?;
        let address = server.local_addr();
        let mut sources =
            self.sources.iter().map(|cpu| self.source(site, address, *cpu)).collect::<Result<Vec<_>, _>>()?;
        let settling = vec![spaced(SETTLING * self.flows, SETTLING_GAP, self.flows); sources.len()];
        self.send(&mut sources, &settling, stop)?;
        thread::sleep(QUIET);
        let before = server.report();
        let (sent, without_priority) = self.send(&mut sources, schedules, stop)?;
        thread::sleep(QUIET);
        let after = server.report();
        server.stop()?;
        if let ServedHandler::Library(library, _) = &self.service.handler
            && let Some(fault) = library.fault()
        {
            return Err(RunError::Library(fault));
        }
        let workers = did(&before, &after, self.workers);
        Ok(TrialOutcome { sent, workers, without_priority })
    }

    /// A source on `cpu`, which opens its connections there: a connection may belong to the processor that it came from.
    fn source(&self, site: &Site, address: SocketAddr, cpu: CpuId) -> Result<Source, RunError> {
        let open = || {
            let _pinned = pin_to(cpu)?;
            let connections =
                (0..self.flows).map(|_| Connection::open(site, address, self.service.transport));
            Ok(Source::new(connections.collect::<Result<Vec<_>, _>>()?, &self.service))
        };
        thread::scope(|scope| scope.spawn(open).join()).unwrap_or(Err(RunError::Panicked))
    }

    /// Where sources may have no real-time priority, workers give way to them. A thread inherits that from the one that starts
    /// it, which cannot take it back without privilege.
    fn start(&self, site: &Site) -> Result<Running, RunError> {
        let start = || {
            if realtime::RealTime::begin().is_err() {
                // Then the kernel decides who runs, as the notes say.
                let _ = realtime::give_way();
            }
            self.start_here(site)
        };
        thread::scope(|scope| scope.spawn(start).join()).unwrap_or(Err(RunError::Panicked))
    }

    fn start_here(&self, site: &Site) -> Result<Running, RunError> {
        let server = site.at_server(|address| {
            let (opening, payloads) = (self.service.clone(), self.service.payloads.clone());
            let server = match self.service.transport {
                Transport::Tcp => Server::bind_tcp((address, 0), Frames::Length)?,
                Transport::Udp | Transport::Rpc => Server::bind((address, 0))?,
            };
            server
                .policy(self.policy)
                .workers(self.workers)
                .longest_request(payloads.longest())
                .state(move |peer| opening.open(peer))
                .start(move |state: &mut FlowState, request, reply| answer(state, request, reply, &payloads))
        })?;
        Ok(server?)
    }

    /// Lets each source send its schedule, all at the same time.
    fn send(
        &self,
        sources: &mut [Source],
        schedules: &[Vec<Due>],
        stop: &AtomicBool,
    ) -> Result<(Vec<Sent>, Option<String>), RunError> {
        // On a busy machine a thread begins late. Time begins when all are there, with their priority.
        let (ready, start) = (Barrier::new(sources.len().min(schedules.len())), OnceLock::new());
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for ((source, schedule), &cpu) in sources.iter_mut().zip(schedules).zip(&self.sources) {
                let (ready, start) = (&ready, &start);
                threads.push(scope.spawn(move || -> Result<_, RunError> {
                    let pinned = pin_to(cpu);
                    let priority = realtime::RealTime::begin();
                    // Also if it could not be pinned: others wait for it.
                    ready.wait();
                    let _pinned = pinned?;
                    let start = *start.get_or_init(|| realtime::now() + QUIET);
                    let sent = source.run(schedule, start, stop)?;
                    Ok((sent, priority.err().map(|error| error.to_string())))
                }));
            }
            let (mut all, mut missing) = (Vec::new(), None);
            for thread in threads {
                let (sent, without) = thread.join().unwrap_or(Err(RunError::Panicked))?;
                all.push(sent);
                missing = missing.or(without);
            }
            Ok((all, missing))
        })
    }
}

/// What each of the first `workers` did between two reports.
fn did(before: &Report, after: &Report, workers: usize) -> Vec<WorkerDid> {
    let pairs = before.workers.iter().zip(&after.workers).take(workers);
    let one = |(before, after): (&WorkerReport, &WorkerReport)| {
        let time = |report: &WorkerReport| report.cpu_time.unwrap_or(Nanos(f64::NAN));
        WorkerDid {
            cpu: after.cpu,
            requests: after.counts.requests - before.counts.requests,
            cpu_time: time(after) - time(before),
        }
    };
    pairs.map(one).collect()
}

impl WorkerDid {
    /// Its processor time for each request, in nanoseconds; `None` if it had none, or the kernel does not tell.
    pub(crate) fn each(&self) -> Option<f64> {
        let each = self.cpu_time.0 / self.requests as f64;
        (self.requests > 0 && each.is_finite()).then_some(each)
    }
}
