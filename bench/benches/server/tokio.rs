//! tokio, with one runtime and with one for each cpu.

use crate::{Result, Stop, bind, bind_each};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;
use tokio::runtime::{Builder, Runtime};

/// One runtime with a worker for each cpu, and a task for each on one socket.
pub(crate) fn shared(cpus: usize) -> Result<(SocketAddr, Stop)> {
    let runtime = Builder::new_multi_thread().worker_threads(cpus).enable_io().build()?;
    let socket = bind("127.0.0.1:0".parse()?, false)?;
    let address = socket.local_addr()?;
    let socket = {
        let _entered = runtime.enter();
        Arc::new(tokio::net::UdpSocket::from_std(socket)?)
    };
    (0..cpus).for_each(|_| drop(runtime.spawn(echo(Arc::clone(&socket)))));
    Ok((address, Box::new(move || Runtime::shutdown_background(runtime))))
}

/// A runtime and a socket for each cpu.
pub(crate) fn each(cpus: usize) -> Result<(SocketAddr, Stop)> {
    let (address, sockets) = bind_each(cpus)?;
    let serve = |socket: UdpSocket| {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
            runtime.block_on(async {
                let socket = Arc::new(tokio::net::UdpSocket::from_std(socket).expect("a socket"));
                let served = tokio::spawn(echo(socket));
                let _ = stopped.await;
                served.abort();
            });
        });
        (stop, thread)
    };
    let threads: Vec<_> = sockets.into_iter().map(serve).collect();
    let stop = move || {
        for (stop, thread) in threads {
            drop(stop);
            drop(thread.join());
        }
    };
    Ok((address, Box::new(stop)))
}

async fn echo(socket: Arc<tokio::net::UdpSocket>) {
    let mut bytes = vec![0; 2048];
    while let Ok((length, from)) = socket.recv_from(&mut bytes).await {
        let _ = socket.send_to(&bytes[..length], from).await;
    }
}
