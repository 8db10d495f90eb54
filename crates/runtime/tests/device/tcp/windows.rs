//! A reader sleeps until the window is closed, and longer than the writer's first probe of it.

use super::host::Host;
use super::stream::{Sink, Source, Stream};
use super::{MTU, Opener, config, connected, net};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_stack::tcp::{Config, End, State};

const STREAM: Stream = Stream { salt: 5, length: 1 << 20 };
/// How long a closed window stays closed: for probes after 200, 400 and 800 ms.
const ASLEEP: Duration = Duration::from_millis(1500);

/// The kernel's window closes on our stream, and opens again.
fn kernel_sleeps(opener: Opener, send_buffer: usize) {
    let Some(mut net) = net(MTU, None) else { return };
    // The kernel's buffers do not grow beyond what a test can fill.
    net.0.tune("tcp_rmem", "4096 32768 32768");
    let is_awake = AtomicBool::new(false);
    let theirs = |socket: TcpStream| {
        let began = Instant::now();
        while !is_awake.load(Ordering::Relaxed) && began.elapsed() < super::LIMIT {
            thread::sleep(Duration::from_millis(1));
        }
        STREAM.receive(&socket);
    };
    connected(&mut net, opener, Config { send_buffer, ..config() }, theirs, |host, id| {
        let mut source = Source::new(STREAM);
        host.until("closed, the kernel's window", |host| {
            source.write(host.connection(id));
            host.windows(id).1 == 0
        });
        host.serve_for(ASLEEP);
        assert_eq!((host.windows(id).1, host.state(id)), (0, State::Established));
        is_awake.store(true, Ordering::Relaxed);
        host.until("written", |host| source.write(host.connection(id)));
        host.connection(id).close();
        host.until("closed by the kernel", |host| host.state(id) == State::Closed);
        assert_eq!(host.connection(id).end(), Some(End::Closed));
    });
}

#[test]
fn we_send_on_when_the_kernels_window_opens_again() {
    kernel_sleeps(Opener::Us, 1 << 16);
    kernel_sleeps(Opener::Kernel, 1 << 20);
}

/// Our window closes on the kernel's stream, and opens again.
fn we_sleep(opener: Opener, receive_buffer: usize) {
    let Some(mut net) = net(MTU, None) else { return };
    let config = Config { receive_buffer, ..config() };
    connected(
        &mut net,
        opener,
        config,
        |socket| STREAM.send(socket),
        |host, id| {
            // What is left of a window is too little to be sent before it is probed.
            let is_full = |host: &mut Host| host.windows(id).0 == 0 && host.connection(id).readable() > 0;
            host.until("full, our buffer", is_full);
            host.serve_for(ASLEEP);
            assert_eq!((host.windows(id).0, host.state(id)), (0, State::Established));
            let mut sink = Sink::new(STREAM);
            host.until("read", |host| sink.read(host.connection(id)));
            host.connection(id).close();
            host.until("closed", |host| host.state(id) == State::Closed);
            assert_eq!(host.connection(id).end(), Some(End::Closed));
        },
    );
}

#[test]
fn the_kernel_sends_on_when_our_window_opens_again() {
    we_sleep(Opener::Us, 1 << 16);
    we_sleep(Opener::Us, 1 << 18);
    we_sleep(Opener::Kernel, 5000);
}
