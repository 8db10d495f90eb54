//! The server on the other host of a transfer. It runs an end for each client.

use super::end::{Controller, TIMEOUT, serve_end};
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use warmcore_linux::net::wait_readable;

/// Most ends at a time, for all clients.
const MAX_ENDS: usize = 128;
/// Time between two checks whether the user has stopped.
const STOP_INTERVAL: Duration = Duration::from_millis(100);
/// An end that is not asked for this long ends: a client asks every second.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The server that runs ends for other hosts.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    busy: Arc<AtomicUsize>,
}

impl Server {
    /// Listens at an address; port 0 means that the kernel chooses a port. Anyone who can reach the
    /// address can make this host send and receive bytes there, and nothing else.
    ///
    /// # Errors
    /// If the address does not belong to this host, or is in use.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, busy: Arc::default() })
    }

    /// The address it listens at.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs an end for every client, until `stop` is set.
    ///
    /// # Errors
    /// If the server can no longer wait for connections.
    pub fn serve(&self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let waiting =
                wait_readable(&[self.listener.as_fd()], Some(STOP_INTERVAL)).map_err(io::Error::other)?;
            // A client that disconnects before it is accepted is no error here.
            if waiting > 0
                && let Ok((stream, _)) = self.listener.accept()
            {
                self.spawn_end(stream);
            }
        }
        Ok(())
    }

    /// Runs an end for one client on its own thread. Only the client learns of errors. If too many ends
    /// are running, the connection is closed.
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
