//! Measures how many packets each device receives per second of processor time, compared with
//! plain kernel UDP: `cargo run --release -p warmcore-linux --example frames`.
//!
//! A veth pair joins two namespaces (and there is one TUN interface). A thread in the far namespace
//! sends datagrams of 64 bytes with `sendmmsg`, at a fixed rate or as fast as it can. The devices
//! take turns within every round. Two processor times are printed, because one alone misleads:
//!
//! - that of the *receiving thread*: the cost to the thread that runs the protocol;
//! - that of the *whole process* per received packet. On a veth the kernel's receive path (up to the
//!   copy into a socket's queue or a ring) runs in a softirq on the *sender's* processor, mostly in
//!   the sending thread's time. The receiving thread does not pay for it, but the machine does.
//!   Neither figure includes work done in the kernel's own threads.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::Instant;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{
    AttachMode, Datagrams, Filter, FrameDevice, PacketOptions, PacketSocket, Tun, TunOptions, XdpInterface,
    XdpOptions, wait_readable,
};

const PORT: u16 = 4791;
const ROUNDS: usize = 7;
const LENGTH: Duration = Duration::from_millis(250);
/// An address behind the near end that its kernel does not own, so that the kernel does not answer
/// datagrams meant for a packet socket.
const OURS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 9);
/// The same behind the TUN interface.
const BEHIND_TUN: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 9);
/// The most frames a device receives per call.
const LIMIT: usize = 64;

/// A way to receive the datagrams.
trait Contender: Send {
    fn receive(&mut self) -> usize;
    fn descriptor(&self) -> BorrowedFd<'_>;
}

struct Device<D>(D);

impl<D: FrameDevice> Contender for Device<D> {
    fn receive(&mut self) -> usize {
        self.0.receive(LIMIT, |frame| touch(frame.bytes))
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.descriptor()
    }
}

/// Kernel UDP with one `recv` call per datagram.
struct OneByOne(UdpSocket);

impl Contender for OneByOne {
    fn receive(&mut self) -> usize {
        let mut bytes = [0; 2048];
        for received in 0..LIMIT {
            match self.0.recv(&mut bytes) {
                Ok(length) => touch(&bytes[..length]),
                Err(_) => return received,
            }
        }
        LIMIT
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Kernel UDP with one `recvmmsg` call per batch.
struct Batched(Datagrams);

impl Contender for Batched {
    fn receive(&mut self) -> usize {
        self.0.receive(touch).unwrap_or(0)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.socket().as_fd()
    }
}

fn touch(bytes: &[u8]) {
    black_box(bytes.last());
}

const NAMES: [&str; 6] =
    ["kernel UDP, recv", "kernel UDP, recvmmsg", "packet socket", "XDP in driver", "XDP generic", "TUN"];

/// Opens contender `number`. Returns it with the address to send to.
fn open(lab: &Lab, number: usize) -> Result<(Box<dyn Contender>, Ipv4Addr), Box<dyn Error>> {
    let near = &lab.link.near;
    let filter = Filter::udp_ports([PORT]);
    let udp = || -> std::io::Result<UdpSocket> {
        let socket = UdpSocket::bind((near.address, PORT))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let xdp = |mode| XdpInterface::attach(&near.name, &filter, mode)?.socket(0, XdpOptions::default());
    lab.near.run(|| -> Result<(Box<dyn Contender>, Ipv4Addr), Box<dyn Error>> {
        Ok(match number {
            0 => (Box::new(OneByOne(udp()?)), near.address),
            1 => (Box::new(Batched(Datagrams::new(udp()?, 2048))), near.address),
            2 => {
                let options = PacketOptions { filter: filter.clone(), ..PacketOptions::default() };
                (Box::new(Device(PacketSocket::open(&near.name, &options)?)), OURS)
            }
            3 => (Box::new(Device(xdp(AttachMode::Driver)?)), OURS),
            4 => (Box::new(Device(xdp(AttachMode::Generic)?)), OURS),
            _ => {
                let device = Tun::open("tunnel", TunOptions::default())?;
                lab.near.configure("tunnel", Ipv4Addr::new(10, 78, 0, 1), 24)?;
                (Box::new(Device(device)), BEHIND_TUN)
            }
        })
    })?
}

/// What one contender received in one round.
#[derive(Clone, Copy)]
struct Sample {
    sent: u64,
    received: u64,
    thread: Duration,
    process: Duration,
}

fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

fn measure(lab: &Lab, number: usize, rate: Option<f64>) -> Result<Sample, Box<dyn Error>> {
    let (mut contender, address) = open(lab, number)?;
    // Packets for TUN come from its own namespace, all others over the veth pair.
    let (namespace, bound) = if address == BEHIND_TUN {
        (&lab.near, Ipv4Addr::UNSPECIFIED)
    } else {
        (&lab.far, lab.link.far.address)
    };
    let socket = namespace.run(|| UdpSocket::bind((bound, 0)))??;
    socket.connect((address, PORT))?;
    let sender = Datagrams::new(socket, 0);
    let ended = AtomicBool::new(false);
    let process = clock(ClockId::ProcessCPUTime);
    let (sent, (received, thread)) = thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(contender.as_mut(), &ended));
        let sent = send(&sender, rate);
        ended.store(true, Relaxed);
        (sent, receiver.join().expect("the receiver does not panic"))
    });
    Ok(Sample { sent, received, thread, process: clock(ClockId::ProcessCPUTime) - process })
}

/// Sends for [`LENGTH`] at `rate` datagrams per second, or as fast as possible. Returns how many were sent.
fn send(sender: &Datagrams, rate: Option<f64>) -> u64 {
    let (start, mut sent) = (Instant::now(), 0);
    let payload = [7; 64];
    while start.elapsed() < LENGTH {
        let due = rate.map_or(u64::MAX, |rate| (start.elapsed().as_secs_f64() * rate) as u64);
        if due < sent + 16 {
            // Wait for a batch of at least 16, and let other threads run.
            thread::sleep(Duration::from_micros(50));
            continue;
        }
        let batch = (due - sent).min(Datagrams::BATCH as u64) as usize;
        sent += sender.send((0..batch).map(|_| &payload[..])).unwrap_or(0) as u64;
    }
    sent
}

/// Receives until the sender has ended and nothing more arrives. Returns the number of datagrams and the
/// processor time of this thread.
fn receive(contender: &mut dyn Contender, ended: &AtomicBool) -> (u64, Duration) {
    let mut received = 0;
    loop {
        match contender.receive() {
            0 => {
                let last = ended.load(Relaxed);
                let ready = wait_readable(&[contender.descriptor()], Some(Duration::from_millis(5)));
                if last && ready == Ok(0) {
                    return (received, clock(ClockId::ThreadCPUTime));
                }
            }
            count => received += count as u64,
        }
    }
}

/// Returns the minimum, median and maximum.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values[0], values[values.len() / 2], values[values.len() - 1]]
}

fn print(samples: &[Vec<Sample>]) {
    println!(
        "{:22} {:>10} {:>29} {:>9} {:>22}",
        "", "received", "Mpackets per s of thread", "ratio", "ns of process each"
    );
    let per_second = |sample: &Sample| sample.received as f64 / sample.thread.as_secs_f64() / 1e6;
    let base = spread(samples[1].iter().map(per_second).collect())[1];
    for (name, samples) in NAMES.iter().zip(samples) {
        let total = |count: fn(&Sample) -> u64| samples.iter().map(count).sum::<u64>() as f64;
        let share = 100.0 * total(|sample| sample.received) / total(|sample| sample.sent);
        let [least, middle, most] = spread(samples.iter().map(per_second).collect());
        let each = |sample: &Sample| sample.process.as_nanos() as f64 / sample.received as f64;
        let [low, typical, high] = spread(samples.iter().map(each).collect());
        println!(
            "{name:22} {share:>8.1} % {middle:>11.2} ({least:>6.2} to {most:>6.2}) {:>9.2} {typical:>6.0} ({low:.0} to {high:.0})",
            middle / base
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(missing) = warmcore_linux::net::privilege_missing() {
        println!("skipped: needs {missing}");
        return Ok(());
    }
    let lab = Lab::new(&LinkOptions::default())?;
    for address in [lab.link.near.address, OURS] {
        lab.far.neighbour(&lab.link.far.name, address, &lab.link.near.mac)?;
    }
    println!("medians of {ROUNDS} rounds (least to greatest); ratio to recvmmsg");
    for (load, rate) in [("100,000 packets/s", Some(1e5)), ("as fast as one thread can", None)] {
        let mut samples = vec![Vec::new(); NAMES.len()];
        for round in 0..ROUNDS {
            for turn in 0..NAMES.len() {
                let number = (turn + round) % NAMES.len();
                samples[number].push(measure(&lab, number, rate)?);
            }
        }
        println!("\n{load}");
        print(&samples);
    }
    Ok(())
}
