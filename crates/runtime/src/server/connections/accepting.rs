//! Connections that come.

use super::{Beside, Connections, Stream};
use crate::server::flows::Id;
use crate::server::handler::{Closed, Handler};
use crate::server::service::{Local, Place, Service};
use core::sync::atomic::Ordering;
use std::io::Write;
use std::sync::Arc;
use warmcore_linux::net::connections::{Accepted, Connection, Poller};

/// How long a worker accepts none when there are no descriptors, in nanoseconds.
pub(super) const PAUSE: u64 = 100_000_000;

impl<S, H> Service<S, H, Connections> {
    /// Accepts connections that wait. Returns until when to accept no more, if there are no descriptors.
    ///
    /// # Errors
    /// The error of the kernel that makes accepting impossible.
    pub(super) fn accept<W>(
        &self,
        local: &mut Local<W, Connections>,
        poller: &Poller,
        now: u64,
    ) -> Result<Option<u64>, String>
    where
        H: Handler<S, W>,
    {
        let failed = |error| format!("cannot accept connections: {error}");
        let (mut accepted, mut pause) = (Vec::new(), None);
        while accepted.len() < poller.accepts_at_once() {
            match poller.accept().map_err(failed)? {
                Accepted::Connection(connection) => accepted.push(connection),
                Accepted::Nothing => break,
                Accepted::NoDescriptors => {
                    pause = Some(now + PAUSE);
                    break;
                }
            }
        }
        // Before the user's code runs: others may accept meanwhile.
        if pause.is_some() || poller.accepted().is_err() {
            poller.pause_accepting();
            pause = Some(now + PAUSE);
            self.warn(local);
        }
        for connection in accepted {
            self.begin(local, poller, connection, now);
        }
        Ok(pause)
    }

    /// Opens the flow of a connection.
    fn begin<W>(&self, local: &mut Local<W, Connections>, poller: &Poller, connection: Connection, now: u64)
    where
        H: Handler<S, W>,
    {
        let peer = connection.peer();
        self.control.threads[local.number].set_current(Some(peer));
        // A connection whose state cannot be made is closed.
        let Some(mut kept) = self.make(&mut local.counts, peer, Beside::default()) else { return };
        let stream = Arc::new(Stream::new(connection, poller.registry().clone()));
        let shard = self.flows.shard_of(&peer, local.number);
        let (number, generation) = {
            let mut flows = self.flows.lock(shard);
            let number = flows.open_another(peer, Arc::clone(&stream), now);
            (number, flows.generation(number))
        };
        self.opened(local, shard, now);
        if !stream.register(Id { shard, number, generation }.word()) {
            self.warn(local);
            local.counts.evicted += 1;
            kept.beside.ending = Some(Some(Closed::Evicted));
            return self.over(local, Place { shard, number, peer, link: stream }, *kept);
        }
        // What comes from now on may be told to another thread. If it came already, it found the state missing.
        let mut flows = self.flows.lock(shard);
        let wanted = flows.put_back(number, kept, None, 0);
        let next = flows.next_time();
        drop(flows);
        if wanted {
            stream.arm(true, true);
        }
        if !self.flows.are_by_worker() {
            self.control.alarm.at_latest(next);
        }
    }

    /// Counts a connection that could not be accepted or waited on, and says so once.
    fn warn<W>(&self, local: &mut Local<W, Connections>) {
        local.counts.unaccepted += 1;
        if !self.transport.warned.swap(true, Ordering::Relaxed) {
            // Nobody may read it: that ends no server.
            let _ = writeln!(
                std::io::stderr(),
                "server at {}: no descriptors left for more connections; they wait until others end. \
                 Raise the limit (`ulimit -n`), or allow fewer with `flows`",
                self.transport.address
            );
        }
    }
}
