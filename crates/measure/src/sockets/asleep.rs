//! A reader that sleeps in the kernel until a datagram comes.
//!
//! The sender waits after each datagram until the reader has it, and then long enough for it to fall asleep. The reader
//! makes the one system call and nothing else, so that its processor time is that of waking up, receiving and going to
//! sleep.

use crate::clock;
use crate::error::RunError;
use crate::run::baton::Alarm;
use crate::sockets::SocketContext;
use crate::sockets::datagram::Datagram;
use crate::sockets::datagram::{LEAST_BYTES, check};
use crate::sockets::error::SocketError;
use crate::sockets::experiment::Part;
use crate::sockets::outcome::{Outcome, Time};
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};
use warmcore_costs::socket::SoftirqCpu;
use warmcore_linux::{Snapshot, cpu_time, pin_to};

/// Datagrams before those that are timed.
const SETTLING: usize = 5;
/// How long the reader has to fall asleep.
const FALLS_ASLEEP: Duration = Duration::from_micros(100);
/// How long a datagram may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(1);
/// Of the reader's waits for a datagram, so many must have been a sleep.
const ASLEEP: f64 = 0.9;

/// Runs `packets` timed datagrams.
pub(crate) fn run(context: &SocketContext<'_>, packets: usize) -> Result<Outcome, RunError> {
    let server = context.site.server()?;
    let client = context.site.client(&server)?;
    let total = SETTLING + packets;
    let received = AtomicUsize::new(0);
    let (reader, sender) = thread::scope(|scope| {
        let reader = scope.spawn(|| read(context, &server, total, &received));
        let sender = scope.spawn(|| {
            let _ending = EndReader { client: &client };
            send(context, &client, total, &received)
        });
        let sender = sender.join().unwrap_or(Err(RunError::Panicked));
        (reader.join().unwrap_or(Err(RunError::Panicked)), sender)
    });
    // The error of a thread that only noticed the other's is used last.
    let (sender, reader) = match (sender, reader) {
        (Err(error), Err(RunError::PartnerFailed) | Ok(_)) | (_, Err(error)) => return Err(error),
        (Ok(sender), Ok(reader)) => (sender, reader),
    };
    let (mut times, mut disturbed) = (Vec::new(), sender.disturbed);
    let timer = context.timer;
    for (packet, (sent, arrived)) in sender.calls.iter().zip(&reader.arrivals).enumerate().skip(SETTLING) {
        let call = (timer.nanos(sent.ticks) - timer.overhead.mean).0;
        let arrival = arrived.saturating_duration_since(sent.began).as_nanos() as f64;
        times.push(Time { packet, part: Part::Call, nanos: call });
        times.push(Time { packet, part: Part::Arrival, nanos: arrival });
    }
    disturbed.retain(|packet| *packet >= SETTLING);
    // One figure for the run, which no single packet's disturbance takes away.
    let mut outcome = Outcome::new(times, packets, &disturbed, None);
    outcome.times.insert(Part::ReaderCpu, vec![reader.cpu_each]);
    outcome.disturbed |= !reader.slept;
    Ok(outcome)
}

/// A sender's call.
struct Sent {
    began: Instant,
    ticks: f64,
}

struct SenderSaw {
    calls: Vec<Sent>,
    disturbed: BTreeSet<usize>,
}

struct ReaderSaw {
    arrivals: Vec<Instant>,
    /// Processor time for each datagram, in nanoseconds.
    cpu_each: f64,
    /// Whether it slept before nearly every one, and was never preempted.
    slept: bool,
}

/// Wakes the reader for the last time when dropped, whatever happened to the sender.
struct EndReader<'a> {
    client: &'a UdpSocket,
}

impl Drop for EndReader<'_> {
    fn drop(&mut self) {
        // An empty datagram is no datagram of ours. A full queue is emptied by the reader meanwhile.
        for _ in 0..100 {
            if self.client.send(&[]).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn send(
    context: &SocketContext<'_>,
    client: &UdpSocket,
    total: usize,
    received: &AtomicUsize,
) -> Result<SenderSaw, RunError> {
    let _pinned = pin_to(context.processors.get(SoftirqCpu::OtherCore))?;
    let alarm = Alarm::new(context.stop);
    let mut datagram = Datagram::new(context.payload_bytes);
    let (mut calls, mut disturbed) = (Vec::with_capacity(total), BTreeSet::new());
    let mut snapshot = Snapshot::now();
    for packet in 0..total {
        datagram.write(packet as u64);
        let asleep = Instant::now() + FALLS_ASLEEP;
        while Instant::now() < asleep {
            core::hint::spin_loop();
        }
        let began = Instant::now();
        let start = clock::now();
        let sent = client.send(&datagram.bytes);
        let ticks = (clock::now() - start) as f64;
        sent.map_err(SocketError::doing("sending through"))?;
        calls.push(Sent { began, ticks });
        while received.load(Ordering::Acquire) <= packet {
            alarm.check()?;
            if began.elapsed() > ARRIVAL {
                return Err(SocketError::Lost { number: packet as u64 }.into());
            }
            core::hint::spin_loop();
        }
        let now = Snapshot::now();
        if !now.since(&snapshot).is_none() {
            disturbed.insert(packet);
        }
        snapshot = now;
    }
    Ok(SenderSaw { calls, disturbed })
}

fn read(
    context: &SocketContext<'_>,
    server: &UdpSocket,
    total: usize,
    received: &AtomicUsize,
) -> Result<ReaderSaw, RunError> {
    let _pinned = pin_to(context.processors.reader)?;
    let mut buffer = Datagram::new(context.payload_bytes);
    let mut arrivals = Vec::with_capacity(total);
    let mut all: Vec<u8> = vec![0; total * (context.payload_bytes.max(LEAST_BYTES))];
    let mut lengths = Vec::with_capacity(total);
    let (mut before, mut cpu) = (Snapshot::now(), cpu_time::of_this_thread());
    for (packet, copy) in all.chunks_mut(buffer.bytes.len()).enumerate() {
        if packet == SETTLING {
            (before, cpu) = (Snapshot::now(), cpu_time::of_this_thread());
        }
        let (length, _) =
            server.recv_from(&mut buffer.bytes).map_err(SocketError::doing("receiving from"))?;
        arrivals.push(Instant::now());
        // The sender has ended before its time; its own error says why.
        if length == 0 {
            return Err(RunError::PartnerFailed);
        }
        copy.copy_from_slice(&buffer.bytes);
        lengths.push(length);
        received.store(packet + 1, Ordering::Release);
    }
    let each = (cpu_time::of_this_thread() - cpu).0 / (total - SETTLING) as f64;
    let disturbance = Snapshot::now().since(&before);
    for (packet, (bytes, &length)) in all.chunks(buffer.bytes.len()).zip(&lengths).enumerate() {
        check(bytes.get(..length).unwrap_or_default(), buffer.bytes.len(), packet as u64)?;
    }
    let slept = disturbance.waits as f64 >= ASLEEP * (total - SETTLING) as f64 && disturbance.is_none();
    Ok(ReaderSaw { arrivals, cpu_each: each, slept })
}
