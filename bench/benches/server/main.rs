//! Echo servers on the kernel's UDP sockets, at equal load over loopback: ours under each policy, a bare
//! `recvmmsg`/`sendmmsg` loop on `SO_REUSEPORT` sockets, the same with io_uring, a runtime that is built on io_uring, and tokio
//! with one runtime and with one for each cpu.
//!
//! | module | holds |
//! |---|---|
//! | `client` | who asks and checks |
//! | `ours` | the server library, and the bare loop |
//! | `uring`, `tokio` | the peers |
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

mod client;
mod ours;
mod tokio;
mod uring;

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;
use warmcore_linux::affinity;
use warmcore_runtime::server::Policy;
use warmcore_units::CpuId;

/// Sockets of the client.
const FLOWS: usize = 64;
/// Bytes of a request.
const BYTES: usize = 64;
/// Length of a trial, after a tenth of it to warm up.
const TIME: Duration = Duration::from_millis(1000);
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
    let load = thread::spawn(move || client::load(address, client, rate).map_err(|error| error.to_string()));
    let (answered, lost, delays, own, process) = load.join().map_err(|_| "the client panicked")??;
    stop();
    let used = (process - own) / 1e9;
    Ok(Trial { lost, per_cpu_second: answered as f64 / used, delays })
}

fn contenders() -> Vec<Contender> {
    let other = |name: &str, start: fn(usize) -> Result<(SocketAddr, Stop)>| Contender {
        name: name.to_owned(),
        start: Box::new(start),
    };
    let ours = Policy::UDP.map(|policy| Contender {
        name: format!("ours, {policy:?}"),
        start: Box::new(move |cpus| ours::server(policy, cpus)),
    });
    let peers = [
        other("io_uring loop, reuseport", uring::bare),
        other("compio (io_uring)", uring::runtime),
        other("tokio, multi-thread", tokio::shared),
        other("tokio, current-thread", tokio::each),
    ];
    [other("recvmmsg loop, reuseport", ours::bare)].into_iter().chain(ours).chain(peers).collect()
}

/// A socket for each cpu, on one port.
fn bind_each(cpus: usize) -> Result<(SocketAddr, Vec<UdpSocket>)> {
    let first = bind("127.0.0.1:0".parse()?, true)?;
    let address = first.local_addr()?;
    let others = (1..cpus).map(|_| bind(address, true));
    Ok((address, [Ok(first)].into_iter().chain(others).collect::<Result<_>>()?))
}

fn bind(address: SocketAddr, is_shared: bool) -> Result<UdpSocket> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    socket.set_reuse_port(is_shared)?;
    socket.set_nonblocking(true)?;
    socket.set_recv_buffer_size(4 << 20)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}
