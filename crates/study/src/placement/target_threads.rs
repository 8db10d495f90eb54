//! Which threads are placed, and where each may run.

use super::cpu_pool::CpuPool;
use super::{Target, Unplaceable};
use warmcore_linux::Inventory;
use warmcore_linux::inventory::Thread;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// A thread that uses at least this part of a cpu is busy.
const BUSY: f64 = 0.05;

/// A thread that is to be placed.
#[derive(Clone, Debug)]
pub(super) struct TargetThread<'a> {
    pub(super) thread: &'a Thread,
    /// When its process started, in kernel ticks.
    pub(super) process_started: u64,
    /// The cpus that it may be put on.
    pub(super) permitted: CpuSet,
    /// Whether its user reserves cpus for it.
    pub(super) dedicated: bool,
}

impl TargetThread<'_> {
    /// The part of a cpu that it uses; 1 where the kernel does not tell, so that all count alike.
    pub(super) fn share(&self) -> f64 {
        self.thread.share.unwrap_or(1.0)
    }

    /// The cpu it ran on last.
    pub(super) fn current_cpu(&self) -> CpuId {
        self.thread.last_cpu
    }

    /// `thread` with its limits; `None` if its process has ended.
    pub(super) fn new<'a>(
        picture: &'a Inventory,
        pool: &CpuPool,
        thread: &'a Thread,
    ) -> Option<TargetThread<'a>> {
        let process_started = picture.process_began(thread.key.pid)?;
        let online = picture.machine.online();
        let allowed = thread.allowed.as_ref().unwrap_or(&online).intersection(&online);
        let dedicated = !allowed.is_empty() && allowed.difference(&pool.reserved).is_empty();
        let of_group = |group: &String| picture.cpusets.iter().find(|cpuset| cpuset.group == *group);
        let cpuset = thread.group.as_ref().and_then(of_group).map(|cpuset| &cpuset.cpus);
        let permitted = if dedicated { allowed } else { cpuset.unwrap_or(&online).intersection(&online) };
        Some(TargetThread { thread, process_started, permitted, dedicated })
    }
}

/// The threads that `target` names, in the order of the picture: the busiest first.
pub(super) fn find<'a>(
    picture: &'a Inventory,
    pool: &CpuPool,
    target: &Target,
) -> Result<Vec<TargetThread<'a>>, Unplaceable> {
    let is_target = |thread: &&Thread| is_placeable(picture, thread) && target.includes(thread);
    let threads = picture.threads.iter().filter(is_target);
    let found: Vec<_> = threads.filter_map(|thread| TargetThread::new(picture, pool, thread)).collect();
    if found.is_empty() { Err(Unplaceable::NoThreads(target.clone())) } else { Ok(found) }
}

/// Whether it is a user's thread, and not that of a program that places threads itself.
pub(super) fn is_placeable(picture: &Inventory, thread: &Thread) -> bool {
    !thread.kernel && !picture.rivals.iter().any(|rival| rival.name == thread.process)
}

/// Whether it uses enough of a cpu to be worth placing.
pub(super) fn is_busy(thread: &Thread) -> bool {
    thread.share.is_none_or(|share| share >= BUSY)
}

impl Target {
    fn includes(&self, thread: &Thread) -> bool {
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
