//! Starting a server's threads.

use super::builder::{MakeWorker, Options, Server};
use super::control::Control;
use super::error::ServerError;
use super::flows::Flows;
use super::gathering::Gathering;
use super::handler::Handler;
use super::policy::Policy;
use super::running::{Event, Page, Running};
use super::service::{Local, Service, message};
use super::worker;
use crate::from_scenario::usable_cores;
use crate::metrics::Endpoint;
use core::sync::atomic::AtomicBool;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use warmcore_linux::net::sockets::{Batch, Port, PortOptions, WorkerSocket};
use warmcore_linux::{affinity, pin_to};
use warmcore_units::CpuId;

/// Starts a server and returns when all workers are ready. Its threads tell `events` by `told`.
pub(super) fn launch<S: Send + 'static, W: 'static>(
    server: Server<S, W>,
    handler: impl Handler<S, W> + 'static,
    told: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
) -> Result<Running, ServerError> {
    let Server { options, make_state, make_worker } = server;
    let cpus = cpus(&options)?;
    let workers = cpus.len();
    let endpoint = options.metrics.map(Endpoint::bind).transpose()?;
    let port_options = PortOptions { receive_buffer: Some(options.receive_buffer), ..PortOptions::default() };
    let (port, sockets) = Port::open(options.address, &options.policy.sharing(&cpus), workers, port_options)?;
    // A flow has a worker where the port keeps it there. Otherwise a thread of its own calls timers.
    let by_worker = options.policy.keeps_order();
    let timekeeper = (!by_worker).then(|| (None, port.sender()));
    let threads: Vec<(Option<CpuId>, WorkerSocket)> =
        cpus.into_iter().map(Some).zip(sockets).chain(timekeeper).collect();
    let control = Arc::new(Control::new(port, threads.iter().map(|(cpu, _)| *cpu)));
    let service = Arc::new(Service {
        handler,
        make_state,
        flows: Flows::new(workers, by_worker, options.idle),
        max_flows: options.flows,
        control: Arc::clone(&control),
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
    for (number, (cpu, socket)) in threads.into_iter().enumerate() {
        let begin = Begin { number, cpu, socket, make_worker: Arc::clone(&make_worker), told: told.clone() };
        // If it fails, those that have started end with the port.
        let thread = begin
            .spawn(Arc::clone(&service), &options)
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
    let workers = options.workers.unwrap_or(cores.len());
    options.check(workers)?;
    Ok(cores.into_iter().cycle().take(workers).collect())
}

/// What a thread begins with.
struct Begin<W> {
    number: usize,
    /// Its cpu; none is the timekeeper's.
    cpu: Option<CpuId>,
    socket: WorkerSocket,
    make_worker: MakeWorker<W>,
    told: mpsc::Sender<Event>,
}

impl<W: 'static> Begin<W> {
    /// Starts the thread. When it ends, it says so; if it dies, it closes the port, so that all others end.
    fn spawn<S, H>(self, service: Arc<Service<S, H>>, options: &Options) -> io::Result<JoinHandle<()>>
    where
        S: Send + 'static,
        H: Handler<S, W> + 'static,
    {
        let (policy, longest) = (options.policy, options.longest);
        let thread = thread::Builder::new().name(format!("server-{}", self.number));
        thread.stack_size(options.stack_size).spawn(move || {
            let (number, told) = (self.number, self.told.clone());
            let record = &service.control.threads[number];
            record.started();
            let done = catch_unwind(AssertUnwindSafe(|| self.run(&service, policy, longest)));
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

    fn run<S, H: Handler<S, W>>(
        self,
        service: &Service<S, H>,
        policy: Policy,
        longest: usize,
    ) -> Result<(), String> {
        let Self { number, cpu, socket, make_worker, told } = self;
        let _pinned = cpu.map(pin_to).transpose().map_err(|error| error.to_string())?;
        let local = Local::new(number, make_worker(number), socket.clone());
        if cpu.is_none() {
            let gathering = (policy == Policy::Adaptive).then(|| Gathering::new(&service.control, number));
            worker::keep_time(service, local, gathering);
            return Ok(());
        }
        let batch = Batch::new(if policy.is_shared() { 1 } else { Batch::MOST }, longest);
        let _ = told.send(Event::Ready);
        worker::work(service, local, socket, batch)
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
