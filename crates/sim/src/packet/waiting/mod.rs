//! Where packets wait, and which one a processor takes next (§3).
//!
//! | form | for | who waits in a line |
//! |---|---|---|
//! | [`PacketLines`] | Locking and Hybrid, first come first served | packets |
//! | [`StreamLines`] | the same, with the stream just processed first | packets |
//! | [`StackLines`] | IPS | stacks that have a packet but no processor |

mod packets;
mod stacks;
mod streams;

pub use packets::PacketLines;
pub use stacks::StackLines;
pub use streams::StreamLines;

use crate::packet::host::{Host, Packet};
use std::collections::VecDeque;
use warmcore_policy::Line;
use warmcore_policy::assignment::{hashed, in_turn};
use warmcore_units::{CpuId, StackId};

/// The packets that are not in service.
pub trait Waiting {
    /// Nothing waits on `host`, with lines as the policy has them.
    fn none(host: &Host, line: Line) -> Self;

    /// The stack that `packet` visits if it is processed on `cpu`.
    fn stack(&self, packet: &Packet, cpu: CpuId) -> StackId;

    /// The processor to which `packet` is assigned.
    fn home(&self, packet: &Packet) -> CpuId;

    /// `packet` has arrived: whether it may go into service if there is a processor for it. If
    /// not, it has been put where it waits.
    fn admit(&mut self, packet: Packet) -> bool;

    /// `packet` was admitted, but has to wait in the line of `at`.
    fn line_up(&mut self, packet: Packet, at: CpuId);

    /// What the processor that has finished `finished` must go on with before it looks at lines.
    fn stay(&mut self, finished: &Packet) -> Option<Packet>;

    /// Takes the next packet from the line of `at`, after `finished` if one was.
    fn take(&mut self, at: CpuId, finished: Option<&Packet>) -> Option<Packet>;
}

/// First-come-first-served lines, one for all processors or one for each.
#[derive(Clone, Debug)]
struct Lines {
    lines: Vec<VecDeque<Packet>>,
}

impl Lines {
    fn none(processors: u32, line: Line) -> Self {
        let lines = match line {
            Line::Common => 1,
            Line::PerProcessor => processors as usize,
        };
        Self { lines: vec![VecDeque::new(); lines] }
    }

    #[inline]
    fn of(&mut self, line: CpuId) -> &mut VecDeque<Packet> {
        &mut self.lines[line.index()]
    }
}

/// The place of each of `members` among `places`, in the way of the host's policy.
fn assign(host: &Host, members: u32, places: u32) -> Vec<u32> {
    if host.scheduling.policy.hashes() { hashed(members, places) } else { in_turn(members, places) }
}
