//! What an inventory cannot see here, and what would be needed to see it.

use super::interrupts::{Interrupt, Managed};
use super::table::{self, Table};
use crate::tree::Tree;
use core::fmt;
use serde::{Serialize, Serializer};
use warmcore_units::Nanos;

/// Information that no file shows, on this machine or in general.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BlindSpot {
    /// Which receive queue a socket's packets come through.
    QueuesOfSockets,
    /// `/proc/interrupts` is hidden.
    Interrupts,
    /// What has the name of `/proc/interrupts` is not read, for this reason: it is none of a kernel's.
    InterruptsUnread(String),
    /// `/proc/irq` is hidden.
    Masks,
    /// Which interrupts are managed by the kernel.
    Managed,
    /// The uptime of the machine.
    Uptime,
}

/// Finds what is missing from an inventory.
pub(super) fn find(
    tree: &Tree,
    table: &Table,
    interrupts: &[Interrupt],
    uptime: Option<Nanos>,
) -> Vec<BlindSpot> {
    let any = |is: fn(&Interrupt) -> bool| interrupts.iter().any(is);
    let hidden = tree.refused(table::FILE).map_or(BlindSpot::Interrupts, BlindSpot::InterruptsUnread);
    let found = [
        (true, BlindSpot::QueuesOfSockets),
        (table.cpus.is_empty(), hidden),
        (any(|interrupt| interrupt.allowed.is_none()), BlindSpot::Masks),
        (any(|interrupt| interrupt.managed == Managed::Unknown), BlindSpot::Managed),
        (uptime.is_none(), BlindSpot::Uptime),
    ];
    found.into_iter().filter(|(is, _)| *is).map(|(_, spot)| spot).collect()
}

impl fmt::Display for BlindSpot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InterruptsUnread(why) => return write!(f, "{} is not read: {why}", table::FILE),
            Self::QueuesOfSockets => {
                "no file shows which receive queue a socket's packets come through: its program can ask \
                 (SO_INCOMING_NAPI_ID), or a BPF iterator with CAP_BPF"
            }
            Self::Interrupts => {
                "/proc/interrupts is hidden: interrupts are visible on the host, not in a container"
            }
            Self::Masks => {
                "masks of interrupts are hidden: /proc/irq is visible on the host, not in a container"
            }
            Self::Managed => {
                "it is unknown which interrupts the kernel manages: neither debugfs nor /proc/irq can be seen"
            }
            Self::Uptime => {
                "/proc/uptime is hidden: there are no rates, and every thread that ever ran is listed"
            }
        })
    }
}

impl Serialize for BlindSpot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
