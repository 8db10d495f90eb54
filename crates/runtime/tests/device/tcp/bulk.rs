//! Much data, and little data many times, without faults.

use super::host::{Host, Id};
use super::stream::{Sink, Source, Stream};
use super::{MTU, Opener, config, connected, net};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use warmcore_stack::tcp::{Config, End, State};

const ROUNDS: u32 = 300;

/// Two streams, one in each direction.
#[derive(Clone, Copy)]
pub(crate) struct Both {
    pub(crate) ours: Stream,
    pub(crate) theirs: Stream,
}

impl Both {
    /// Streams of `length` bytes each, give or take a segment.
    pub(crate) fn new(length: usize) -> Self {
        Self { ours: Stream { salt: 1, length }, theirs: Stream { salt: 2, length: length + 777 } }
    }

    /// The kernel's side: sends and receives at once.
    pub(crate) fn theirs(self, socket: &TcpStream) {
        thread::scope(|scope| {
            scope.spawn(|| {
                self.theirs.send(socket);
                socket.shutdown(std::net::Shutdown::Write).unwrap();
            });
            self.ours.receive(socket);
        });
    }

    /// Our side: sends and receives at once, and closes.
    pub(crate) fn ours(self, host: &mut Host, id: Id) {
        let (mut source, mut sink) = (Source::new(self.ours), Sink::new(self.theirs));
        let mut is_read = false;
        host.until("through in both directions", |host| {
            let connection = host.connection(id);
            is_read |= sink.read(connection);
            if source.write(connection) {
                connection.close();
            }
            is_read && connection.state() == State::Closed
        });
        assert_eq!(host.connection(id).end(), Some(End::Closed));
    }
}

fn carries(opener: Opener, config: Config, mtu: usize, both: Both) {
    let Some(mut net) = net(mtu, None) else { return };
    connected(&mut net, opener, config, |socket| both.theirs(&socket), |host, id| both.ours(host, id));
}

#[test]
fn megabytes_go_both_ways_at_once_after_we_connected() {
    carries(Opener::Us, config(), MTU, Both::new(4 << 20));
}

#[test]
fn megabytes_go_both_ways_at_once_after_the_kernel_connected() {
    carries(Opener::Kernel, config(), MTU, Both::new(4 << 20));
}

#[test]
fn megabytes_go_both_ways_in_jumbo_frames_and_windows_beyond_64_kib() {
    let config = Config { max_segment_size: 8960, send_buffer: 1 << 20, receive_buffer: 1 << 20, ..config() };
    carries(Opener::Us, config, 9000, Both::new(8 << 20));
}

#[test]
fn megabytes_go_both_ways_without_scaling_and_with_header_prediction() {
    let mut config = Config { window_scaling: false, ..config() };
    config.changes.header_prediction = true;
    carries(Opener::Kernel, config, MTU, Both::new(2 << 20));
}

/// What is said in each round: of all lengths up to some segments.
fn word(round: u32) -> Vec<u8> {
    Stream { salt: round, length: (round as usize * 37) % 5000 + 1 }.bytes()
}

#[test]
fn the_kernel_asks_and_we_answer_each_question() {
    let Some(mut net) = net(MTU, None) else { return };
    let theirs = |mut socket: TcpStream| {
        socket.set_nodelay(true).unwrap();
        for round in 0..ROUNDS {
            let asked = word(round);
            socket.write_all(&asked).unwrap();
            let mut answer = vec![0; asked.len()];
            socket.read_exact(&mut answer).unwrap();
            assert!(answer == asked, "another answer to question {round}");
        }
    };
    connected(&mut net, Opener::Kernel, config(), theirs, |host, id| {
        let mut buffer = vec![0; 10_000];
        host.until("asked for the last time", |host| {
            let connection = host.connection(id);
            let length = connection.read(&mut buffer).unwrap();
            assert_eq!(connection.write(&buffer[..length]), Ok(length));
            connection.is_at_end()
        });
        host.connection(id).close();
    });
}

#[test]
fn we_ask_and_the_kernel_answers_each_question() {
    let Some(mut net) = net(MTU, None) else { return };
    let theirs = |mut socket: TcpStream| {
        socket.set_nodelay(true).unwrap();
        let mut buffer = vec![0; 10_000];
        loop {
            match socket.read(&mut buffer).unwrap() {
                0 => return,
                length => socket.write_all(&buffer[..length]).unwrap(),
            }
        }
    };
    connected(&mut net, Opener::Us, Config { nagle: false, ..config() }, theirs, |host, id| {
        for round in 0..ROUNDS {
            let asked = word(round);
            assert_eq!(host.connection(id).write(&asked), Ok(asked.len()));
            host.until("answered", |host| host.connection(id).readable() == asked.len());
            let mut answer = vec![0; asked.len()];
            host.connection(id).read(&mut answer).unwrap();
            assert!(answer == asked, "another answer to question {round}");
        }
        host.connection(id).close();
    });
}
