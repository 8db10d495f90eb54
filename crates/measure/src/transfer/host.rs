//! The other host of a transfer: it is an end for whoever asks.

use super::end::{Controller, TIMEOUT, serve_end};
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use warmcore_linux::net::wait_readable;

/// Ends at once, for all who ask.
const MAX_ENDS: usize = 128;
/// Between two looks at whether the user has stopped.
const STOP_INTERVAL: Duration = Duration::from_millis(100);
/// An end that nobody asks for longer than this belongs to nobody any more: a leader asks every second.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Whom others ask for ends.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    busy: Arc<AtomicUsize>,
}

impl Server {
    /// Listens at an address; at a port of the kernel's choice if that is 0. Whoever reaches the address
    /// can make this host send and receive bytes there, and nothing else.
    ///
    /// # Errors
    /// If the address is not this host's, or taken.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, busy: Arc::default() })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Is an end for everybody who asks, until `stop` is set.
    ///
    /// # Errors
    /// If nobody can be heard any more.
    pub fn serve(&self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let waiting =
                wait_readable(&[self.listener.as_fd()], Some(STOP_INTERVAL)).map_err(io::Error::other)?;
            // Who went away again before being heard is no error of ours.
            if waiting > 0
                && let Ok((stream, _)) = self.listener.accept()
            {
                self.spawn_end(stream);
            }
        }
        Ok(())
    }

    /// On a thread of its own. Nobody is told an error but who asked; beyond the number of ends that
    /// this host can be, the connection is closed.
    fn spawn_end(&self, stream: TcpStream) {
        let (busy, address) = (Arc::clone(&self.busy), self.address.ip());
        if busy.fetch_add(1, Ordering::Relaxed) >= MAX_ENDS {
            busy.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let ends = Arc::clone(&busy);
        let work = move || {
            let _ = serve_client(&stream, Controller::Remote(address));
            busy.fetch_sub(1, Ordering::Relaxed);
        };
        if thread::Builder::new().name("end".to_owned()).spawn(work).is_err() {
            ends.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn serve_client(stream: &TcpStream, controller: Controller) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(IDLE_TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    serve_end(BufReader::new(stream.try_clone()?), stream, controller)
}
