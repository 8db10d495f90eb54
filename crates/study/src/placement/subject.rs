//! Which threads are meant, and where each may run.

use super::ground::Ground;
use super::{Subject, Unplaceable};
use warmcore_linux::Inventory;
use warmcore_linux::inventory::Thread;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Without a word about whom, threads that use at least this part of a cpu are meant.
const BUSY: f64 = 0.05;

/// A thread that is to be placed.
#[derive(Clone, Debug)]
pub(super) struct Meant<'a> {
    pub(super) thread: &'a Thread,
    /// When its process began, in ticks of the kernel.
    pub(super) began: u64,
    /// The cpus that it may be put on.
    pub(super) limit: CpuSet,
    /// Whether its user keeps cpus for it that others are kept off.
    pub(super) settled: bool,
}

impl Meant<'_> {
    /// The part of a cpu that it uses. Where the kernel does not tell the time, all count alike.
    pub(super) fn share(&self) -> f64 {
        self.thread.share.unwrap_or(1.0)
    }

    /// Where it runs now.
    pub(super) fn now(&self) -> CpuId {
        self.thread.last_cpu
    }

    pub(super) fn new<'a>(picture: &'a Inventory, ground: &Ground, thread: &'a Thread) -> Option<Meant<'a>> {
        let began = picture.process_began(thread.key.pid)?;
        let online = picture.machine.online();
        let allowed = thread.allowed.as_ref().unwrap_or(&online).intersection(&online);
        let settled = !allowed.is_empty() && allowed.difference(&ground.apart).is_empty();
        let of_group = |group: &String| picture.cpusets.iter().find(|cpuset| cpuset.group == *group);
        let cpuset = thread.group.as_ref().and_then(of_group).map(|cpuset| &cpuset.cpus);
        let limit = if settled { allowed } else { cpuset.unwrap_or(&online).intersection(&online) };
        Some(Meant { thread, began, limit, settled })
    }
}

/// The busy threads that `subject` means, the busiest first.
pub(super) fn meant<'a>(
    picture: &'a Inventory,
    ground: &Ground,
    subject: &Subject,
) -> Result<Vec<Meant<'a>>, Unplaceable> {
    let is_meant = |thread: &&Thread| is_ordinary(picture, thread) && subject.means(thread);
    let threads = picture.threads.iter().filter(is_meant);
    let meant: Vec<_> = threads.filter_map(|thread| Meant::new(picture, ground, thread)).collect();
    if meant.is_empty() { Err(Unplaceable::NoThreads(subject.clone())) } else { Ok(meant) }
}

/// Whether it is a user's thread, and not that of a program which places others.
pub(super) fn is_ordinary(picture: &Inventory, thread: &Thread) -> bool {
    !thread.kernel && !picture.rivals.iter().any(|rival| rival.name == thread.process)
}

/// Whether it uses a part of a cpu worth placing.
pub(super) fn is_busy(thread: &Thread) -> bool {
    thread.share.is_none_or(|share| share >= BUSY)
}

impl Subject {
    fn means(&self, thread: &Thread) -> bool {
        match self {
            Self::Busiest => is_busy(thread),
            Self::Process(pid) => thread.key.pid == *pid,
            Self::Name(name) => thread.process == *name || thread.name == *name,
            Self::Group(group) => thread.group.as_ref().is_some_and(|of| is_within(of, group)),
        }
    }
}

/// Whether control group `path` is `group` or below it.
fn is_within(path: &str, group: &str) -> bool {
    let group = group.trim_end_matches('/');
    path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_holds_those_below_it_and_no_neighbour() {
        for (path, group, within) in
            [("/a/b", "/a", true), ("/a", "/a/", true), ("/ab", "/a", false), ("/a", "/", true)]
        {
            assert_eq!(is_within(path, group), within, "{path} in {group}");
        }
    }
}
