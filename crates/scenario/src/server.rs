//! How the workers of a server share its UDP port.

use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_costs::server::Waiting;

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
    /// A shared socket; of the workers that sleep, the last to sleep is woken (Locking, MRU).
    SharedLifo,
    /// A shared socket; of the workers that sleep, the first to sleep is woken (Locking, LRU).
    SharedFifo,
}

impl ServerPolicy {
    /// Those that are compared unless others are named: each is one mechanism of the kernel.
    pub const BASIC: [Self; 5] =
        [Self::ByFlow, Self::KernelHash, Self::ByCpu, Self::SharedLifo, Self::SharedFifo];

    /// Whether what it does can be predicted: how stealing workers wake each other is not measured.
    #[must_use]
    pub const fn is_predicted(self) -> bool {
        !matches!(self, Self::Stealing)
    }

    /// How its workers wait.
    #[must_use]
    pub const fn waiting(self) -> Waiting {
        match self {
            Self::ByFlow | Self::KernelHash | Self::Stealing | Self::Adaptive | Self::ByCpu => Waiting::Own,
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
        for policy in ServerPolicy::BASIC.into_iter().chain([ServerPolicy::Stealing, ServerPolicy::Adaptive])
        {
            let text = toml::to_string(&Document { policy }).unwrap();
            assert_eq!(text.trim(), format!("policy = \"{policy}\""));
            assert_eq!(toml::from_str::<Document>(&text).unwrap().policy, policy);
        }
    }
}
