//! What a worker receives datagrams from.

use core::time::Duration;
use warmcore_linux::net::sockets::{Batch, Datagram, Received, WorkerSocket};

/// What a worker receives from.
pub(super) trait Source {
    /// Lets [`receive`](Self::receive) wait no longer than `timeout`; `None` for ever.
    ///
    /// # Errors
    /// What the kernel says if it refuses.
    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), String>;

    /// Receives what is queued, up to the limit; if nothing is, waits for the next datagram.
    ///
    /// # Errors
    /// Why nothing can be received any more.
    fn receive(&mut self) -> Result<Received, String>;

    /// What the last call received.
    fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>>;

    /// Lets the next calls receive at most `datagrams`.
    fn set_limit(&mut self, datagrams: usize);

    /// The most that a call may receive.
    fn capacity(&self) -> usize;

    /// Says that what was received will take `time`, for others who could take what arrives meanwhile.
    fn begin(&self, time: Duration) {
        let _ = time;
    }
}

/// A socket and what was received from it last.
#[derive(Debug)]
pub(super) struct SocketSource {
    pub(super) socket: WorkerSocket,
    pub(super) batch: Batch,
}

impl Source for SocketSource {
    /// Sets a power of two of milliseconds, so that the timeout, which costs a system call to set, seldom changes.
    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), String> {
        let rounded = timeout.map(|timeout| {
            let milliseconds = timeout.as_millis().max(1);
            Duration::from_millis(1 << milliseconds.ilog2().min(20))
        });
        self.socket.set_timeout(rounded).map_err(|error| format!("cannot set a timeout: {error}"))
    }

    fn receive(&mut self) -> Result<Received, String> {
        self.socket.receive(&mut self.batch).map_err(|error| format!("cannot receive: {error}"))
    }

    fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        self.batch.datagrams()
    }

    fn set_limit(&mut self, datagrams: usize) {
        self.batch.set_limit(datagrams);
    }

    fn capacity(&self) -> usize {
        self.batch.capacity()
    }

    fn begin(&self, time: Duration) {
        self.socket.begin(time);
    }
}
