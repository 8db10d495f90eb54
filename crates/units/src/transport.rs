//! What packets carry above IP.

use core::fmt;
use serde::{Deserialize, Serialize};

/// What packets carry above IP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Datagrams, each received by itself, as in Salehi, Kurose & Towsley 1994.
    #[default]
    Udp,
    /// Segments of connections, which are acknowledged and answered.
    Tcp,
    /// Remote procedure calls over UDP, each of which is answered.
    Rpc,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Udp, Self::Tcp, Self::Rpc];

    /// Its name in scenarios and profiles.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Rpc => "rpc",
        }
    }

    /// Whether its streams are answered, and have a state that is in one place.
    #[must_use]
    pub const fn is_conversation(self) -> bool {
        !matches!(self, Self::Udp)
    }

    /// Whether it is [`Udp`](Self::Udp), what is meant where nothing is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
