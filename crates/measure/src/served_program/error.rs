//! Why a program cannot be measured.

use std::net::{IpAddr, SocketAddr};
use warmcore_linux::ProgramError;
use warmcore_units::{Nanos, Transport};

/// A server program does not do what a measurement needs.
#[derive(Debug, thiserror::Error)]
pub enum ServedProgramError {
    /// It cannot be started.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// It ended.
    #[error("`{program}` ended ({status}) {when}; what it said on standard error, if anything, is above")]
    Ended {
        /// Its name.
        program: String,
        /// How.
        status: String,
        /// When.
        when: &'static str,
    },
    /// It does not listen.
    #[error(
        "`{program}` does not listen at {address} within {seconds} s of its start; expected a program that listens at the \
         port that {{port}} stands for, for {transport}; a server of HTTP is asked with --requests http:/PATH"
    )]
    Deaf {
        /// Its name.
        program: String,
        /// Where it should listen.
        address: SocketAddr,
        /// How long it was waited for.
        seconds: u64,
        /// What it should listen for.
        transport: Transport,
    },
    /// It listens where no request comes.
    #[error(
        "`{program}` listens at {found} alone, but requests come to {expected}: let it listen at 0.0.0.0, or at {{address}}, \
         which stands for that"
    )]
    Elsewhere {
        /// Its name.
        program: String,
        /// Where it listens.
        found: IpAddr,
        /// Where requests come.
        expected: IpAddr,
    },
    /// It answers nothing.
    #[error(
        "`{program}` answered none of {requests} requests within a second each; expected a reply to each, to where it came from"
    )]
    Mute {
        /// Its name.
        program: String,
        /// How many.
        requests: usize,
    },
    /// It takes too long for each.
    #[error(
        "`{program}` takes {delay} for a request that comes alone, expected at most {}: where packets are processed changes \
         some microseconds of that",
        Nanos(super::run::SLOWEST.as_nanos() as f64)
    )]
    Slow {
        /// Its name.
        program: String,
        /// How long.
        delay: Nanos,
    },
    /// It is never at rest.
    #[error(
        "`{program}` uses {:.0}% of a processor when nobody asks it anything, expected at most {:.0}%: the time that requests take \
         cannot be told from that",
        share * 100.0,
        super::BUSY * 100.0
    )]
    Busy {
        /// Its name.
        program: String,
        /// The share.
        share: f64,
    },
    /// Its processes used no time.
    #[error(
        "the processes of `{program}` answered and used no processor time: it has left its process group, as daemons do; start it \
         in the foreground"
    )]
    Gone {
        /// Its name.
        program: String,
    },
    /// Too few requests were answered in the runs.
    #[error("`{program}` answered too few requests for any figure")]
    Silent {
        /// Its name.
        program: String,
    },
    /// It answered with an error.
    #[error("the server answered {status} to GET {path}, expected a status from 200 to 399")]
    Status {
        /// The status.
        status: u16,
        /// The path.
        path: String,
    },
    /// What it answered is not HTTP.
    #[error("the server's answer is no HTTP/1.1 response: {reason}")]
    NotHttp {
        /// What the parser says.
        reason: String,
    },
    /// It closes connections.
    #[error(
        "the server closes the connection after a response; expected HTTP/1.1 with connections that stay open, since opening one \
         would be measured with each request"
    )]
    Closes,
}
