//! Servers of connections.

mod choice;
mod end;
mod exchange;
mod flows;
mod frames;
mod limits;
mod timers;
mod trouble;

use crate::LONG;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use warmcore_runtime::server::{Frames, Running, Server};

fn server(frames: Frames) -> Server {
    Server::bind_tcp("127.0.0.1:0", frames).unwrap()
}

fn client(running: &Running) -> TcpStream {
    let stream = TcpStream::connect(running.local_addr()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// A request or a reply with its length before it.
fn framed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// The next reply, without its length.
fn receive(client: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    client.read_exact(&mut length).unwrap_or_else(|error| panic!("no answer: {error}"));
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    client.read_exact(&mut bytes).unwrap();
    bytes
}

fn ask(client: &mut TcpStream, request: &[u8]) -> Vec<u8> {
    client.write_all(&framed(request)).unwrap();
    receive(client)
}

/// Waits for the end of a connection. Returns what arrived before.
fn rest(client: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    client.read_to_end(&mut bytes).unwrap_or_else(|error| panic!("no end: {error}"));
    bytes
}

/// Waits until the server ended or reset the connection.
fn assert_over(client: &mut TcpStream) {
    let read = client.read(&mut [0; 100]);
    let is_over =
        read.as_ref().map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |&read| read == 0);
    assert!(is_over, "{read:?}");
}
