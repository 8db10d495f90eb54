//! The source's own programs: the TCP/IP and RPC stacks of `lab/`, built for a bare machine, executed and traced.
//!
//! Two machines run the same image, a client and a server. The harness is the wire between them: it takes frames off
//! one adaptor and gives them to the other, and tells both the time. After some round trips, so that the connection is
//! open and its window grown, one more is traced on the client (Mosberger et al. 1996, §4.2): the request down to the
//! adaptor, and the response up from it.

pub mod dec_3000_600;
mod error;
mod exchange;
mod host;
mod images;
mod placed;

pub use error::LabError;
pub use exchange::{Classifying, Switches, trace};
pub use images::Form;
pub use placed::placed;

use core::fmt;
use serde::{Deserialize, Serialize};

/// A stack of figure 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocols {
    /// TCPTEST, TCP, IP, VNET, ETH, LANCE.
    TcpIp,
    /// XRPCTEST, MSELECT, VCHAN, CHAN, BID, BLAST, VNET, ETH, LANCE.
    Rpc,
}

impl Protocols {
    /// Both, in the source's order.
    pub const ALL: [Self; 2] = [Self::TcpIp, Self::Rpc];

    /// How the program's functions call it.
    const fn infix(self) -> &'static str {
        match self {
            Self::TcpIp => "tcp",
            Self::Rpc => "rpc",
        }
    }
}

/// As the source calls it.
impl fmt::Display for Protocols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TcpIp => "TCP/IP",
            Self::Rpc => "RPC",
        })
    }
}
