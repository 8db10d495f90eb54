//! How the workers of a server share its UDP port.

use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_costs::server::Waiting;
use warmcore_units::Transport;

/// Which worker gets a request. The name in brackets is that of Salehi, Kurose & Towsley 1994.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerPolicy {
    /// A socket for each worker; each flow has its worker, chosen by a program of ours (Wired-Streams).
    #[default]
    ByFlow,
    /// A socket for each worker; each flow has its worker, chosen by the kernel's hash (Wired-Streams).
    KernelHash,
    /// As by flow; but a worker that idles takes what arrives for one that is at something long.
    Stealing,
    /// As by flow, among as few workers as the load needs.
    Adaptive,
    /// A socket for each worker; the worker of the processor on which the kernel received the packet.
    ByCpu,
    /// Of connections: one listening socket that all workers watch; a connection stays with the worker that accepts it.
    Exclusive,
    /// A shared socket; of the workers that sleep, the last to sleep is woken (Locking, MRU).
    SharedLifo,
    /// A shared socket; of the workers that sleep, the first to sleep is woken (Locking, LRU).
    SharedFifo,
}

impl ServerPolicy {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ByFlow,
        Self::KernelHash,
        Self::Stealing,
        Self::Adaptive,
        Self::ByCpu,
        Self::Exclusive,
        Self::SharedLifo,
        Self::SharedFifo,
    ];

    /// Of datagrams, those that are compared unless others are named: each is one mechanism of the kernel.
    pub const BASIC: [Self; 5] =
        [Self::ByFlow, Self::KernelHash, Self::ByCpu, Self::SharedLifo, Self::SharedFifo];

    /// Those that are compared over `transport` unless others are named.
    #[must_use]
    pub fn compared(transport: Transport) -> Vec<Self> {
        Self::BASIC.into_iter().filter(|policy| policy.is_predicted(transport).is_ok()).collect()
    }

    /// Whether the kernel can do it over `transport`.
    ///
    /// # Errors
    /// Why not.
    pub const fn is_possible(self, transport: Transport) -> Result<(), &'static str> {
        match (self, transport) {
            (Self::Exclusive, Transport::Udp | Transport::Rpc) => {
                Err("datagrams have no connections to accept")
            }
            (Self::SharedFifo, Transport::Tcp) => {
                Err("the kernel wakes those who wait for connections last in, first out only")
            }
            (Self::Stealing | Self::Adaptive, Transport::Tcp) => {
                Err("a connection stays with the worker whose socket has it")
            }
            _ => Ok(()),
        }
    }

    /// Whether what it does over `transport` can be predicted from what is measured.
    ///
    /// # Errors
    /// Why not.
    pub const fn is_predicted(self, transport: Transport) -> Result<(), &'static str> {
        match (self, transport) {
            (Self::Stealing, Transport::Udp | Transport::Rpc) => {
                Err("how workers that steal wake each other is not measured")
            }
            (Self::Exclusive, Transport::Tcp) => Err("which worker accepts a connection is not predicted"),
            (Self::SharedLifo, Transport::Tcp) => {
                Err("what a connection costs that was last used elsewhere is not measured")
            }
            _ => self.is_possible(transport),
        }
    }

    /// How its workers wait.
    #[must_use]
    pub const fn waiting(self) -> Waiting {
        match self {
            Self::ByFlow
            | Self::KernelHash
            | Self::Stealing
            | Self::Adaptive
            | Self::ByCpu
            | Self::Exclusive => Waiting::Own,
            Self::SharedLifo => Waiting::Lifo,
            Self::SharedFifo => Waiting::Fifo,
        }
    }
}

impl fmt::Display for ServerPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByFlow => "by-flow",
            Self::KernelHash => "kernel-hash",
            Self::Stealing => "stealing",
            Self::Adaptive => "adaptive",
            Self::ByCpu => "by-cpu",
            Self::Exclusive => "exclusive",
            Self::SharedLifo => "shared-lifo",
            Self::SharedFifo => "shared-fifo",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Document {
        policy: ServerPolicy,
    }

    #[test]
    fn documents_and_messages_use_the_same_words() {
        for policy in ServerPolicy::ALL {
            let text = toml::to_string(&Document { policy }).unwrap();
            assert_eq!(text.trim(), format!("policy = \"{policy}\""));
            assert_eq!(toml::from_str::<Document>(&text).unwrap().policy, policy);
        }
    }
}
