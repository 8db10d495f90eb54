//! The server library, and the loop with the same system calls.

use crate::{Result, Stop};
use std::net::SocketAddr;
use std::thread;
use warmcore_linux::net::sockets::{Batch, Outbox, Port, PortOptions, Received, Sharing, WorkerSocket};
use warmcore_runtime::server::{Policy, Server};

pub(crate) fn server(policy: Policy, cpus: usize) -> Result<(SocketAddr, Stop)> {
    let server = Server::bind("127.0.0.1:0")?.policy(policy).workers(cpus);
    let running = server.start(|(), request, reply| reply.send(request.bytes))?;
    Ok((running.local_addr(), Box::new(move || drop(running.stop()))))
}

/// The same system calls as ours, and nothing else.
pub(crate) fn bare(cpus: usize) -> Result<(SocketAddr, Stop)> {
    let options = PortOptions { receive_buffer: Some(4 << 20), ..PortOptions::default() };
    let (port, workers) = Port::open("127.0.0.1:0".parse()?, &Sharing::Hash, cpus, options)?;
    let echo = |mut worker: WorkerSocket| {
        move || {
            let (mut batch, mut outbox) = (Batch::new(Batch::MOST, 2048), Outbox::default());
            while let Ok(Received::Datagrams(_) | Received::Nothing) = worker.receive(&mut batch) {
                batch.datagrams().for_each(|datagram| outbox.push(datagram.bytes, datagram.from, None));
                worker.send(&mut outbox);
            }
        }
    };
    let threads: Vec<_> = workers.into_iter().map(|worker| thread::spawn(echo(worker))).collect();
    let address = port.address();
    let stop = move || {
        port.close();
        threads.into_iter().for_each(|thread| drop(thread.join()));
    };
    Ok((address, Box::new(stop)))
}
