//! The flags that say what a server on the kernel's sockets is asked, and who answers.

use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;
use warmcore_measure::SocketPlan;

#[derive(Args, Debug)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServedArguments {
    /// The library whose functions handle the requests to a server on the kernel's sockets, as `warmcore_handler.h` declares
    /// them. It runs in a process of its own [default: a handler of ours]
    #[arg(long, value_name = "FILE.so")]
    pub(crate) handler: Option<PathBuf>,

    /// What a server on the kernel's sockets is asked: `echo:SIZE`, as --payload; the UDP datagrams of a capture to its
    /// busiest port, in their order, again and again; or `http:/PATH` of a --server [default: echo:256]
    #[arg(long, value_name = "WHAT", conflicts_with = "payload")]
    pub(crate) requests: Option<AskedRequests>,
}

/// What a server is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AskedRequests {
    /// Zeros, so many bytes with a header of ours.
    Equal(usize),
    /// A capture.
    Capture(PathBuf),
    /// A path of an HTTP server.
    Http(String),
}

impl FromStr for AskedRequests {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("http:") {
            let is_path = path.starts_with('/')
                && !path.starts_with("//")
                && path.bytes().all(|byte| byte.is_ascii_graphic());
            let expected = "a path without spaces and host, as in `http:/index.html`";
            return is_path
                .then(|| Self::Http(path.into()))
                .ok_or_else(|| format!("the path is `{path}`, expected {expected}"));
        }
        let Some(size) = text.strip_prefix("echo:") else { return Ok(Self::Capture(text.into())) };
        let (least, max) = (SocketPlan::LEAST_PAYLOAD_BYTES, SocketPlan::MAX_PAYLOAD_BYTES);
        let fitting = size.parse().ok().filter(|bytes| (least..=max).contains(bytes));
        fitting.map(Self::Equal).ok_or_else(|| {
            format!("the size is `{size}`, expected {least} to {max} bytes, as in `echo:256`; or the file of a capture")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_a_size_a_path_or_a_file() {
        assert_eq!("echo:64".parse(), Ok(AskedRequests::Equal(64)));
        assert_eq!("http:/a?b=c".parse(), Ok(AskedRequests::Http("/a?b=c".to_owned())));
        for wrong in ["http:", "http://host/", "http:/a b", "http:/\r\nX: y"] {
            let parsed = wrong.parse::<AskedRequests>();
            assert!(parsed.unwrap_err().contains("`http:/index.html`"), "{wrong}");
        }
        assert_eq!("dns.pcap".parse(), Ok(AskedRequests::Capture("dns.pcap".into())));
        for wrong in ["echo:", "echo:1", "echo:99999", "echo:x"] {
            assert!(wrong.parse::<AskedRequests>().unwrap_err().contains("as in `echo:256`"), "{wrong}");
        }
    }
}
