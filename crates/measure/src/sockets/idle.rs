//! What one reader does alone: looking where there is nothing, and receiving several datagrams with one call.

use crate::clock::{self, Ticks};
use crate::error::RunError;
use crate::run::baton::Alarm;
use crate::sockets::SocketContext;
use crate::sockets::datagram::{Datagram, check};
use crate::sockets::error::SocketError;
use crate::sockets::experiment::Part;
use crate::sockets::outcome::{Outcome, Time};
use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};
use warmcore_linux::{Snapshot, pin_to};

/// Repetitions before those that are timed.
const SETTLING: usize = 10;
/// How long datagrams may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(1);

/// Times `polls` non-blocking receives that find nothing.
pub(crate) fn empty_polls(context: &SocketContext<'_>, polls: usize) -> Result<Outcome, RunError> {
    let server = context.site.server()?;
    server.set_nonblocking(true).map_err(SocketError::doing("setting up"))?;
    let mut buffer = Datagram::new(context.payload_bytes).bytes;
    repeat(context, polls, |number| {
        let start = clock::now();
        let received = server.recv_from(&mut buffer);
        let ticks = clock::now() - start;
        match received {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok((ticks, 1)),
            Err(source) => Err(SocketError::Failed { doing: "receiving from", source }.into()),
            Ok((bytes, _)) => Err(SocketError::Wrong { number, bytes, found: None }.into()),
        }
    })
}

/// Times `calls` calls that each receive so many `datagrams`, which are there. A time is that of one datagram.
pub(crate) fn batches(
    context: &SocketContext<'_>,
    datagrams: usize,
    calls: usize,
) -> Result<Outcome, RunError> {
    let (mut server, client) = context.site.batched(context.payload_bytes)?;
    let alarm = Alarm::new(context.stop);
    let mut sent: Vec<Datagram> = (0..datagrams).map(|_| Datagram::new(context.payload_bytes)).collect();
    let mut received: Vec<Vec<u8>> = sent.iter().map(|datagram| datagram.bytes.clone()).collect();
    repeat(context, calls, |call| {
        alarm.check()?;
        let first = call * datagrams as u64;
        for (number, datagram) in (first..).zip(&mut sent) {
            datagram.write(number);
            client.send(&datagram.bytes).map_err(SocketError::doing("sending through"))?;
        }
        let (mut count, mut spent, began) = (0, 0, Instant::now());
        while count < datagrams {
            let start = clock::now();
            let got = server.receive_up_to(datagrams - count, |bytes| {
                if let Some(place) = received.get_mut(count) {
                    place.clear();
                    place.extend_from_slice(bytes);
                }
                count += 1;
            });
            spent += clock::now() - start;
            got.map_err(SocketError::doing("receiving from"))?;
            if began.elapsed() > ARRIVAL {
                return Err(SocketError::Lost { number: first + count as u64 }.into());
            }
        }
        for (number, bytes) in (first..).zip(&received) {
            check(bytes, context.payload_bytes, number)?;
        }
        Ok((spent, datagrams))
    })
}

/// Repeats `step` on the reader's processor. It returns the ticks between two readings of the counter, whose overhead is
/// subtracted, and how many datagrams share them.
fn repeat(
    context: &SocketContext<'_>,
    times: usize,
    mut step: impl FnMut(u64) -> Result<(Ticks, usize), RunError>,
) -> Result<Outcome, RunError> {
    let _pinned = pin_to(context.processors.reader)?;
    let (timer, total) = (context.timer, SETTLING + times);
    let (mut seen, mut disturbed) = (Vec::with_capacity(total), BTreeSet::new());
    let mut snapshot = Snapshot::now();
    for packet in 0..total {
        let (ticks, datagrams) = step(packet as u64)?;
        let now = Snapshot::now();
        let hit = !now.since(&snapshot).is_none();
        snapshot = now;
        if packet >= SETTLING {
            let spent = (timer.nanos(ticks as f64) - timer.overhead.mean).0;
            seen.push(Time { packet, part: Part::Receive, nanos: spent / datagrams.max(1) as f64 });
            if hit {
                disturbed.insert(packet);
            }
        }
    }
    Ok(Outcome::new(seen, times, &disturbed, None))
}
