//! Starting a server's threads.

use super::builder::{MakeWorker, Options, Server};
use super::control::Control;
use super::error::ServerError;
use super::flows::Flows;
use super::handler::Handler;
use super::running::{Event, Page, Running};
use super::service::{Local, Service, message};
use super::transport::{Destination, OpenPort, SocketSource, Source};
use super::worker;
use crate::cores::usable_cores;
use crate::metrics::Endpoint;
use core::sync::atomic::AtomicBool;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use warmcore_linux::net::sockets::{Batch, Port, PortOptions};
use warmcore_linux::{affinity, pin_to};
use warmcore_units::CpuId;

/// Starts a server and returns when all workers are ready. Its threads tell `events` by `told`.
pub(super) fn launch<S: Send + 'static, W: 'static>(
    server: Server<S, W>,
    handler: impl Handler<S, W> + 'static,
    told: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
) -> Result<Running, ServerError> {
    let options = server.options.clone();
    let cpus = cpus(&options)?;
    let workers = cpus.len();
    let start =
        Start { server, handler, told, events, cpus, page: options.metrics.map(Endpoint::bind).transpose()? };
    let sharing = options.policy.sharing(&start.cpus);
    let keeps_order = options.policy.keeps_order();
    let Some(below) = options.below else {
        let port_options =
            PortOptions { receive_buffer: Some(options.receive_buffer), ..PortOptions::default() };
        let (port, sockets) = Port::open(options.address, &sharing, workers, port_options)?;
        let datagrams = if options.policy.is_shared() { 1 } else { Batch::MOST };
        let ends = sockets.into_iter().map(|socket| {
            let destination = Destination::Socket(socket.clone());
            (destination, move || SocketSource { socket, batch: Batch::new(datagrams, options.longest) })
        });
        let sender = Destination::Socket(port.sender());
        return start.threads(OpenPort::Sockets(port), ends.collect(), keeps_order, sender);
    };
    let port = below.open(&sharing, workers, options.receive_buffer, options.flows)?;
    let ends = (0..workers).map(|number| {
        let receiver = port.receiver(number, workers, options.longest);
        (Destination::Link(receiver.sender()), move || receiver)
    });
    let (ends, sender) = (ends.collect(), Destination::Link(port.sender()));
    let keeps_order = keeps_order && (workers == 1 || below.device.keeps_flows());
    start.threads(OpenPort::Interface(port), ends, keeps_order, sender)
}

/// What a server starts with, whatever it receives from.
struct Start<S, W, H> {
    server: Server<S, W>,
    handler: H,
    told: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
    /// Of each worker.
    cpus: Vec<CpuId>,
    page: Option<Endpoint>,
}

impl<S: Send + 'static, W: 'static, H: Handler<S, W> + 'static> Start<S, W, H> {
    /// Starts a thread for each of `ends`: what it sends to, and what makes its source, on the thread itself. Flows have
    /// a worker where the port keeps them there (`by_worker`). Otherwise a thread of its own calls timers, which sends to
    /// `sender`.
    fn threads<R: Source>(
        self,
        port: OpenPort,
        ends: Vec<(Destination, impl FnOnce() -> R + Send + 'static)>,
        by_worker: bool,
        sender: Destination,
    ) -> Result<Running, ServerError> {
        let Self { server, handler, told, events, cpus, page: endpoint } = self;
        let Server { options, make_state, make_worker } = server;
        let workers = cpus.len();
        let timekeeper = (!by_worker).then_some((None, sender, None));
        let threads: Vec<_> = cpus
            .into_iter()
            .zip(ends)
            .map(|(cpu, (destination, source))| (Some(cpu), destination, Some(source)))
            .chain(timekeeper)
            .collect();
        let control = Arc::new(Control::new(port, threads.iter().map(|(cpu, ..)| *cpu)));
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
        for (number, (cpu, destination, source)) in threads.into_iter().enumerate() {
            let (make_worker, told) = (Arc::clone(&make_worker), told.clone());
            let begin = Begin { number, cpu, destination, source, make_worker, told };
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
struct Begin<W, F> {
    number: usize,
    /// Its cpu; none is the timekeeper's.
    cpu: Option<CpuId>,
    destination: Destination,
    /// Makes what it receives from; the timekeeper receives nothing.
    source: Option<F>,
    make_worker: MakeWorker<W>,
    told: mpsc::Sender<Event>,
}

impl<W: 'static, R: Source, F: FnOnce() -> R + Send + 'static> Begin<W, F> {
    /// Starts the thread. When it ends, it says so; if it dies, it closes the port, so that all others end.
    fn spawn<S, H>(self, service: Arc<Service<S, H>>, stack_size: usize) -> io::Result<JoinHandle<()>>
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

    fn run<S, H: Handler<S, W>>(self, service: &Service<S, H>) -> Result<(), String> {
        let Self { number, cpu, destination, source, make_worker, told } = self;
        let _pinned = cpu.map(pin_to).transpose().map_err(|error| error.to_string())?;
        let local = Local::new(number, make_worker(number), destination);
        let Some(source) = source else {
            worker::keep_time(service, local);
            return Ok(());
        };
        let source = source();
        let _ = told.send(Event::Ready);
        worker::work(service, local, source)
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
