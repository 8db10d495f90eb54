//! Streams whose every byte is known, from and to both kinds of TCP.

use std::io::{Read, Write};
use warmcore_stack::tcp::Connection;

/// Bytes in one call.
const PIECE: usize = 16 << 10;

/// A known stream of `length` bytes. Streams of different salts differ at almost every place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    pub(crate) salt: u32,
    pub(crate) length: usize,
}

impl Stream {
    fn byte(self, offset: usize) -> u8 {
        ((offset as u32 ^ self.salt).wrapping_mul(0x9e37_79b1) >> 24) as u8
    }

    /// At most `most` bytes from `offset` on.
    fn piece(self, offset: usize, most: usize) -> Vec<u8> {
        (offset..self.length.min(offset + most)).map(|at| self.byte(at)).collect()
    }

    /// The whole stream.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.piece(0, self.length)
    }

    /// Sends all of it on a socket of the kernel's.
    pub(crate) fn send(self, mut socket: impl Write) {
        for offset in (0..self.length).step_by(PIECE) {
            socket.write_all(&self.piece(offset, PIECE)).expect("the peer takes it in time");
        }
    }

    /// Receives all of it and then the end on a socket of the kernel's.
    pub(crate) fn receive(self, mut socket: impl Read) {
        let (mut sink, mut buffer) = (Sink::new(self), vec![0; PIECE]);
        loop {
            match socket.read(&mut buffer).expect("the peer sends in time") {
                0 => return sink.end(),
                length => sink.take(&buffer[..length]),
            }
        }
    }
}

/// Writes a stream to a connection of ours.
pub(crate) struct Source {
    stream: Stream,
    written: usize,
}

impl Source {
    pub(crate) const fn new(stream: Stream) -> Self {
        Self { stream, written: 0 }
    }

    /// Writes what there is room for. Returns whether all is written.
    pub(crate) fn write(&mut self, connection: &mut Connection) -> bool {
        while self.written < self.stream.length && connection.room() > 0 {
            let piece = self.stream.piece(self.written, connection.room().min(PIECE));
            self.written += connection.write(&piece).expect("it is open");
        }
        self.written == self.stream.length
    }
}

/// Holds what is received to a stream.
pub(crate) struct Sink {
    stream: Stream,
    received: usize,
    buffer: Vec<u8>,
}

impl Sink {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, received: 0, buffer: vec![0; PIECE] }
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let Self { stream, received, .. } = *self;
            assert!(received < stream.length, "more than the {} bytes of the stream", stream.length);
            assert!(*byte == stream.byte(received), "byte {received} is not what was sent");
            self.received += 1;
        }
    }

    fn end(&self) {
        assert_eq!(self.received, self.stream.length, "the stream ended too early");
    }

    /// Reads what there is on a connection of ours. Returns whether the stream has ended, as it should.
    pub(crate) fn read(&mut self, connection: &mut Connection) -> bool {
        loop {
            let mut buffer = core::mem::take(&mut self.buffer);
            let length = connection.read(&mut buffer).expect("it is not reset");
            self.take(&buffer[..length]);
            self.buffer = buffer;
            if length == 0 {
                break;
            }
        }
        if connection.is_at_end() {
            self.end();
        }
        connection.is_at_end()
    }
}
