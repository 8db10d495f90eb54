//! Which worker processes a datagram.

use rand::RngExt;
use warmcore_linux::net::sockets::Sharing;
use warmcore_units::CpuId;

/// Which worker processes a datagram. The name in brackets is that of Salehi, Kurose & Towsley 1994. What each means
/// [on an interface](super#on-an-interface) is said there.
///
/// | policy | a slow handler holds up | a flow's order | a flow's state moves |
/// |---|---|---|---|
/// | `ByFlow`, `KernelHash` | its worker's flows | kept | never |
/// | `ByCpu` | datagrams that its cpu receives | lost when the sender's packets change cpu | then |
/// | `SharedLifo`, `SharedFifo` | its own flow | lost between workers that receive at the same time | at any time |
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// Each flow has its worker, chosen by a program of ours from the sender's address and port (Wired-Streams).
    #[default]
    ByFlow,
    /// Each flow has its worker, chosen by the kernel's hash (Wired-Streams).
    KernelHash,
    /// The worker of the cpu on which the kernel received the datagram, where it is still cached.
    ByCpu,
    /// Any idle worker, the one that has waited shortest first (Locking, MRU). Few workers stay warm at low load.
    SharedLifo,
    /// Any idle worker, the one that has waited longest first (Locking, LRU). All take turns.
    SharedFifo,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ByFlow, Self::KernelHash, Self::ByCpu, Self::SharedLifo, Self::SharedFifo];

    /// Whether requests of a flow are processed in the order in which the kernel received them.
    #[must_use]
    pub const fn keeps_order(self) -> bool {
        matches!(self, Self::ByFlow | Self::KernelHash)
    }

    /// Whether all workers receive from one socket.
    pub(super) const fn is_shared(self) -> bool {
        matches!(self, Self::SharedLifo | Self::SharedFifo)
    }

    /// How the kernel does it, with workers on `cpus`.
    pub(super) fn sharing(self, cpus: &[CpuId]) -> Sharing {
        match self {
            Self::ByFlow => Sharing::Flow { seed: rand::rng().random() },
            Self::KernelHash => Sharing::Hash,
            Self::ByCpu => Sharing::Cpu { cpus: cpus.to_vec() },
            Self::SharedLifo => Sharing::Lifo,
            Self::SharedFifo => Sharing::Fifo,
        }
    }
}
