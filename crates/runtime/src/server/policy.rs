//! Which worker processes a request.

use super::error::ServerError;
use rand::RngExt;
use warmcore_linux::net::connections::Accepting;
use warmcore_linux::net::sockets::Sharing;
use warmcore_units::CpuId;

/// Which worker processes a request. The name in brackets is that of Salehi, Kurose & Towsley 1994. What each means
/// [on an interface](super#on-an-interface) is said there.
///
/// Of a server of datagrams:
///
/// | policy | a slow handler holds up | a flow's order | a flow's state moves |
/// |---|---|---|---|
/// | `ByFlow`, `KernelHash` | its worker's flows | kept | never |
/// | `Stealing` | nothing, if another worker idles; else its worker's flows | lost when another worker takes over | then |
/// | `Adaptive` | its worker's flows | lost when the number of workers changes | then |
/// | `ByCpu` | datagrams that its cpu receives | lost when the sender's packets change cpu | then |
/// | `SharedLifo`, `SharedFifo` | its own flow | lost between workers that receive at the same time | at any time |
///
/// Of a server of connections, each of which is a flow and always keeps its order:
///
/// | policy | which worker gets a connection | a slow handler holds up | it moves |
/// |---|---|---|---|
/// | `ByFlow`, `KernelHash` | by a hash of its peer | its worker's connections | never |
/// | `ByCpu` | that of the cpu that received its first packet | the same | never |
/// | `Exclusive` | of those that wait, the one that accepted longest ago | the same | never |
/// | `SharedLifo` | for each request, of those that wait, the last to sleep | its own connection | at any time |
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// Each flow has its worker, chosen by a program of ours from the sender's address and port (Wired-Streams).
    #[default]
    ByFlow,
    /// Each flow has its worker, chosen by the kernel's hash (Wired-Streams).
    KernelHash,
    /// As `ByFlow`; but a worker that idles takes what arrives for one whose batch takes longer than some 20 µs.
    Stealing,
    /// As `ByFlow`, among as few workers as keep each of them less than 60% busy: few that are warm at low load, all at high
    /// load. How many is decided anew every 50 ms.
    Adaptive,
    /// The worker of the cpu on which the kernel received the datagram, where it is still cached; or the first packet of the
    /// connection.
    ByCpu,
    /// Connections only: the worker that accepts a connection serves it. All wait for them, and take turns.
    Exclusive,
    /// Any idle worker, the one that has waited shortest first (Locking, MRU). Few workers stay warm at low load.
    SharedLifo,
    /// Datagrams only: any idle worker, the one that has waited longest first (Locking, LRU). All take turns.
    SharedFifo,
}

impl Policy {
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
    /// Those of a server of datagrams.
    pub const UDP: [Self; 7] = [
        Self::ByFlow,
        Self::KernelHash,
        Self::Stealing,
        Self::Adaptive,
        Self::ByCpu,
        Self::SharedLifo,
        Self::SharedFifo,
    ];
    /// Those of a server of connections.
    pub const TCP: [Self; 5] =
        [Self::ByFlow, Self::KernelHash, Self::ByCpu, Self::Exclusive, Self::SharedLifo];

    /// Whether a flow's datagrams are processed in the order in which the kernel received them. Requests of a connection always
    /// are.
    #[must_use]
    pub const fn keeps_order(self) -> bool {
        matches!(self, Self::ByFlow | Self::KernelHash)
    }

    /// Whether all workers receive from one socket.
    pub(super) const fn is_shared(self) -> bool {
        matches!(self, Self::SharedLifo | Self::SharedFifo)
    }

    /// How the kernel shares a UDP port so, among workers on `cpus`.
    pub(super) fn sharing(self, cpus: &[CpuId]) -> Result<Sharing, ServerError> {
        Ok(match self {
            Self::ByFlow | Self::Adaptive => Sharing::Flow { seed: rand::rng().random() },
            Self::Stealing => Sharing::Stealing { seed: rand::rng().random() },
            Self::KernelHash => Sharing::Hash,
            Self::ByCpu => Sharing::Cpu { cpus: cpus.to_vec() },
            Self::SharedLifo => Sharing::Lifo,
            Self::SharedFifo => Sharing::Fifo,
            Self::Exclusive => {
                return Err(ServerError::Policy {
                    policy: self,
                    transport: "UDP",
                    because: "datagrams have no connection that a worker could accept and keep; take ByFlow, or SharedLifo",
                });
            }
        })
    }

    /// How the kernel shares a TCP port so, among workers on `cpus`.
    pub(super) fn accepting(self, cpus: &[CpuId]) -> Result<Accepting, ServerError> {
        Ok(match self {
            Self::ByFlow => Accepting::Flow { seed: rand::rng().random() },
            Self::KernelHash => Accepting::Hash,
            Self::ByCpu => Accepting::Cpu { cpus: cpus.to_vec() },
            Self::Exclusive => Accepting::Exclusive,
            Self::SharedLifo => Accepting::Shared,
            Self::SharedFifo => {
                return Err(ServerError::Policy {
                    policy: self,
                    transport: "TCP",
                    because: "the kernel wakes those who wait for connections' events last in, first out, and has no other order; \
                              take SharedLifo",
                });
            }
            Self::Stealing | Self::Adaptive => {
                return Err(ServerError::Policy {
                    policy: self,
                    transport: "TCP",
                    because: "the kernel moves no connection from one worker's socket to another's; take ByFlow, or SharedLifo",
                });
            }
        })
    }
}
