//! A source of requests: it sends each when it is due, whatever became of those before (open loop), and notes when the
//! kernel received the replies.
//!
//! Its thread has real-time priority where it may: it takes its processor from a worker as the interrupt of a network card
//! does. Between requests it sleeps.

use crate::SocketPlan;
use crate::requests::connection::Connection;
use crate::requests::schedule::Due;
use crate::requests::service::{Payloads, Service};
use crate::sockets::error::SocketError;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use warmcore_linux::realtime;
use warmcore_units::Transport;

/// Bytes of a request before its data: its number, and the number of the worker that replied.
pub(crate) const HEADER: usize = 10;
/// Datagrams of a flow that are read together, so that reading takes little of each request's time.
const READ_TOGETHER: usize = 4;
/// Replies of a flow that wait at most: a socket's buffer holds more than twice as many.
const WAITING_AT_MOST: usize = 100;
/// Reading replies takes at most so long, so it is done only if the next request is due later.
const READING: Duration = Duration::from_micros(30);
/// How long the last replies are waited for.
const LAST: Duration = Duration::from_millis(200);
/// A source that is so late sends no more: nothing else runs on its processor while it tries to catch up.
const TOO_LATE: Duration = Duration::from_millis(200);
/// Requests between looks at whether the user wants to stop.
const LOOK: usize = 256;

/// Bits of a request's number, below those of the run that it belongs to.
const NUMBER_BITS: u32 = 40;

/// The number of a request in its run, from the first bytes of its header.
pub(crate) const fn number_of(header: u64) -> u64 {
    header & ((1 << NUMBER_BITS) - 1)
}

/// What became of a request. Moments are nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Request {
    pub(crate) flow: usize,
    /// When it was due.
    pub(crate) due: f64,
    /// When its system call began.
    pub(crate) began: f64,
    /// When that ended.
    pub(crate) ended: f64,
    /// When the kernel received the reply, and which worker sent it; `None` if it is lost.
    pub(crate) replied: Option<(f64, usize)>,
}

/// The sockets of a source, one for each flow.
pub(crate) struct Source {
    flows: Vec<Flow>,
    payloads: Payloads,
    /// Whether a reply is as long as its request.
    is_echo: bool,
    request: Vec<u8>,
    reply: Vec<u8>,
    /// Whether somebody answers.
    answered: bool,
    /// Replies of a flow that are read together. On a connection it is one: the kernel joins segments that wait, and
    /// keeps the time of the last.
    together: usize,
    /// The flow after that which was read last.
    next_to_read: usize,
    /// The runs so far: a reply of an earlier one does not count.
    generation: u64,
    unanswered: usize,
    reading: Reading,
}

/// The reading of replies between requests, in a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) replies: usize,
    /// Nanoseconds.
    pub(crate) time: f64,
}

/// What a source did in a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Sent {
    /// Those that were sent: fewer than were due if the user stopped, or the source was too far behind.
    pub(crate) requests: Vec<Request>,
    /// Whether it was.
    pub(crate) fell_behind: bool,
    /// Requests that the handler did not answer: our empty reply says when it was done.
    pub(crate) unanswered: usize,
    pub(crate) reading: Reading,
}

struct Flow {
    connection: Connection,
    outstanding: usize,
}

impl Source {
    /// A source of the requests of `service`, over connected sockets.
    pub(crate) fn new(connections: Vec<Connection>, service: &Service) -> Self {
        let flows = connections.into_iter().map(|connection| Flow { connection, outstanding: 0 }).collect();
        let mut request = vec![0; service.payloads.longest()];
        let first = service.payloads.get(0);
        request[HEADER..HEADER + first.len()].copy_from_slice(first);
        Self {
            flows,
            payloads: service.payloads.clone(),
            is_echo: service.is_echo(),
            request,
            reply: vec![0; SocketPlan::MAX_PAYLOAD_BYTES],
            answered: true,
            together: if service.transport == Transport::Tcp { 1 } else { READ_TOGETHER },
            next_to_read: 0,
            generation: 0,
            unanswered: 0,
            reading: Reading::default(),
        }
    }

    /// A source of requests that nobody answers.
    pub(crate) fn unanswered(connections: Vec<Connection>, service: &Service) -> Self {
        Self { answered: false, ..Self::new(connections, service) }
    }

    /// Sends what is `due`, counted from `start`, and waits for the last replies. Says what became of each request.
    ///
    /// # Errors
    /// If a socket fails, or a reply is none of ours.
    pub(crate) fn run(
        &mut self,
        due: &[Due],
        start: Duration,
        stop: &AtomicBool,
    ) -> Result<Sent, SocketError> {
        self.reading = Reading::default();
        let mut requests = self.send_only(due, start, stop)?;
        let reading = self.reading;
        let last = realtime::now() + LAST;
        while self.flows.iter().any(|flow| flow.outstanding > 0)
            && realtime::now() < last
            && !stop.load(Ordering::Relaxed)
        {
            realtime::sleep_until(realtime::now() + Duration::from_micros(500));
            (0..self.flows.len()).try_for_each(|flow| self.read(flow, start, &mut requests))?;
        }
        // Who was stopped is not behind.
        let fell_behind = requests.len() < due.len() && !stop.load(Ordering::Relaxed);
        Ok(Sent { requests, fell_behind, unanswered: self.unanswered, reading })
    }

    /// The same, without waiting.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn send_only(
        &mut self,
        due: &[Due],
        start: Duration,
        stop: &AtomicBool,
    ) -> Result<Vec<Request>, SocketError> {
        let since = |moment| realtime::nanos_between(start, moment);
        self.flows.iter_mut().for_each(|flow| flow.outstanding = 0);
        self.generation += 1;
        self.unanswered = 0;
        let nothing = Request { flow: 0, due: 0.0, began: 0.0, ended: 0.0, replied: None };
        let mut requests = vec![nothing; due.len()];
        for (number, Due { at, flow }) in due.iter().copied().enumerate() {
            let moment = start + at;
            let too_late = realtime::now() > moment + TOO_LATE;
            if too_late || number % LOOK == 0 && stop.load(Ordering::Relaxed) {
                requests.truncate(number);
                break;
            }
            if realtime::now() + READING < moment {
                self.read_one_flow(start, &mut requests)?;
            }
            // A sleep that is over at once costs a timer all the same.
            if realtime::now() < moment {
                realtime::sleep_until(moment);
            }
            let length = self.prepare(number as u64);
            let (began, sent) = (realtime::now(), self.flows[flow].connection.send(&self.request[..length]));
            let ended = realtime::now();
            requests[number] =
                Request { flow, due: since(moment), began: since(began), ended: since(ended), replied: None };
            match sent {
                Ok(()) => self.flows[flow].outstanding += usize::from(self.answered),
                // It counts as lost.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(SocketError::doing("sending through")(error)),
            }
            if self.flows[flow].outstanding >= WAITING_AT_MOST {
                self.read(flow, start, &mut requests)?;
            }
        }
        Ok(requests)
    }

    /// Writes the request with this number; returns its length.
    fn prepare(&mut self, number: u64) -> usize {
        self.request[..8].copy_from_slice(&(self.generation << NUMBER_BITS | number).to_le_bytes());
        let payload = self.payloads.get(number);
        let length = HEADER + payload.len();
        // A single payload is there already.
        if self.payloads.count() > 1 {
            self.request[HEADER..length].copy_from_slice(payload);
        }
        length
    }

    /// Reads the replies of a flow for which enough are outstanding.
    fn read_one_flow(&mut self, start: Duration, requests: &mut [Request]) -> Result<(), SocketError> {
        let flows = self.flows.len();
        let in_turn = (self.next_to_read..self.next_to_read + flows).map(|flow| flow % flows);
        let ready = in_turn.into_iter().find(|&flow| self.flows[flow].outstanding >= self.together);
        let Some(flow) = ready else { return Ok(()) };
        self.next_to_read = flow + 1;
        self.read(flow, start, requests)
    }

    /// Reads the replies of `flow` that are there.
    fn read(&mut self, flow: usize, start: Duration, requests: &mut [Request]) -> Result<(), SocketError> {
        let (began, before) = (realtime::now(), self.flows[flow].outstanding);
        self.read_all(flow, start, requests)?;
        self.reading.replies += before - self.flows[flow].outstanding;
        self.reading.time += realtime::nanos_since(began);
        Ok(())
    }

    fn read_all(
        &mut self,
        flow: usize,
        start: Duration,
        requests: &mut [Request],
    ) -> Result<(), SocketError> {
        let Self { flows, reply: buffer, payloads, is_echo, generation, unanswered, .. } = self;
        let Flow { connection, outstanding } = &mut flows[flow];
        let fits = |length, number| match is_echo {
            true => length == HEADER + payloads.get(number).len(),
            false => length >= HEADER,
        };
        while let Some(reply) = connection.receive(buffer).map_err(SocketError::doing("receiving from"))? {
            let number = u64::from_le_bytes(buffer[..8].try_into().unwrap_or_default());
            if number >> NUMBER_BITS != *generation {
                continue;
            }
            *outstanding = outstanding.saturating_sub(1);
            let number = number_of(number);
            let worker = u16::from_le_bytes([buffer[8], buffer[9]]);
            let request = usize::try_from(number).ok().and_then(|number| requests.get_mut(number));
            match request {
                Some(request) if fits(reply.length, number) && request.flow == flow => {
                    let received = reply.received.ok_or(SocketError::NoTime)?;
                    *unanswered += usize::from(!*is_echo && reply.length == HEADER);
                    request.replied = Some((realtime::nanos_between(start, received), usize::from(worker)));
                }
                _ => {
                    return Err(SocketError::Wrong {
                        number: requests.len() as u64,
                        bytes: reply.length,
                        found: Some(number),
                    });
                }
            }
        }
        Ok(())
    }
}
