//! Which processor last wrote which lines in the shadow simulation.

use super::service_times::{CacheState, History, StackSharing};
use crate::policy::Request;
use alloc::vec::Vec;
use warmcore_units::CpuId;

/// How many streams, and stacks, have entries of their own; beyond that, some share one.
pub(super) const ENTRIES: u32 = 4_096;

/// Stands for no processor or no stream.
const NOBODY: u32 = u32::MAX;

/// The last writers of session and history lines.
#[derive(Clone, Debug)]
pub(super) struct Footprints {
    stacks: StackSharing,
    /// Last processor, by stream.
    sessions: Entries<u32>,
    /// Last writer, by stack.
    histories: Entries<Writer>,
}

#[derive(Clone, Copy, Debug)]
struct Writer {
    stream: u32,
    cpu: u32,
}

impl Footprints {
    /// The state before any packet. If there is one processor only, it has written everything.
    pub(super) fn new(stacks: StackSharing, processors: u32) -> Self {
        let cpu = if processors == 1 { 0 } else { NOBODY };
        let nothing = Writer { stream: NOBODY, cpu };
        Self { stacks, sessions: Entries::filled(cpu), histories: Entries::filled(nothing) }
    }

    /// Processes the packet of `request` on `cpu`; returns the cache state it finds.
    #[inline]
    pub(super) fn visit(&mut self, request: &Request, cpu: CpuId) -> CacheState {
        let stream = request.stream.0;
        let stack = match self.stacks {
            StackSharing::Shared => 0,
            StackSharing::Independent => request.stack.0,
            StackSharing::PerProcessor => cpu.0,
        };
        let session = core::mem::replace(self.sessions.at(stream), cpu.0);
        let history = self.histories.at(stack);
        let found = if history.stream == stream {
            History::Unwritten
        } else if history.cpu == cpu.0 {
            History::Here
        } else {
            History::Elsewhere
        };
        if found != History::Unwritten {
            *history = Writer { stream, cpu: cpu.0 };
        }
        let own_session = self.stacks == StackSharing::PerProcessor;
        CacheState { session_here: own_session || session == cpu.0, history: found }
    }
}

/// A table that grows by member number up to [`ENTRIES`] entries, which members then share.
#[derive(Clone, Debug)]
pub(super) struct Entries<T> {
    entries: Vec<T>,
    new: T,
}

impl<T: Copy> Entries<T> {
    /// A table whose entries start as `new`.
    pub(super) const fn filled(new: T) -> Self {
        Self { entries: Vec::new(), new }
    }

    /// The entry of `member`.
    #[inline]
    pub(super) fn at(&mut self, member: u32) -> &mut T {
        let index = (member % ENTRIES) as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, self.new);
        }
        &mut self.entries[index]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::request;
    use super::*;
    use warmcore_units::Nanos;

    /// What packets find for these (stream, processor) visits in a row. Each stream has the stack of its
    /// own number.
    fn found(stacks: StackSharing, visits: &[(u32, u32)]) -> Vec<(bool, History)> {
        let mut footprints = Footprints::new(stacks, 2);
        let visits = visits.iter().map(|&(stream, cpu)| {
            let found = footprints.visit(&request(Nanos::ZERO, stream), CpuId(cpu));
            (found.session_here, found.history)
        });
        visits.collect()
    }

    use History::{Elsewhere, Here, Unwritten};
    const VISITS: [(u32, u32); 5] = [(0, 0), (0, 1), (1, 0), (1, 0), (0, 0)];

    #[test]
    fn a_shared_stack_moves_with_every_packet() {
        let expected =
            [(false, Elsewhere), (false, Unwritten), (false, Here), (true, Unwritten), (false, Here)];
        assert_eq!(found(StackSharing::Shared, &VISITS), expected);
    }

    #[test]
    fn a_stack_with_one_stream_writes_its_history_once() {
        let expected = [
            (false, Elsewhere),
            (false, Unwritten),
            (false, Elsewhere),
            (true, Unwritten),
            (false, Unwritten),
        ];
        assert_eq!(found(StackSharing::Independent, &VISITS), expected);
    }

    #[test]
    fn a_processors_own_stack_moves_nothing() {
        let expected = [(true, Elsewhere), (true, Elsewhere), (true, Here), (true, Unwritten), (true, Here)];
        assert_eq!(found(StackSharing::PerProcessor, &VISITS), expected);
    }

    #[test]
    fn a_single_processor_finds_every_line_here() {
        let mut footprints = Footprints::new(StackSharing::Shared, 1);
        let found = footprints.visit(&request(Nanos::ZERO, 7), CpuId(0));
        assert_eq!(found, CacheState { session_here: true, history: Here });
    }
}
