//! A small HTTP server for one page: `GET /metrics`.
//!
//! It answers one request per connection and one connection at a time, because a scraper comes only
//! every few seconds. A client that is slow or sends too much is dropped.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Content type of the page.
pub const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;

/// Time between two checks for a new connection.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(50);
/// How long a client may take to send its request, or to read the answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(2);
/// Most bytes of a request.
const MAX_REQUEST: usize = 8 << 10;
/// The most header lines.
const MAX_HEADERS: usize = 64;

/// The address of the page cannot be bound.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve metrics on {address}: {source}; expected a free port of an address of this machine")]
pub struct EndpointError {
    /// The address asked for.
    pub address: SocketAddr,
    source: io::Error,
}

/// Reads an address: `127.0.0.1:9898`, or a port alone for loopback.
///
/// # Errors
/// A message that says what was expected.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    text.parse().or_else(|_| text.parse().map(loopback)).map_err(|_| {
        format!("`{text}`: expected a port, such as 9898, for this machine alone, or ADDRESS:PORT, such as 0.0.0.0:9898")
    })
}

/// The HTTP server of the page.
#[derive(Debug)]
pub struct Endpoint {
    listener: TcpListener,
    address: SocketAddr,
}

impl Endpoint {
    /// Binds `address`; port 0 means any free port.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn bind(address: SocketAddr) -> Result<Self, EndpointError> {
        let bound = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(Self { address: listener.local_addr()?, listener })
        });
        bound.map_err(|source| EndpointError { address, source })
    }

    /// The address that is bound.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves what `page` returns, until `stop` is set.
    pub fn serve(&self, stop: &AtomicBool, page: impl Fn() -> String) {
        while !stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                // An error here means that the client went away, which affects nobody else.
                Ok((client, _)) => drop(answer(client, &page)),
                Err(_) => thread::sleep(ACCEPT_INTERVAL),
            }
        }
    }
}

fn answer(mut client: TcpStream, page: impl Fn() -> String) -> io::Result<()> {
    client.set_nonblocking(false)?;
    client.set_read_timeout(Some(CLIENT_TIMEOUT))?;
    client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    let (status, body) = match read_request(&mut client)? {
        Request::Metrics => ("200 OK", page()),
        Request::OtherPage => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        Request::OtherMethod => ("405 Method Not Allowed", "expected GET\n".to_owned()),
        Request::Unreadable => ("400 Bad Request", "expected an HTTP request\n".to_owned()),
    };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {}\r\nAllow: GET\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// A client's request.
enum Request {
    Metrics,
    OtherPage,
    OtherMethod,
    Unreadable,
}

/// Reads a request up to the end of its header.
fn read_request(client: &mut impl Read) -> io::Result<Request> {
    let mut request = Vec::new();
    let mut chunk = [0; 1024];
    while request.len() < MAX_REQUEST {
        let read = client.read(&mut chunk)?;
        request.extend_from_slice(&chunk[..read]);
        if let Some(request) = parse_request(&request) {
            return Ok(request);
        }
        if read == 0 {
            break;
        }
    }
    Ok(Request::Unreadable)
}

/// Parses `request`; `None` while it is incomplete.
fn parse_request(request: &[u8]) -> Option<Request> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(request) {
        Ok(status) if status.is_partial() => None,
        Ok(_) => {
            let path = parsed.path.unwrap_or_default().split('?').next();
            Some(match (parsed.method, path) {
                (Some("GET"), Some("/metrics")) => Request::Metrics,
                (Some("GET"), _) => Request::OtherPage,
                _ => Request::OtherMethod,
            })
        }
        Err(_) => Some(Request::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The server's answer to a client that sends `request`.
    fn exchange(request: &[u8]) -> String {
        let endpoint = Endpoint::bind(address("0").unwrap()).unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| endpoint.serve(&stop, || "up 1\n".to_owned()));
            let mut client = TcpStream::connect(endpoint.address()).unwrap();
            client.write_all(request).unwrap();
            let mut text = String::new();
            let read = client.read_to_string(&mut text);
            stop.store(true, Ordering::Relaxed);
            read.unwrap();
            text
        })
    }

    #[test]
    fn a_scraper_gets_the_page_and_other_requests_an_error() {
        let page = exchange(b"GET /metrics HTTP/1.1\r\nHost: here\r\nAccept: text/plain\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("version=0.0.4"), "{page}");
        assert!(page.ends_with("\r\n\r\nup 1\n"), "{page}");
        for (request, status) in [
            (&b"GET / HTTP/1.0\r\n\r\n"[..], "404"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
            (b"\x16\x03\x01 no HTTP at all\r\n\r\n", "400"),
        ] {
            let answer = exchange(request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        }
    }

    #[test]
    fn a_bare_port_means_loopback() {
        assert_eq!(address("9898"), Ok("127.0.0.1:9898".parse().unwrap()));
        assert_eq!(address("0.0.0.0:80"), Ok("0.0.0.0:80".parse().unwrap()));
        assert!(address("everywhere").unwrap_err().contains("ADDRESS:PORT"));
        assert!(address("70000").is_err());
    }
}
