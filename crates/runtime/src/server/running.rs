//! A server that runs, and its end.

use super::control::{Control, Current};
use super::error::ServerError;
use super::report::Report;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Instant;

/// How often a stopping server looks at what its workers do.
const LOOK: Duration = Duration::from_millis(5);
/// How long a worker that is in no call may take to end.
const GRACE: Duration = Duration::from_millis(500);

/// What a server is told by its threads.
#[derive(Debug)]
pub(super) enum Event {
    /// A worker is ready.
    Ready,
    /// A thread has ended: its number, and what made it die, if it did.
    Ended(usize, Result<(), String>),
    /// A signal asks the process to stop.
    Signal,
}

/// A server that runs on its threads. Dropping it stops the server without waiting for it.
#[derive(Debug)]
pub struct Running {
    pub(super) control: Arc<Control>,
    pub(super) events: Receiver<Event>,
    pub(super) threads: Vec<Option<JoinHandle<()>>>,
    /// How many of the threads are workers; one more is the timekeeper.
    pub(super) workers: usize,
    pub(super) drain: Duration,
    pub(super) page: Option<Page>,
    /// What the first thread that died says.
    pub(super) died: Option<(usize, String)>,
    /// Whether a signal came before all workers were ready.
    pub(super) signalled: bool,
}

/// The thread that serves the metrics.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) address: SocketAddr,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) thread: JoinHandle<()>,
}

impl Running {
    /// The address and the port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.control.port.address()
    }

    /// The address of the page with the metrics, if it is served.
    #[must_use]
    pub fn metrics_addr(&self) -> Option<SocketAddr> {
        self.page.as_ref().map(|page| page.address)
    }

    /// What made a worker die, if one did: the port is closed then, and nobody is answered any more.
    pub fn failure(&mut self) -> Option<ServerError> {
        while let Ok(event) = self.events.try_recv() {
            match event {
                Event::Ended(number, result) => self.ended(number, result),
                Event::Signal => self.signalled = true,
                Event::Ready => {}
            }
        }
        self.died.clone().map(|(worker, message)| ServerError::Died { worker, message })
    }

    /// What the server has done so far.
    #[must_use]
    pub fn report(&self) -> Report {
        Report::new(&self.control)
    }

    /// Sends to any peer, from any thread.
    #[must_use]
    pub fn sender(&self) -> Sender {
        Sender(Arc::downgrade(&self.control))
    }

    /// Waits until all workers are ready. Returns the number of one that died instead, and why.
    pub(super) fn wait_until_ready(&mut self) -> Option<(usize, String)> {
        let (mut ready, mut signal) = (0, false);
        while ready < self.workers && !signal {
            match self.events.recv() {
                Ok(Event::Ready) => ready += 1,
                Ok(Event::Ended(number, result)) => self.ended(number, result),
                Ok(Event::Signal) => signal = true,
                Err(_) => break,
            }
            if self.died.is_some() {
                return self.died.clone();
            }
        }
        self.signalled = signal;
        None
    }

    /// Waits until a signal asks the process to stop, or a worker dies.
    pub(super) fn wait(&mut self) {
        while !self.signalled
            && let Ok(event) = self.events.recv()
        {
            match event {
                Event::Ready => {}
                Event::Signal => return,
                Event::Ended(number, result) => {
                    self.ended(number, result);
                    return;
                }
            }
        }
    }

    /// Stops: drops what arrives from now on, processes what is in the queues, and waits for the workers to end.
    ///
    /// # Errors
    /// If a worker died, or was not done within the [limit](super::Server::drain): the handler did not return, or
    /// requests were left. The port is closed in any case, except to the thread of such a handler.
    pub fn stop(mut self) -> Result<Report, ServerError> {
        let dropped = self.report().dropped;
        self.control.port.close();
        let begun = Instant::now();
        let mut watch = Watch::new(&self.control);
        self.wait_for_workers(begun + self.drain, &mut watch);
        let in_time = self.running_workers().next().is_none();
        if !in_time {
            self.control.abandon.store(true, Ordering::Relaxed);
            self.wait_for_workers(Instant::now() + GRACE.min(self.drain.max(LOOK)), &mut watch);
        }
        self.control.alarm.end();
        if self.threads.len() > self.workers {
            self.wait_for(
                Instant::now() + GRACE,
                |running| running.threads[running.workers].is_none(),
                &mut watch,
            );
        }
        if let Some(Page { stop, thread, .. }) = self.page.take() {
            stop.store(true, Ordering::Relaxed);
            let _ = thread.join();
        }
        if let Some((worker, message)) = self.died.take() {
            return Err(ServerError::Died { worker, message });
        }
        if let Some((worker, peer, least)) = watch.longest(&self.control, self.running()) {
            return Err(ServerError::Stuck { worker, peer, least });
        }
        if !in_time {
            return Err(ServerError::Undrained { limit: self.drain });
        }
        Ok(Report { dropped, ..self.report() })
    }

    /// The numbers of threads that have not ended.
    fn running(&self) -> impl Iterator<Item = usize> {
        self.threads.iter().enumerate().filter(|(_, thread)| thread.is_some()).map(|(number, _)| number)
    }

    fn running_workers(&self) -> impl Iterator<Item = usize> {
        self.running().filter(|&number| number < self.workers)
    }

    fn wait_for_workers(&mut self, until: Instant, watch: &mut Watch) {
        self.wait_for(until, |running| running.running_workers().next().is_none(), watch);
    }

    /// Takes note of threads that end, until all wanted have or the time is over.
    fn wait_for(&mut self, until: Instant, done: impl Fn(&Self) -> bool, watch: &mut Watch) {
        while !done(self) && Instant::now() < until {
            match self.events.recv_timeout(LOOK) {
                Ok(Event::Ended(number, result)) => self.ended(number, result),
                Ok(Event::Ready | Event::Signal) => {}
                Err(RecvTimeoutError::Timeout) => watch.look(&self.control),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Takes note of a thread that has ended.
    fn ended(&mut self, number: usize, result: Result<(), String>) {
        if let Err(message) = result {
            self.died.get_or_insert((number, message));
        }
        if let Some(thread) = self.threads[number].take() {
            // It has said all that it has to say.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.control.port.close();
        self.control.abandon.store(true, Ordering::Relaxed);
        self.control.alarm.end();
        if let Some(page) = &self.page {
            page.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Sends from a server's port, from any thread.
#[derive(Clone, Debug)]
pub struct Sender(Weak<Control>);

impl Sender {
    /// Sends `bytes` to `peer`, whether there is a flow or not. Returns whether the kernel accepted it; not once the
    /// server has stopped. On a server of all addresses the kernel chooses the one it leaves from.
    ///
    /// On a server of connections `peer` must have one, and it gets a frame. Returns whether the kernel or the connection's
    /// queue took it: not if the peer does not read what it has been sent.
    pub fn send(&self, peer: SocketAddr, bytes: &[u8]) -> bool {
        self.0.upgrade().is_some_and(|control| control.port.send(bytes, peer))
    }
}

/// Watches how long workers are in one call of the handler.
struct Watch(Vec<(Current, Instant)>);

impl Watch {
    fn new(control: &Control) -> Self {
        Self(control.threads.iter().map(|thread| (thread.current(), Instant::now())).collect())
    }

    fn look(&mut self, control: &Control) {
        for ((seen, since), thread) in self.0.iter_mut().zip(&control.threads) {
            let current = thread.current();
            if current != *seen {
                (*seen, *since) = (current, Instant::now());
            }
        }
    }

    /// The longest call that `threads` are in: the thread, the peer, and since when it has been seen.
    fn longest(
        mut self,
        control: &Control,
        threads: impl Iterator<Item = usize>,
    ) -> Option<(usize, SocketAddr, Duration)> {
        self.look(control);
        let calls = threads.filter_map(|number| {
            let (current, since) = &self.0[number];
            Some((number, current.peer?, since.elapsed()))
        });
        calls.max_by_key(|(_, _, time)| *time)
    }
}
