//! A flow's connection to the server, by which requests go and replies come, each whole.

use crate::sockets::error::SocketError;
use crate::sockets::site::Site;
use std::io::{self, Write};
use std::net::SocketAddr;
use warmcore_linux::net::{Timed, TimedData, TimedDatagrams, TimedStream};
use warmcore_units::Transport;

/// A connection. No call waits.
pub(crate) enum Connection {
    /// A UDP socket: a datagram for each.
    Datagrams(TimedDatagrams),
    /// A TCP connection.
    Stream(FramedStream),
}

impl Connection {
    /// Opens one to `address`.
    pub(crate) fn open(site: &Site, address: SocketAddr, transport: Transport) -> Result<Self, SocketError> {
        let opening = SocketError::doing("opening");
        match transport {
            Transport::Tcp => {
                Ok(Self::Stream(FramedStream::new(Timed::new(site.connect(address)?).map_err(opening)?)))
            }
            Transport::Udp | Transport::Rpc => {
                Ok(Self::Datagrams(Timed::new(site.client_of(address)?).map_err(opening)?))
            }
        }
    }

    /// Sends a request.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if the kernel has no room for it; others do not go away.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        match self {
            Self::Datagrams(socket) => socket.socket().send(request).map(drop),
            Self::Stream(stream) => stream.send(request),
        }
    }

    /// Receives a reply into `buffer`; `None` if none is there.
    ///
    /// # Errors
    /// The pending error of the socket, or that the server has closed the connection.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<TimedData>> {
        match self {
            Self::Datagrams(socket) => socket.receive(buffer),
            Self::Stream(stream) => stream.receive(buffer),
        }
    }
}

/// Bytes of the length that precedes each request and reply.
const PREFIX: usize = 4;

/// A TCP connection on which each request and reply is preceded by its length.
pub(crate) struct FramedStream {
    stream: TimedStream,
    /// A request with its length, of which the first bytes are sent.
    request: Vec<u8>,
    sent: usize,
    /// What has come and was not yet given out.
    arrived: Vec<u8>,
    /// The length of the latest reply, prefix included. The next one is most likely as long; if no more than that is read at
    /// once, the kernel's time is that of its last segment.
    likely: usize,
}

impl FramedStream {
    fn new(stream: TimedStream) -> Self {
        Self { stream, request: Vec::new(), sent: 0, arrived: Vec::new(), likely: PREFIX }
    }

    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        if self.sent < self.request.len() {
            self.write()?;
        }
        if self.sent < self.request.len() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.request.clear();
        self.request.extend((request.len() as u32).to_be_bytes());
        self.request.extend_from_slice(request);
        self.sent = 0;
        match self.write() {
            // Nothing of it is on its way, and it counts as lost.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.request.clear();
                Err(error)
            }
            // The rest is sent before the next one.
            written => written,
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.sent += self.stream.socket().write(&self.request[self.sent..])?;
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<TimedData>> {
        loop {
            let wanted = self.whole().unwrap_or(self.likely.max(PREFIX));
            let there = self.arrived.len();
            if there >= wanted {
                // Only if replies have become shorter: the time of these is lost.
                return Ok(Some(TimedData { length: self.take(wanted, buffer), received: None }));
            }
            self.arrived.resize(wanted, 0);
            let read = self.stream.receive(&mut self.arrived[there..]);
            self.arrived
                .truncate(there + read.as_ref().ok().and_then(Option::as_ref).map_or(0, |data| data.length));
            let Some(data) = read? else { return Ok(None) };
            if data.length == 0 {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if let Some(whole) = self.whole().filter(|&whole| self.arrived.len() >= whole) {
                return Ok(Some(TimedData { length: self.take(whole, buffer), ..data }));
            }
        }
    }

    /// The length of the reply that comes, prefix included, if it is known.
    fn whole(&self) -> Option<usize> {
        let prefix = self.arrived.first_chunk::<PREFIX>()?;
        Some(PREFIX + u32::from_be_bytes(*prefix) as usize)
    }

    /// Gives out a reply that is there.
    fn take(&mut self, whole: usize, buffer: &mut [u8]) -> usize {
        let length = (whole - PREFIX).min(buffer.len());
        buffer[..length].copy_from_slice(&self.arrived[PREFIX..PREFIX + length]);
        self.arrived.drain(..whole);
        self.likely = whole;
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    /// A connection, and its other end.
    fn pair() -> (FramedStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stream.set_nonblocking(true).unwrap();
        let (peer, _) = listener.accept().unwrap();
        peer.set_nodelay(true).unwrap();
        (FramedStream::new(Timed::new(stream).unwrap()), peer)
    }

    fn framed(data: &[u8]) -> Vec<u8> {
        [&(data.len() as u32).to_be_bytes(), data].concat()
    }

    fn next(stream: &mut FramedStream) -> Vec<u8> {
        let mut buffer = [0; 2048];
        let data = (0..10_000_000).find_map(|_| stream.receive(&mut buffer).unwrap());
        buffer[..data.expect("loopback loses nothing").length].to_vec()
    }

    #[test]
    fn replies_come_whole_however_they_are_cut() {
        let (mut stream, mut peer) = pair();
        let replies: Vec<Vec<u8>> =
            [0, 1, 700, 3, 3, 1400, 0, 9].map(|length| vec![length as u8; length]).into();
        let bytes: Vec<u8> = replies.iter().flat_map(|reply| framed(reply)).collect();
        for piece in [1, 2, 5, 97, bytes.len()] {
            for part in bytes.chunks(piece) {
                peer.write_all(part).unwrap();
            }
            for reply in &replies {
                assert_eq!(next(&mut stream), *reply, "in pieces of {piece}");
            }
            assert_eq!(stream.receive(&mut [0; 10]).unwrap(), None);
        }
    }

    #[test]
    fn replies_that_are_read_at_once_have_their_own_times() {
        let (mut stream, mut peer) = pair();
        let mut buffer = [0; 16];
        let mut times = Vec::new();
        for reply in [b"first", b"again", b"later"] {
            peer.write_all(&framed(reply)).unwrap();
            let data = (0..10_000_000).find_map(|_| stream.receive(&mut buffer).unwrap());
            times.push(data.expect("loopback loses nothing").received.expect("the kernel says when"));
            std::thread::sleep(core::time::Duration::from_millis(5));
        }
        for pair in times.windows(2) {
            assert!(pair[1] - pair[0] >= core::time::Duration::from_millis(4), "{times:?}");
        }
    }

    #[test]
    fn a_request_that_does_not_fit_is_refused_or_sent_whole() {
        let (mut stream, mut peer) = pair();
        let request = vec![7; 60_000];
        let mut taken = 0;
        while stream.send(&request).is_ok() {
            taken += 1;
        }
        let reader = std::thread::spawn(move || {
            let mut bytes = vec![0; taken * (request.len() + PREFIX)];
            std::io::Read::read_exact(&mut peer, &mut bytes).unwrap();
            bytes.chunks(request.len() + PREFIX).all(|chunk| chunk == framed(&request))
        });
        // What was taken in part leaves before the next one.
        while stream.sent < stream.request.len() {
            let _ = stream.write();
        }
        assert!(reader.join().unwrap());
    }
}
