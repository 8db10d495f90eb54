//! Echo servers on the kernel's UDP sockets, at equal load over loopback: ours under each policy, a bare
//! `recvmmsg`/`sendmmsg` loop on `SO_REUSEPORT` sockets, and tokio with one runtime and with one for each cpu.
//!
//! One client thread sends open-loop on many sockets and checks every byte of every answer. A delay counts from
//! the time at which its request was due, so a late client does not hide it. The client has the last cpu to
//! itself, the servers have all others. Processor time is the process's without the client's thread: what the
//! kernel does for a request on loopback is in it from the server's receive call to the delivery of the reply to the client's
//! socket; the delivery of the request is in the client's.
//!
//! Rounds are interleaved: each contender runs once at each rate in every round, in an order that rotates.
//! Run with `make bench-server`, on a quiet machine of at least two cpus; an argument is the number of rounds. Where
//! other programs compete for the cpus, delays say nothing, and processor times little.

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use warmcore_linux::net::sockets::{Batch, Outbox, Port, PortOptions, Received, Sharing};
use warmcore_linux::{affinity, cpu_time};
use warmcore_runtime::server::{Policy, Server};
use warmcore_units::CpuId;

/// Sockets of the client.
const FLOWS: usize = 64;
/// Bytes of a request.
const BYTES: usize = 64;
/// Length of a trial, after a tenth of it to warm up.
const TIME: Duration = Duration::from_millis(1000);
/// How long the client waits for the last answers.
const LAST: Duration = Duration::from_millis(200);
/// Requests a second.
const RATES: [f64; 3] = [10_000.0, 40_000.0, 80_000.0];

type Stop = Box<dyn FnOnce()>;
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What answers, and how it is started on so many cpus.
struct Contender {
    name: String,
    start: Box<dyn Fn(usize) -> Result<(SocketAddr, Stop)>>,
}

/// One trial's outcome.
#[derive(Clone, Copy)]
struct Trial {
    lost: u64,
    /// Answers for a second of the server's processor time.
    per_cpu_second: f64,
    /// Median and 99th percentile of the delay, in µs.
    delays: [f64; 2],
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_bench = std::env::args().any(|word| word == "--bench");
    let rounds = words.first().map_or(Ok(if is_bench { 7 } else { 1 }), |word| word.parse())?;
    let mask = affinity::mask()?;
    let cpus: Vec<CpuId> = mask.iter().collect();
    let [servers @ .., client] = &cpus[..] else { return Err("no cpu".into()) };
    if servers.is_empty() {
        println!("skipped: one cpu");
        return Ok(());
    }
    affinity::set_mask(&servers.iter().copied().collect())?;
    let contenders = contenders();
    let mut trials = vec![vec![Vec::new(); contenders.len()]; RATES.len()];
    for round in 0..rounds {
        for (at, rate) in RATES.iter().enumerate() {
            for turn in 0..contenders.len() {
                let which = (turn + round) % contenders.len();
                trials[at][which].push(trial(&contenders[which], servers.len(), *client, *rate)?);
            }
        }
    }
    println!(
        "{} server cpu(s), {FLOWS} flows, {BYTES} bytes, {rounds} interleaved rounds; median [least, greatest]",
        servers.len()
    );
    for (rate, trials) in RATES.iter().zip(&trials) {
        println!(
            "\n{rate} requests a second: requests per cpu-second, ratio to the loop in the same round, median and p99 in µs, lost"
        );
        for (contender, own) in contenders.iter().zip(trials) {
            let of = |value: fn(&Trial) -> f64| spread(own.iter().map(value).collect());
            let ratio =
                own.iter().zip(&trials[0]).map(|(own, bare)| own.per_cpu_second / bare.per_cpu_second);
            println!(
                "{:28} {:>28} {:>20} {:>20} {:>24} {}",
                contender.name,
                of(|trial| trial.per_cpu_second),
                spread(ratio.collect()),
                of(|trial| trial.delays[0]),
                of(|trial| trial.delays[1]),
                own.iter().map(|trial| trial.lost).sum::<u64>(),
            );
        }
    }
    Ok(())
}

/// Median, least and greatest.
fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let digits = if values[0] < 10.0 { 2 } else { 0 };
    let [least, median, greatest] = [0, values.len() / 2, values.len() - 1].map(|at| values[at]);
    format!("{median:.digits$} [{least:.digits$}, {greatest:.digits$}]")
}

fn trial(contender: &Contender, cpus: usize, client: CpuId, rate: f64) -> Result<Trial> {
    let (address, stop) = (contender.start)(cpus)?;
    let load = thread::spawn(move || load(address, client, rate).map_err(|error| error.to_string()));
    let (answered, lost, delays, own, process) = load.join().map_err(|_| "the client panicked")??;
    stop();
    let used = (process - own) / 1e9;
    Ok(Trial { lost, per_cpu_second: answered as f64 / used, delays })
}

/// Sends at `rate`, and checks every answer. Returns answers, losses, delays, and the processor times of this thread and of the
/// process.
fn load(address: SocketAddr, cpu: CpuId, rate: f64) -> Result<(u64, u64, [f64; 2], f64, f64)> {
    affinity::set_mask(&[cpu].into_iter().collect())?;
    let sockets: Vec<UdpSocket> = (0..FLOWS).map(|_| client(address)).collect::<Result<_>>()?;
    run(&sockets, rate, TIME / 10)?;
    let before = (cpu_time::of_this_thread(), cpu_time::of_this_process());
    let (sent, mut delays) = run(&sockets, rate, TIME)?;
    let own = (cpu_time::of_this_thread() - before.0).0;
    let process = (cpu_time::of_this_process() - before.1).0;
    delays.sort_by(f64::total_cmp);
    let quantile = |part: f64| delays.get((delays.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN);
    let answered = delays.len() as u64;
    Ok((answered, sent - answered, [quantile(0.5), quantile(0.99)], own, process))
}

fn client(address: SocketAddr) -> Result<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Request number `number`: the number, and bytes that follow from it.
fn request(number: u64) -> [u8; BYTES] {
    let words = (0..BYTES as u64 / 8).map(|at| number.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut bytes = [0; BYTES];
    bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
    bytes
}

/// Sends for so long, in turn on all sockets. Returns how many were sent, and the delays in µs.
fn run(sockets: &[UdpSocket], rate: f64, time: Duration) -> Result<(u64, Vec<f64>)> {
    let total = (rate * time.as_secs_f64()) as u64;
    let (begun, mut sent, mut next, mut delays) = (Instant::now(), 0, 0, Vec::with_capacity(total as usize));
    let due = |number: u64| number as f64 / rate;
    let mut seen = vec![false; total as usize];
    let mut answer = [0; BYTES + 1];
    while delays.len() < total as usize {
        let now = begun.elapsed().as_secs_f64();
        if sent == total && now > due(total) + LAST.as_secs_f64() {
            break;
        }
        // A late client sends what is due at once, a few at a time.
        for _ in 0..4 {
            if sent < total && due(sent) <= now {
                sockets[sent as usize % sockets.len()].send(&request(sent))?;
                sent += 1;
            }
        }
        for _ in 0..8 {
            next = (next + 1) % sockets.len();
            while let Ok(length) = sockets[next].recv(&mut answer) {
                let number = u64::from_le_bytes(answer[..8].try_into()?);
                let is_whole = length == BYTES && number < sent && answer[..BYTES] == request(number);
                if is_whole && !std::mem::replace(&mut seen[number as usize], true) {
                    delays.push((begun.elapsed().as_secs_f64() - due(number)) * 1e6);
                } else if !is_whole {
                    return Err("a wrong answer".into());
                }
            }
        }
    }
    Ok((sent, delays))
}

fn contenders() -> Vec<Contender> {
    let bare = Contender { name: "recvmmsg loop, reuseport".to_owned(), start: Box::new(bare) };
    let ours = Policy::UDP.map(|policy| Contender {
        name: format!("ours, {policy:?}"),
        start: Box::new(move |cpus| ours(policy, cpus)),
    });
    let tokio = [
        Contender { name: "tokio, multi-thread".to_owned(), start: Box::new(tokio_shared) },
        Contender { name: "tokio, current-thread".to_owned(), start: Box::new(tokio_each) },
    ];
    [bare].into_iter().chain(ours).chain(tokio).collect()
}

fn ours(policy: Policy, cpus: usize) -> Result<(SocketAddr, Stop)> {
    let server = Server::bind("127.0.0.1:0")?.policy(policy).workers(cpus);
    let running = server.start(|(), request, reply| reply.send(request.bytes))?;
    Ok((running.local_addr(), Box::new(move || drop(running.stop()))))
}

/// The same system calls as ours, and nothing else.
fn bare(cpus: usize) -> Result<(SocketAddr, Stop)> {
    let options = PortOptions { receive_buffer: Some(4 << 20), ..PortOptions::default() };
    let (port, workers) = Port::open("127.0.0.1:0".parse()?, &Sharing::Hash, cpus, options)?;
    let echo = |mut worker: warmcore_linux::net::sockets::WorkerSocket| {
        move || {
            let (mut batch, mut outbox) = (Batch::new(Batch::MOST, 2048), Outbox::default());
            while let Ok(Received::Datagrams(_) | Received::Nothing) = worker.receive(&mut batch) {
                batch.datagrams().for_each(|datagram| outbox.push(datagram.bytes, datagram.from, None));
                worker.send(&mut outbox);
            }
        }
    };
    let threads: Vec<_> = workers.into_iter().map(|worker| thread::spawn(echo(worker))).collect();
    let address = port.address();
    let stop = move || {
        port.close();
        threads.into_iter().for_each(|thread| drop(thread.join()));
    };
    Ok((address, Box::new(stop)))
}

/// One runtime with a worker for each cpu, and a task for each on one socket.
fn tokio_shared(cpus: usize) -> Result<(SocketAddr, Stop)> {
    let runtime = Builder::new_multi_thread().worker_threads(cpus).enable_io().build()?;
    let socket = bind("127.0.0.1:0".parse()?, false)?;
    let address = socket.local_addr()?;
    let socket = {
        let _entered = runtime.enter();
        Arc::new(tokio::net::UdpSocket::from_std(socket)?)
    };
    (0..cpus).for_each(|_| drop(runtime.spawn(echo(Arc::clone(&socket)))));
    Ok((address, Box::new(move || Runtime::shutdown_background(runtime))))
}

/// A runtime and a socket for each cpu.
fn tokio_each(cpus: usize) -> Result<(SocketAddr, Stop)> {
    let first = bind("127.0.0.1:0".parse()?, true)?;
    let address = first.local_addr()?;
    let others = (1..cpus).map(|_| bind(address, true));
    let sockets: Vec<UdpSocket> = [Ok(first)].into_iter().chain(others).collect::<Result<_>>()?;
    let serve = |socket: UdpSocket| {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
            runtime.block_on(async {
                let socket = Arc::new(tokio::net::UdpSocket::from_std(socket).expect("a socket"));
                let served = tokio::spawn(echo(socket));
                let _ = stopped.await;
                served.abort();
            });
        });
        (stop, thread)
    };
    let threads: Vec<_> = sockets.into_iter().map(serve).collect();
    let stop = move || {
        for (stop, thread) in threads {
            drop(stop);
            drop(thread.join());
        }
    };
    Ok((address, Box::new(stop)))
}

async fn echo(socket: Arc<tokio::net::UdpSocket>) {
    let mut bytes = vec![0; 2048];
    while let Ok((length, from)) = socket.recv_from(&mut bytes).await {
        let _ = socket.send_to(&bytes[..length], from).await;
    }
}

fn bind(address: SocketAddr, is_shared: bool) -> Result<UdpSocket> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    socket.set_reuse_port(is_shared)?;
    socket.set_nonblocking(true)?;
    socket.set_recv_buffer_size(4 << 20)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}
