//! One thread of a run: what it does and times for each packet.

use super::{PHASES, SHARED, Seen, Turns};
use crate::clock::{self, Ticks};
use crate::error::RunError;
use crate::run::baton::BatonGuard;
use crate::run::intervening::Workload;
use crate::sockets::datagram::{self, Datagram};
use crate::sockets::error::SocketError;
use crate::sockets::experiment::{Part, Probe};
use crate::sockets::outcome::Time;
use crate::sockets::site::Client;
use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use warmcore_costs::socket::Delivery;
use warmcore_linux::net::TimedDatagrams;
use warmcore_linux::{Disturbance, Snapshot};
use warmcore_units::Nanos;

/// How long a datagram may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(1);
/// A longer step of a thread that reads the counter is an interrupt. The phase's own cache line takes less.
const INTERRUPT: Nanos = Nanos(600.0);
/// A reading of the real-time clock that took longer between two of the counter is too unsure.
const UNSURE: Nanos = Nanos(1_000.0);
/// How long an interrupt is waited for after it was sent.
const UNSEEN: Nanos = Nanos(300e3);

/// One thread of a run.
pub(super) struct Participant<'a, 'b> {
    turns: &'a Turns<'b>,
    me: usize,
    work: &'a mut Workload,
    sent: Datagram,
    received: Datagram,
    snapshot: Snapshot,
    pub(super) seen: Seen,
}

impl<'a, 'b> Participant<'a, 'b> {
    pub(super) fn new(turns: &'a Turns<'b>, me: usize, work: &'a mut Workload) -> Self {
        let datagram = || Datagram::new(turns.context.payload_bytes);
        let (sent, received, snapshot) = (datagram(), datagram(), Snapshot::now());
        let mut seen = Seen::default();
        seen.times.reserve(PHASES as usize * turns.length);
        Self { turns, me, work, sent, received, snapshot, seen }
    }

    /// Does what is this thread's for one packet.
    pub(super) fn take_part(&mut self, packet: usize) -> Result<(), RunError> {
        let turns = self.turns;
        let (reads, sends) = (turns.reader(packet) == self.me, turns.sender(packet) == self.me);
        let first = PHASES * packet as u64;
        let take = |phase| turns.baton.take(first + phase, &turns.alarm);
        self.sent.write(packet as u64);
        let by_interrupt = turns.situation.delivery == Delivery::Interrupt;
        if reads || (sends && !by_interrupt) {
            let work = turns.situation.work();
            if work > Nanos::ZERO {
                self.work.run(turns.context.timer.ticks(work), &turns.alarm)?;
            }
        }
        match (reads, sends) {
            (true, true) => {
                let mut state = take(0)?;
                if turns.probe == Probe::Whole {
                    self.time_whole(packet)?;
                } else {
                    self.send(packet)?;
                    self.receive(packet, &mut state)?;
                }
                state.pass();
                take(1)?.pass();
                take(2)?.pass();
            }
            (true, false) => {
                take(0)?.pass();
                if by_interrupt {
                    self.watch(packet, first + 2)?;
                }
                let mut state = take(2)?;
                self.receive(packet, &mut state)?;
                state.pass();
            }
            (false, true) => {
                let turn = take(1)?;
                if turns.probe == Probe::Answer {
                    self.collect_answer(packet)?;
                }
                self.send(packet)?;
                turn.pass();
            }
            (false, false) => return Ok(()),
        }
        let now = Snapshot::now();
        let Disturbance { preemptions, page_faults, .. } = now.since(&self.snapshot);
        self.snapshot = now;
        if page_faults > 0 || (preemptions > 0 && turns.situation.work() < SHARED) {
            self.seen.disturbed.insert(packet);
        }
        Ok(())
    }

    fn client(&self) -> &'a Client {
        &self.turns.endpoints.clients[self.me]
    }

    /// Nanoseconds of real time since the run began.
    fn since_epoch(&self, time: Duration) -> f64 {
        let epoch = self.turns.epoch;
        let nanos = |time: Duration| time.as_nanos() as f64;
        time.checked_sub(epoch).map_or_else(|| -nanos(epoch.saturating_sub(time)), nanos)
    }

    fn push(&mut self, packet: usize, part: Part, ticks: Ticks) {
        let timer = self.turns.context.timer;
        let nanos = (timer.nanos(ticks as f64) - timer.overhead.mean).0;
        self.seen.times.push(Time { packet, part, nanos });
    }

    /// Times `call`. With `halves`, its beginning is known on the real-time clock too.
    fn time_call(
        &mut self,
        packet: usize,
        halves: bool,
        call: impl FnOnce() -> io::Result<usize>,
    ) -> Result<(), RunError> {
        if halves {
            // Brings the clock's own lines into the cache.
            core::hint::black_box(SystemTime::now());
        }
        let (before, real) = (clock::now(), halves.then(SystemTime::now));
        let start = clock::now();
        let sent = call();
        let ticks = clock::now() - start;
        sent.map_err(SocketError::doing("sending through"))?;
        if let Some(real) = real {
            let timer = self.turns.context.timer;
            let around = timer.nanos((start - before) as f64);
            if around > UNSURE {
                self.seen.disturbed.insert(packet);
            }
            // The clock was read in the middle between two readings of the counter.
            let later = around.0 / 2.0;
            let real = real.duration_since(UNIX_EPOCH).unwrap_or_default();
            let began = self.since_epoch(real) + later;
            self.seen.began.insert(packet, began);
        }
        self.push(packet, Part::Call, ticks);
        Ok(())
    }

    fn send(&mut self, packet: usize) -> Result<(), RunError> {
        let halves = self.turns.probe == Probe::Halves;
        let client = self.client();
        let socket = if halves { &client.to_timed } else { &client.plain };
        if self.turns.probe == Probe::Answer {
            socket_for_answers(client)
                .send(&self.sent.bytes)
                .map_err(SocketError::doing("sending through"))?;
            return Ok(());
        }
        let bytes = core::mem::take(&mut self.sent.bytes);
        let result = self.time_call(packet, halves, || socket.send(&bytes));
        self.sent.bytes = bytes;
        result
    }

    /// Receives the datagram, checks it, and does what the probe wants done with it.
    fn receive(&mut self, packet: usize, state: &mut BatonGuard<'_, Vec<u8>>) -> Result<(), RunError> {
        let turns = self.turns;
        let length = if turns.probe == Probe::Halves {
            let (length, received) = self.receive_timed(packet, &turns.endpoints.timed)?;
            self.seen.received.insert(packet, received);
            length
        } else {
            let (length, ticks) = self.receive_plain(packet)?;
            if turns.probe == Probe::Calls {
                self.push(packet, Part::Receive, ticks);
            }
            length
        };
        self.received.check(length, packet as u64)?;
        match turns.probe {
            Probe::Handler => {
                let start = clock::now();
                for line in state.chunks_mut(64) {
                    line[0] = line[0].wrapping_add(1);
                }
                self.push(packet, Part::Handler, clock::now() - start);
                Ok(())
            }
            Probe::Answer => {
                let (address, server) =
                    (turns.endpoints.clients[turns.sender(packet)].address, &turns.endpoints.server);
                let bytes = core::mem::take(&mut self.sent.bytes);
                let result = self.time_call(packet, true, || server.send_to(&bytes, address));
                self.sent.bytes = bytes;
                result
            }
            _ => Ok(()),
        }
    }

    fn time_whole(&mut self, packet: usize) -> Result<(), RunError> {
        let server = &self.turns.endpoints.server;
        let client = &self.client().plain;
        let start = clock::now();
        let sent = client.send(&self.sent.bytes);
        let received = server.recv_from(&mut self.received.bytes);
        let ticks = clock::now() - start;
        sent.map_err(SocketError::doing("sending through"))?;
        let length = match received {
            Ok((length, _)) => length,
            Err(_) => self.receive_plain(packet)?.0,
        };
        self.push(packet, Part::Whole, ticks);
        Ok(self.received.check(length, packet as u64)?)
    }

    /// Receives as a server does. Returns the length and the ticks of the call that found the datagram; a packet that
    /// was not there at once does not count.
    fn receive_plain(&mut self, packet: usize) -> Result<(usize, Ticks), RunError> {
        let server = &self.turns.endpoints.server;
        let mut late = None;
        loop {
            let start = clock::now();
            let received = server.recv_from(&mut self.received.bytes);
            let ticks = clock::now() - start;
            match received {
                Ok((length, _)) => return Ok((length, ticks)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(packet, &mut late)?,
                Err(source) => return Err(SocketError::Failed { doing: "receiving from", source }.into()),
            }
        }
    }

    /// Receives with the time at which the kernel received the datagram, in nanoseconds since the run began.
    fn receive_timed(&mut self, packet: usize, socket: &TimedDatagrams) -> Result<(usize, f64), RunError> {
        let mut late = None;
        loop {
            let received =
                socket.receive(&mut self.received.bytes).map_err(SocketError::doing("receiving from"))?;
            let Some(datagram) = received else {
                self.wait(packet, &mut late)?;
                continue;
            };
            let received = datagram.received.ok_or(SocketError::NoTime)?;
            return Ok((datagram.length, self.since_epoch(received)));
        }
    }

    /// Waits a little for a packet that was not there, which does not count then.
    fn wait(&mut self, packet: usize, late: &mut Option<Instant>) -> Result<(), RunError> {
        self.seen.disturbed.insert(packet);
        self.turns.alarm.check()?;
        if late.get_or_insert_with(Instant::now).elapsed() > ARRIVAL {
            return Err(SocketError::Lost { number: packet as u64 }.into());
        }
        core::hint::spin_loop();
        Ok(())
    }

    /// Receives the answer to the packet before `packet`.
    pub(super) fn collect_answer(&mut self, packet: usize) -> Result<(), RunError> {
        let Some(answered) = packet.checked_sub(1) else { return Ok(()) };
        let socket = &self.client().answered;
        let (length, received) = self.receive_timed(answered, socket)?;
        self.seen.received.insert(answered, received);
        let bytes = self.received.bytes.get(..length).unwrap_or_default();
        Ok(datagram::check(bytes, self.received.bytes.len(), answered as u64)?)
    }

    /// Reads the counter until `phase` has come and the softirq has interrupted this thread. The longest step is what
    /// that took. If none is seen, the packet does not count.
    fn watch(&mut self, packet: usize, phase: u64) -> Result<(), RunError> {
        let turns = self.turns;
        let timer = turns.context.timer;
        let (interrupt, unseen) = (timer.ticks(INTERRUPT), timer.ticks(UNSEEN));
        let (mut longest, mut last, mut come) = (0, clock::now(), None);
        let mut steps = 0_u64;
        loop {
            let now = clock::now();
            longest = (now - last).max(longest);
            last = now;
            if come.is_none() && turns.baton.has_come(phase) {
                come = Some(now);
            }
            if let Some(came) = come {
                if longest >= interrupt {
                    break self.push(packet, Part::Softirq, longest);
                }
                if now - came > unseen {
                    self.seen.disturbed.insert(packet);
                    break;
                }
            }
            steps += 1;
            if steps.is_multiple_of(1 << 14) {
                turns.alarm.check()?;
            }
        }
        Ok(())
    }
}

/// The socket that is answered.
const fn socket_for_answers(client: &Client) -> &UdpSocket {
    client.answered.socket()
}
