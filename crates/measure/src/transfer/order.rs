//! What the end of a connection is told, as a line of words: so that a thread, a process and another
//! host are told in the same way.

use core::fmt;
use core::str::FromStr;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use warmcore_topology::CpuSet;
use warmcore_units::{Bytes, PerSecond};

/// Sizes of a write: those of the source, from 64 bytes to 64 KB.
pub const SIZES: RangeInclusive<u64> = 64..=65_536;

/// What one end does.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Order {
    /// How it comes by its connection.
    pub(super) meet: Meet,
    /// What it does then.
    pub(super) work: Work,
    /// Where it may run; anywhere if empty.
    pub(super) cpus: CpuSet,
}

/// How an end comes by its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meet {
    /// It waits for the other end at this address, at a port that it tells.
    Listen(IpAddr),
    /// It goes to the other end.
    Connect(SocketAddr),
}

/// What an end does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Work {
    /// It writes so much at a time, at most at this rate in bits per second; as fast as it can without.
    Send(Bytes, Option<PerSecond>),
    /// It reads what comes.
    Receive,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.meet {
            Meet::Listen(address) => write!(f, "listen {address} ")?,
            Meet::Connect(address) => write!(f, "connect {address} ")?,
        }
        match self.work {
            Work::Send(size, Some(rate)) => write!(f, "send {} {} ", size.0, rate.0)?,
            Work::Send(size, None) => write!(f, "send {} - ", size.0)?,
            Work::Receive => f.write_str("receive - - ")?,
        }
        if self.cpus.is_empty() { f.write_str("-") } else { self.cpus.fmt(f) }
    }
}

/// What an order looks like.
const EXPECTED: &str = "expected `listen ADDRESS` or `connect ADDRESS:PORT`, `send SIZE RATE` or `receive - -` with a \
                        size from 64 to 65536 bytes, and a list of cpus; `-` for none";

impl FromStr for Order {
    type Err = &'static str;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [meet, address, work, size, rate, cpus] = words[..] else { return Err(EXPECTED) };
        let meet = match meet {
            "listen" => address.parse().ok().map(Meet::Listen),
            "connect" => address.parse().ok().map(Meet::Connect),
            _ => None,
        };
        let work = match work {
            "send" => size_of(size).zip(rate_of(rate)).map(|(size, rate)| Work::Send(size, rate)),
            "receive" => Some(Work::Receive),
            _ => None,
        };
        let cpus = if cpus == "-" { Some(CpuSet::default()) } else { cpus.parse().ok() };
        let whole = meet.zip(work).zip(cpus).map(|((meet, work), cpus)| Self { meet, work, cpus });
        whole.ok_or(EXPECTED)
    }
}

fn size_of(word: &str) -> Option<Bytes> {
    word.parse().ok().filter(|size| SIZES.contains(size)).map(Bytes)
}

fn rate_of(word: &str) -> Option<Option<PerSecond>> {
    if word == "-" {
        return Some(None);
    }
    let rate = word.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.map(|rate| Some(PerSecond(rate)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let listen = Meet::Listen("10.77.0.2".parse().unwrap());
        let connect = Meet::Connect("[::1]:80".parse().unwrap());
        let cpus: CpuSet = "0-3,8".parse().unwrap();
        for order in [
            Order { meet: listen, work: Work::Receive, cpus: CpuSet::default() },
            Order { meet: connect, work: Work::Send(Bytes(64), Some(PerSecond(1.5e9))), cpus },
            Order { meet: listen, work: Work::Send(Bytes(65_536), None), cpus: CpuSet::default() },
        ] {
            assert_eq!(order.to_string().parse(), Ok(order.clone()), "{order}");
        }
    }

    #[test]
    fn what_is_no_order_is_refused() {
        for line in [
            "",
            "listen",
            "listen ::1 send 63 - -",
            "listen ::1 send 65537 - -",
            "listen ::1 send 64 -1 -",
            "listen ::1 send 64 inf -",
            "connect ::1 receive - - -",
            "listen ::1 receive - - x",
            "listen ::1 receive - - - more",
        ] {
            assert_eq!(line.parse::<Order>(), Err(EXPECTED), "{line}");
        }
    }
}
