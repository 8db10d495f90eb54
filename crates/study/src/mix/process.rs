//! Of which process a thread is, and what that is called. The command of a process is that of its first thread, whatever its
//! other threads are called.

use super::threads::{Thread, Threads};

/// What is known of a thread's process from when it was made, or from `/proc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// It is the first of its process.
    Process,
    /// It is of the process whose first thread has this index.
    ThreadOf(usize),
    /// Neither was seen.
    Unknown,
}

impl Thread {
    /// The number of its process, if that is known.
    pub(super) fn process_number(&self, threads: &[Self]) -> Option<u32> {
        match self.origin {
            Origin::Process => Some(self.id),
            Origin::ThreadOf(leader) => Some(threads[leader].id),
            Origin::Unknown => self.attributes.as_ref().map(|known| known.process),
        }
    }

    /// What `/proc` said of the command of its process.
    fn described_command(&self) -> Option<&str> {
        let command = self.attributes.as_ref().map(|known| known.process_command.as_str());
        command.filter(|command| !command.is_empty())
    }

    /// Its own command, as the trace had it at last.
    fn own_command(&self) -> Option<&str> {
        Some(self.command.as_str()).filter(|command| !command.is_empty())
    }
}

impl Threads {
    /// The index of the first thread of the process of thread number `index`; itself if that is not known.
    pub(super) fn leader(&self, index: usize) -> usize {
        match self.all[index].origin {
            Origin::ThreadOf(leader) => leader,
            Origin::Process | Origin::Unknown => index,
        }
    }

    /// The command of the process of thread number `index`. One that was never seen to run has that of who started it, as the
    /// kernel has it too; nothing if that is not known either.
    pub(super) fn process_command(&self, index: usize) -> String {
        let leader = &self.all[self.leader(index)];
        let command = match leader.origin {
            // It may have gone on with another program since it was described.
            Origin::Process => leader.own_command().or(leader.described_command()),
            // Its process has a first thread that was never seen.
            Origin::Unknown | Origin::ThreadOf(_) => leader.described_command().or(leader.own_command()),
        };
        match (command, leader.parent) {
            (Some(command), _) => command.to_owned(),
            // Who starts a thread was seen before it.
            (None, Some(parent)) if parent < index => self.process_command(parent),
            (None, _) => String::new(),
        }
    }
}
