//! A connection to the program, on which one request is under way at a time.

use super::error::ServedProgramError;
use super::{Asked, http};
use crate::error::RunError;
use crate::sockets::error::SocketError;
use crate::sockets::site::Site;
use core::time::Duration;
use std::io::{self, Write};
use std::net::SocketAddr;
use warmcore_linux::net::{Timed, TimedDatagrams, TimedStream};

/// Bytes that are read at once.
const READ: usize = 64 << 10;

/// A connection.
pub(crate) enum Connection {
    /// A UDP socket: the next datagram is the reply.
    Datagrams(TimedDatagrams),
    /// A TCP connection.
    Http {
        stream: TimedStream,
        path: String,
        /// What has come of the response.
        response: Vec<u8>,
    },
}

impl Connection {
    /// Opens one to `address`.
    pub(crate) fn open(site: &Site, address: SocketAddr, asked: &Asked) -> Result<Self, SocketError> {
        let opening = SocketError::doing("opening");
        match asked {
            Asked::Datagrams(_) => {
                Ok(Self::Datagrams(Timed::new(site.client_of(address)?).map_err(opening)?))
            }
            Asked::Http(path) => {
                let stream = Timed::new(site.connect(address)?).map_err(opening)?;
                Ok(Self::Http { stream, path: path.clone(), response: Vec::with_capacity(READ) })
            }
        }
    }

    /// Sends a request. Returns whether the kernel took it.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<bool, SocketError> {
        let sent = match self {
            Self::Datagrams(socket) => socket.socket().send(request),
            Self::Http { stream, response, .. } => {
                response.clear();
                let mut socket = stream.socket();
                socket.write(request)
            }
        };
        match sent {
            Ok(bytes) => Ok(bytes == request.len()),
            // It counts as lost: the connection is opened anew.
            Err(error) if is_gone(&error) || error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(SocketError::doing("sending through")(error)),
        }
    }

    /// When the reply was complete, by the kernel's clock; `None` if it is not, or will never be.
    pub(crate) fn reply(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Duration>, RunError> {
        buffer.resize(READ, 0);
        let receiving = SocketError::doing("receiving from");
        match self {
            Self::Datagrams(socket) => match socket.receive(buffer) {
                Ok(None) => Ok(None),
                Ok(Some(data)) => Ok(Some(data.received.ok_or(SocketError::NoTime)?)),
                Err(error) if is_gone(&error) => Ok(None),
                Err(error) => Err(receiving(error).into()),
            },
            Self::Http { stream, path, response } => loop {
                let data = match stream.receive(buffer) {
                    Ok(None) => return Ok(None),
                    Ok(Some(data)) => data,
                    Err(error) if is_gone(&error) => return Ok(None),
                    Err(error) => return Err(receiving(error).into()),
                };
                if data.length == 0 {
                    return Err(ServedProgramError::Closes.into());
                }
                response.extend(&buffer[..data.length]);
                if let Some(end) = http::complete(response, path)? {
                    if end < response.len() {
                        let reason = "more follows it than was asked for".to_owned();
                        return Err(ServedProgramError::NotHttp { reason }.into());
                    }
                    return Ok(Some(data.received.ok_or(SocketError::NoTime)?));
                }
            },
        }
    }
}

/// Whether the other end is not there any more.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionRefused | ConnectionReset | BrokenPipe)
}
