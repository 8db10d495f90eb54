//! How many bytes our TCP carries for each second that processors are busy with it, beside the kernel's.
//!
//! ```text
//! ours      kernel's TCP ─ TUN ─ our TCP            the goal: 0.8 of what follows
//! relayed   kernel's TCP ─ TUN ─ a thread ─ TUN ─ kernel's TCP
//! veth      kernel's TCP ─ a veth pair ─ kernel's TCP
//! ```
//!
//! No TUN interface has the kernel's TCP at both ends, so packets between two of them need a thread that
//! carries each from one to the other: two system calls for each packet, where we need one. The veth pair,
//! without offloads, has none, and is what TCP costs the kernel without any TUN. A fair figure for TUN lies
//! between.
//!
//! Busy is what the scheduler says of all threads that take part, with the kernel's work in their system
//! calls, and of the kernel's own threads that take packets in. Neither waiting counts nor other programs,
//! unless these too have packets taken in. Run it with
//! `cargo test --release -p warmcore-runtime --test device figure -- --ignored --nocapture`.

mod kernel;

use super::host::{Host, Id};
use super::{HEADERS, Opener, config, connected, net};
use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use warmcore_stack::tcp::{Config, State};

const LENGTH: usize = 64 << 20;
const ROUNDS: usize = 5;
/// Bytes in one call of a user, on every side.
const PIECE: usize = 64 << 10;
/// Our buffers.
const BUFFER: usize = 256 << 10;

/// What one transfer took.
struct Cost {
    /// Of the kernel's side or sides.
    kernel: Duration,
    /// Of our side, or of the thread that carries packets.
    process: Duration,
    /// Of the kernel's threads that take packets in.
    softirqs: Duration,
}

impl Cost {
    /// Megabytes for each second that a processor was busy.
    fn efficiency(&self) -> f64 {
        LENGTH as f64 / 1e6 / (self.kernel + self.process + self.softirqs).as_secs_f64()
    }
}

/// How long a thread, as a folder of `/proc`, has been on a processor so far.
fn busy(thread: &Path) -> Duration {
    let text = fs::read_to_string(thread.join("schedstat")).expect("the kernel counts");
    let nanos = text.split_whitespace().next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanos.expect("nanoseconds come first"))
}

/// The kernel's threads that take packets in when there are too many for whom they interrupt.
fn softirq_threads() -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let is_one = |path: &PathBuf| {
        fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with("ksoftirqd/"))
    };
    processes.filter(is_one).collect()
}

/// How long `work` keeps this thread on a processor.
fn time_busy(work: impl FnOnce()) -> Duration {
    let thread = Path::new("/proc/thread-self");
    let before = busy(thread);
    work();
    busy(thread) - before
}

/// Sends on a socket of the kernel's.
fn send(mut socket: TcpStream) {
    let piece = vec![7; PIECE];
    (0..LENGTH / PIECE).for_each(|_| socket.write_all(&piece).unwrap());
}

/// Receives on a socket of the kernel's until the end.
fn receive(mut socket: TcpStream) {
    let (mut piece, mut received) = (vec![0; PIECE], 0);
    loop {
        match socket.read(&mut piece).unwrap() {
            0 => break,
            length => received += length,
        }
    }
    assert_eq!(received, LENGTH);
}

fn we_send(host: &mut Host, id: Id) {
    let (piece, mut left) = (vec![7; PIECE], LENGTH);
    host.until("sent", |host| {
        let connection = host.connection(id);
        while left > 0 && connection.room() > 0 {
            left -= connection.write(&piece[..left.min(PIECE)]).unwrap();
        }
        if left == 0 {
            connection.close();
        }
        connection.state() >= State::FinWait2
    });
}

fn we_receive(host: &mut Host, id: Id) {
    let (mut piece, mut received) = (vec![0; PIECE], 0);
    host.until("received", |host| {
        let connection = host.connection(id);
        received += connection.read(&mut piece).unwrap();
        connection.is_at_end()
    });
    assert_eq!(received, LENGTH);
    host.connection(id).close();
}

/// The kernel's TCP at one end, ours at the other.
fn ours(mtu: usize, sends: bool) -> Cost {
    let mut net = net(mtu, None).expect("the privilege was there");
    let config = Config {
        max_segment_size: (mtu - HEADERS) as u16,
        send_buffer: BUFFER,
        receive_buffer: BUFFER,
        ..config()
    };
    let mut process = Duration::ZERO;
    let theirs = |socket| time_busy(|| if sends { receive(socket) } else { send(socket) });
    let kernel = connected(&mut net, Opener::Us, config, theirs, |host, id| {
        process = time_busy(|| if sends { we_send(host, id) } else { we_receive(host, id) });
    });
    Cost { kernel, process, softirqs: Duration::ZERO }
}

/// Measurements of one kind.
struct Series {
    name: &'static str,
    costs: Vec<Cost>,
}

impl fmt::Display for Series {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, least, most) = summary(self.costs.iter().map(Cost::efficiency).collect());
        write!(formatter, "{:11} {median:6.0} MB/s busy ({least:.0} to {most:.0}); µs/MB:", self.name)?;
        let parts = ["the kernel's ends", "ours or the relay", "ksoftirqd"];
        let micros = |part: Duration| part.as_secs_f64() * 1e12 / LENGTH as f64;
        for (index, name) in parts.into_iter().enumerate() {
            let part = |cost: &Cost| micros([cost.kernel, cost.process, cost.softirqs][index]);
            let (median, ..) = summary(self.costs.iter().map(part).collect());
            write!(formatter, " {median:.0} {name}")?;
        }
        Ok(())
    }
}

/// Median, least and most.
fn summary(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[0], values[values.len() - 1])
}

/// Prints the figures, and what our TCP is of the kernel's in each round.
fn compare(mtu: usize) {
    let kinds: [(&str, &dyn Fn() -> Cost); 4] = [
        ("we receive", &|| ours(mtu, false)),
        ("we send", &|| ours(mtu, true)),
        ("relayed", &|| kernel::relayed(mtu)),
        ("veth", &|| kernel::veth(mtu)),
    ];
    let mut series = kinds.map(|(name, _)| Series { name, costs: Vec::new() });
    let softirq_threads = softirq_threads();
    for _ in 0..ROUNDS {
        for ((_, measure), series) in kinds.iter().zip(&mut series) {
            let softirqs = || softirq_threads.iter().map(|thread| busy(thread)).sum::<Duration>();
            let before = softirqs();
            let cost = measure();
            series.costs.push(Cost { softirqs: softirqs() - before, ..cost });
        }
    }
    println!("MTU {mtu}, {} MB, {ROUNDS} interleaved rounds", LENGTH >> 20);
    series.iter().for_each(|series| println!("  {series}"));
    let [received, sent, peers @ ..] = &series;
    for ours in [received, sent] {
        for peer in peers {
            let pairs = ours.costs.iter().zip(&peer.costs);
            let ratios = pairs.map(|(one, other)| one.efficiency() / other.efficiency());
            let (median, least, most) = summary(ratios.collect());
            println!("  {} / {}: {median:.2} ({least:.2} to {most:.2})", ours.name, peer.name);
        }
    }
}

#[test]
#[ignore = "a measurement, of a minute on a quiet machine"]
fn figure_of_bulk_transfers_for_each_busy_second() {
    if let Some(missing) = warmcore_linux::net::privilege_missing() {
        println!("skipped: needs {missing}");
        return;
    }
    [1500, 9000].into_iter().for_each(compare);
}
