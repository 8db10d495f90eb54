//! Starting a server's threads.

use super::builder::{MakeWorker, Options, Server};
use super::control::Control;
use super::error::ServerError;
use super::gathering::Gathering;
use super::handler::Handler;
use super::policy::Policy;
use super::running::{Event, Page, Running};
use super::service::{FlowsOf, Local, Service, message};
use super::transport::{ServedPort, Transport};
use super::{connections, datagrams, keeper};
use crate::cores::usable_cores;
use crate::metrics::Endpoint;
use core::sync::atomic::AtomicBool;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use warmcore_linux::{affinity, pin_to};
use warmcore_units::CpuId;

/// A port that is open, and what its threads begin with.
pub(super) struct Opened<S, T: Transport> {
    pub(super) port: ServedPort,
    pub(super) transport: T,
    pub(super) flows: Arc<FlowsOf<S, T>>,
    /// What each worker sends with, and its share of the port.
    pub(super) workers: Vec<(T::Out, T::Share)>,
    /// What the thread sends with that calls timers, where flows have no worker.
    pub(super) keeper: Option<T::Out>,
}

/// Starts a server and returns when all workers are ready. Its threads tell `events` by `told`.
pub(super) fn launch<S: Send + 'static, W: 'static>(
    server: Server<S, W>,
    handler: impl Handler<S, W> + 'static,
    told: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
) -> Result<Running, ServerError> {
    let cpus = cpus(&server.options)?;
    let endpoint = server.options.metrics.map(Endpoint::bind).transpose()?;
    match server.options.frames.clone() {
        None => {
            let opened = datagrams::open(&server.options, &cpus)?;
            start(server, handler, opened, &cpus, endpoint, (told, events))
        }
        Some(frames) => {
            let opened = connections::open(&server.options, frames, &cpus)?;
            start(server, handler, opened, &cpus, endpoint, (told, events))
        }
    }
}

/// Starts the threads of a server.
fn start<S: Send + 'static, W: 'static, T: Transport>(
    server: Server<S, W>,
    handler: impl Handler<S, W> + 'static,
    opened: Opened<S, T>,
    cpus: &[CpuId],
    endpoint: Option<Endpoint>,
    (told, events): (mpsc::Sender<Event>, mpsc::Receiver<Event>),
) -> Result<Running, ServerError> {
    let Server { options, make_state, make_worker } = server;
    let Opened { port, transport, flows, workers: shares, keeper } = opened;
    let workers = cpus.len();
    let shares = cpus.iter().zip(shares).map(|(cpu, (out, share))| (Some(*cpu), out, Some(share)));
    let threads: Vec<_> = shares.chain(keeper.map(|out| (None, out, None))).collect();
    let control = Arc::new(Control::new(port, threads.iter().map(|(cpu, ..)| *cpu)));
    let service = Arc::new(Service {
        handler,
        make_state,
        flows,
        max_flows: options.flows,
        control: Arc::clone(&control),
        transport,
    });
    let mut running = Running {
        control,
        events,
        threads: Vec::new(),
        workers,
        drain: options.drain,
        page: None,
        died: None,
        signalled: false,
    };
    let gathers = options.policy == Policy::Adaptive;
    for (number, (cpu, out, share)) in threads.into_iter().enumerate() {
        let begin = Begin {
            number,
            cpu,
            out,
            share,
            gathers,
            make_worker: Arc::clone(&make_worker),
            told: told.clone(),
        };
        // If it fails, those that have started end with the port.
        let thread = begin
            .spawn(Arc::clone(&service), options.stack_size)
            .map_err(|source| ServerError::Thread { worker: number, source })?;
        running.threads.push(Some(thread));
    }
    if let Some(endpoint) = endpoint {
        let page = page(endpoint, &running.control);
        running.page = Some(page.map_err(|source| ServerError::Thread { worker: workers, source })?);
    }
    match running.wait_until_ready() {
        None => Ok(running),
        Some((worker, message)) => {
            let _ = running.stop();
            Err(ServerError::Died { worker, message })
        }
    }
}

/// The cpu of each worker. If this machine's cores cannot be read, and the number of workers is given, it is among all
/// cpus that this process may use.
fn cpus(options: &Options) -> Result<Vec<CpuId>, ServerError> {
    let cores = match (usable_cores(), options.workers) {
        (Ok(cores), _) if !cores.is_empty() => cores,
        (Err(error), None) => return Err(error.into()),
        _ => affinity::mask().map(|mask| mask.iter().collect()).unwrap_or_default(),
    };
    let workers = match (options.workers, &options.below) {
        (Some(workers), _) => workers,
        (None, Some(below)) => cores.len().min(below.most_workers(options.policy)?),
        (None, None) => cores.len(),
    };
    options.check(workers)?;
    Ok(cores.into_iter().cycle().take(workers).collect())
}

/// What a thread begins with.
struct Begin<W, T: Transport> {
    number: usize,
    cpu: Option<CpuId>,
    out: T::Out,
    /// A worker's share of the port; none is the timekeeper's.
    share: Option<T::Share>,
    /// Whether the timekeeper gathers flows on as few workers as the load needs.
    gathers: bool,
    make_worker: MakeWorker<W>,
    told: mpsc::Sender<Event>,
}

impl<W: 'static, T: Transport> Begin<W, T> {
    /// Starts the thread. When it ends, it says so; if it dies, it closes the port, so that all others end.
    fn spawn<S, H>(self, service: Arc<Service<S, H, T>>, stack_size: usize) -> io::Result<JoinHandle<()>>
    where
        S: Send + 'static,
        H: Handler<S, W> + 'static,
    {
        let thread = thread::Builder::new().name(format!("server-{}", self.number));
        thread.stack_size(stack_size).spawn(move || {
            let (number, told) = (self.number, self.told.clone());
            let record = &service.control.threads[number];
            record.started();
            let done = catch_unwind(AssertUnwindSafe(|| self.run(&service)));
            let done = done.unwrap_or_else(|payload| Err(message(&*payload).to_owned()));
            record.ended();
            if done.is_err() {
                service.control.port.close();
            }
            // Before it is said that this thread has ended: the port is free once the server is stopped.
            drop(service);
            let _ = told.send(Event::Ended(number, done));
        })
    }

    fn run<S, H: Handler<S, W>>(self, service: &Service<S, H, T>) -> Result<(), String> {
        let Self { number, cpu, out, share, gathers, make_worker, told } = self;
        let _pinned = cpu.map(pin_to).transpose().map_err(|error| error.to_string())?;
        let local = Local::new(number, make_worker(number), out);
        let Some(share) = share else {
            let gathering = gathers.then(|| Gathering::new(&service.control, number));
            keeper::keep_time(service, local, gathering);
            return Ok(());
        };
        let _ = told.send(Event::Ready);
        T::work(service, local, share)
    }
}

/// Serves the metrics.
fn page(endpoint: Endpoint, control: &Arc<Control>) -> io::Result<Page> {
    let (address, stop) = (endpoint.address(), Arc::new(AtomicBool::new(false)));
    let (control, until) = (Arc::downgrade(control), Arc::clone(&stop));
    let text = move || {
        let control = control.upgrade();
        control.map(|control| super::report::Report::new(&control).metrics()).unwrap_or_default()
    };
    let serve = move || endpoint.serve(&until, text);
    let thread = thread::Builder::new().name("server-metrics".to_owned()).spawn(serve)?;
    Ok(Page { address, stop, thread })
}
