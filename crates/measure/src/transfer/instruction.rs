//! The instruction to an end of a connection, as one line of words, so that threads, processes and
//! other hosts are instructed in the same way.

use core::fmt;
use core::str::FromStr;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use warmcore_topology::CpuSet;
use warmcore_units::{Bytes, PerSecond};

/// Sizes of a write: those of Foong, Fung & Newell 2004, from 64 bytes to 64 KB.
pub const SIZES: RangeInclusive<u64> = 64..=65_536;

/// The instruction to one end.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Instruction {
    /// How it opens its connection.
    pub(super) opening: Opening,
    /// What it does with it.
    pub(super) role: Role,
    /// Where it may run; anywhere if empty.
    pub(super) cpus: CpuSet,
}

/// How an end opens its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Opening {
    /// It listens at this address, at a port that it reports.
    Listen(IpAddr),
    /// It connects to the other end.
    Connect(SocketAddr),
}

/// What an end does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Role {
    /// It writes this many bytes at a time, at most at this rate in bits per second; `None` for as fast
    /// as possible.
    Send(Bytes, Option<PerSecond>),
    /// It reads whatever arrives.
    Receive,
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.opening {
            Opening::Listen(address) => write!(f, "listen {address} ")?,
            Opening::Connect(address) => write!(f, "connect {address} ")?,
        }
        match self.role {
            Role::Send(size, Some(rate)) => write!(f, "send {} {} ", size.0, rate.0)?,
            Role::Send(size, None) => write!(f, "send {} - ", size.0)?,
            Role::Receive => f.write_str("receive - - ")?,
        }
        if self.cpus.is_empty() { f.write_str("-") } else { self.cpus.fmt(f) }
    }
}

/// The format of an instruction, for errors.
const EXPECTED: &str = "expected `listen ADDRESS` or `connect ADDRESS:PORT`, `send SIZE RATE` or `receive - -` with a \
                        size from 64 to 65536 bytes, and a list of cpus; `-` for none";

impl FromStr for Instruction {
    type Err = &'static str;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [opening, address, role, size, rate, cpus] = words[..] else { return Err(EXPECTED) };
        let opening = match opening {
            "listen" => address.parse().ok().map(Opening::Listen),
            "connect" => address.parse().ok().map(Opening::Connect),
            _ => None,
        };
        let role = match role {
            "send" => size_of(size).zip(rate_of(rate)).map(|(size, rate)| Role::Send(size, rate)),
            "receive" => Some(Role::Receive),
            _ => None,
        };
        let cpus = if cpus == "-" { Some(CpuSet::default()) } else { cpus.parse().ok() };
        let whole = opening.zip(role).zip(cpus).map(|((opening, role), cpus)| Self { opening, role, cpus });
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
    fn an_instruction_survives_writing_and_reading() {
        let listen = Opening::Listen("10.77.0.2".parse().unwrap());
        let connect = Opening::Connect("[::1]:80".parse().unwrap());
        let cpus: CpuSet = "0-3,8".parse().unwrap();
        for instruction in [
            Instruction { opening: listen, role: Role::Receive, cpus: CpuSet::default() },
            Instruction { opening: connect, role: Role::Send(Bytes(64), Some(PerSecond(1.5e9))), cpus },
            Instruction { opening: listen, role: Role::Send(Bytes(65_536), None), cpus: CpuSet::default() },
        ] {
            assert_eq!(instruction.to_string().parse(), Ok(instruction.clone()), "{instruction}");
        }
    }

    #[test]
    fn an_invalid_instruction_is_refused() {
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
            assert_eq!(line.parse::<Instruction>(), Err(EXPECTED), "{line}");
        }
    }
}
