//! A small HTTP server for one page: `GET /metrics`.
//!
//! One request for each connection, one connection after the other: a scraper comes every few
//! seconds. Whoever is slow or sends too much is dropped.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The type of what is served.
pub const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;

/// Between two looks for somebody who wants to connect.
const REST: Duration = Duration::from_millis(50);
/// How long a client may take to say what it wants, or to take what it gets.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest request.
const LONGEST_REQUEST: usize = 8 << 10;
/// The most header lines.
const MOST_HEADERS: usize = 64;

/// The page's address cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve metrics on {address}: {source}; expected a free port of an address of this machine")]
pub struct EndpointError {
    /// What was asked for.
    pub address: SocketAddr,
    source: io::Error,
}

/// Reads an address: `127.0.0.1:9898`, or a port alone for loopback.
///
/// # Errors
/// What would be right.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    text.parse().or_else(|_| text.parse().map(loopback)).map_err(|_| {
        format!("`{text}`: expected a port of this machine alone, such as 9898, or ADDRESS:PORT, such as 0.0.0.0:9898")
    })
}

/// Where the page is served.
#[derive(Debug)]
pub struct Endpoint {
    listener: TcpListener,
    address: SocketAddr,
}

impl Endpoint {
    /// Takes `address`; with port 0 any that is free.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn bind(address: SocketAddr) -> Result<Self, EndpointError> {
        let bound = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(Self { address: listener.local_addr()?, listener })
        });
        bound.map_err(|source| EndpointError { address, source })
    }

    /// The address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves what `page` makes, until `stop` is set.
    pub fn serve(&self, stop: &AtomicBool, page: impl Fn() -> String) {
        while !stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                // A client that goes away has lost its answer, and nobody else anything.
                Ok((client, _)) => drop(answer(client, &page)),
                Err(_) => thread::sleep(REST),
            }
        }
    }
}

fn answer(mut client: TcpStream, page: impl Fn() -> String) -> io::Result<()> {
    client.set_nonblocking(false)?;
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let (status, body) = match read_request(&mut client)? {
        Wish::Metrics => ("200 OK", page()),
        Wish::OtherPage => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        Wish::OtherMethod => ("405 Method Not Allowed", "expected GET\n".to_owned()),
        Wish::Unreadable => ("400 Bad Request", "expected an HTTP request\n".to_owned()),
    };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {}\r\nAllow: GET\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// What a client wants.
enum Wish {
    Metrics,
    OtherPage,
    OtherMethod,
    Unreadable,
}

/// Reads as far as the end of a request's header.
fn read_request(client: &mut impl Read) -> io::Result<Wish> {
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while request.len() < LONGEST_REQUEST {
        let read = client.read(&mut piece)?;
        request.extend_from_slice(&piece[..read]);
        if let Some(wish) = understand(&request) {
            return Ok(wish);
        }
        if read == 0 {
            break;
        }
    }
    Ok(Wish::Unreadable)
}

/// What `request` asks for; `None` while it is not whole.
fn understand(request: &[u8]) -> Option<Wish> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(request) {
        Ok(status) if status.is_partial() => None,
        Ok(_) => {
            let path = parsed.path.unwrap_or_default().split('?').next();
            Some(match (parsed.method, path) {
                (Some("GET"), Some("/metrics")) => Wish::Metrics,
                (Some("GET"), _) => Wish::OtherPage,
                _ => Wish::OtherMethod,
            })
        }
        Err(_) => Some(Wish::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client that sends `request` is answered.
    fn exchange(request: &[u8]) -> String {
        let endpoint = Endpoint::bind(address("0").unwrap()).unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| endpoint.serve(&stop, || "up 1\n".to_owned()));
            let mut client = TcpStream::connect(endpoint.address()).unwrap();
            client.write_all(request).unwrap();
            let mut said = String::new();
            let read = client.read_to_string(&mut said);
            stop.store(true, Ordering::Relaxed);
            read.unwrap();
            said
        })
    }

    #[test]
    fn a_scraper_gets_the_page_and_others_are_told_what_there_is() {
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
    fn a_bare_port_is_this_machine_alone() {
        assert_eq!(address("9898"), Ok("127.0.0.1:9898".parse().unwrap()));
        assert_eq!(address("0.0.0.0:80"), Ok("0.0.0.0:80".parse().unwrap()));
        assert!(address("everywhere").unwrap_err().contains("ADDRESS:PORT"));
        assert!(address("70000").is_err());
    }
}
