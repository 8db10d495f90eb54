//! Which threads read the packets, and where each may run.
//!
//! A thread counts as a reader only by evidence: its user names it, or its process received data through
//! network sockets while the host was observed. That it is busy is no evidence: it may compile.

use super::cpu_pool::CpuPool;
use super::{Target, Unplaceable};
use std::collections::BTreeMap;
use warmcore_linux::inventory::{Cpuset, Evidence, Observation, Thread};
use warmcore_linux::{Inventory, Rates};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// A thread that uses at least this part of a cpu is busy.
pub(super) const BUSY: f64 = 0.05;

/// A thread that reads packets.
#[derive(Clone, Debug)]
pub(super) struct TargetThread<'a> {
    pub(super) thread: &'a Thread,
    /// When its process started, in kernel ticks.
    pub(super) process_started: u64,
    /// The online cpus that it may run on now.
    pub(super) current: CpuSet,
    /// The cpus that it may be put on.
    pub(super) permitted: CpuSet,
    /// Whether its user reserves cpus for it.
    pub(super) dedicated: bool,
    /// Whether it stands for its whole process, all of whose busy threads may run on the same cpus.
    pub(super) stands_for_process: bool,
    /// The cpuset of its control group, if the group is placed as a whole.
    pub(super) cpuset: Option<&'a Cpuset>,
    /// The part of a cpu that it used meanwhile; `None` if the host was not observed.
    used: Option<f64>,
}

impl<'a> TargetThread<'a> {
    /// The part of a cpu that it uses; 1 where nothing is known, so that all count alike.
    pub(super) fn share(&self) -> f64 {
        self.used.unwrap_or(1.0)
    }

    /// The cpu it ran on last.
    pub(super) fn last_cpu(&self) -> CpuId {
        self.thread.last_cpu
    }

    /// Its only core, if its program or user pinned it to one.
    pub(super) fn home(&self, pool: &CpuPool) -> Option<CpuId> {
        let first = self.current.first()?;
        let core = pool.cores_of(&CpuSet::from_iter([first]));
        self.current.difference(&core).is_empty().then(|| pool.first(&self.current)).flatten()
    }

    /// `thread` with its limits; `None` if its process has ended.
    pub(super) fn new(observed: &'a Observation, pool: &CpuPool, thread: &'a Thread) -> Option<Self> {
        let picture = &observed.inventory;
        let process_started = picture.process_began(thread.key.pid)?;
        let online = picture.machine.online();
        let current = thread.allowed.as_ref().unwrap_or(&online).intersection(&online);
        let dedicated = !current.is_empty() && current.difference(&pool.reserved).is_empty();
        let permitted = match cpuset_of(picture, thread) {
            _ if dedicated => current.clone(),
            Some(cpuset) => cpuset.cpus.intersection(&online),
            None => online,
        };
        let used = observed.rates.as_ref().map(|rates| used(rates, thread));
        let target = Self {
            thread,
            process_started,
            current,
            permitted,
            dedicated,
            stands_for_process: has_one_mask(picture, thread),
            cpuset: None,
            used,
        };
        Some(target)
    }
}

/// The part of all packets that is for each of `threads`: by the bytes that its process was seen to receive, where that is
/// known of all of them, and within a process by the time that its threads used.
pub(super) fn parts(observed: &Observation, threads: &[&Thread]) -> Vec<f64> {
    let time = |thread: &Thread| observed.rates.as_ref().map_or(1.0, |rates| used(rates, thread));
    let receivers = observed.rates.iter().flat_map(|rates| &rates.receivers);
    let bytes: BTreeMap<u32, f64> = receivers.map(|of| (of.pid, of.bytes.0)).collect();
    let mut of_process: BTreeMap<u32, f64> = BTreeMap::new();
    for thread in threads {
        *of_process.entry(thread.key.pid).or_default() += time(thread);
    }
    let are_counted = of_process.iter().all(|(pid, &time)| time > 0.0 && bytes.contains_key(pid));
    let weight = |thread: &&Thread| match bytes.get(&thread.key.pid) {
        Some(bytes) if are_counted => bytes * time(thread) / of_process[&thread.key.pid],
        _ => time(thread),
    };
    let weights: Vec<f64> = threads.iter().map(weight).collect();
    let all: f64 = weights.iter().sum();
    let alike = 1.0 / threads.len().max(1) as f64;
    weights.into_iter().map(|weight| if all > 0.0 { weight / all } else { alike }).collect()
}

/// The cpuset of the control group of `thread`.
fn cpuset_of<'a>(picture: &'a Inventory, thread: &Thread) -> Option<&'a Cpuset> {
    let group = thread.group.as_ref()?;
    picture.cpusets.iter().find(|cpuset| cpuset.group == *group)
}

/// The part of a cpu that `thread` used while it was observed.
pub(super) fn used(rates: &Rates, thread: &Thread) -> f64 {
    rates.threads.iter().find(|of| of.key == thread.key).map_or(0.0, |of| of.share)
}

/// The threads that `target` names, in the order of the picture: the busiest first.
///
/// # Errors
/// If a target was named and none of its threads is busy. That no reader is evident is no error.
pub(super) fn find<'a>(
    observed: &'a Observation,
    pool: &CpuPool,
    target: &Target,
) -> Result<Vec<TargetThread<'a>>, Unplaceable> {
    let picture = &observed.inventory;
    let is_target = |thread: &&Thread| is_placeable(picture, thread) && target.includes(observed, thread);
    let threads = picture.threads.iter().filter(is_target);
    let mut found: Vec<_> = threads.filter_map(|thread| TargetThread::new(observed, pool, thread)).collect();
    if found.is_empty() && *target != Target::Evident {
        return Err(Unplaceable::NoThreads(target.clone()));
    }
    for target_thread in &mut found {
        let thread = target_thread.thread;
        target_thread.stands_for_process &= !matches!(target, Target::Name(name) if thread.process != *name);
        let is_placed = matches!(target, Target::Group(_)) && group_has_one_mask(picture, thread);
        let cpuset = cpuset_of(picture, thread);
        target_thread.cpuset = cpuset.filter(|cpuset| is_placed && cpuset.own.is_some());
    }
    Ok(found)
}

/// Whether the busy threads of the process of `thread` may run on the same cpus. Where they may not, the program places
/// its threads itself.
fn has_one_mask(picture: &Inventory, thread: &Thread) -> bool {
    let mut own = picture.threads.iter().filter(|other| other.key.pid == thread.key.pid);
    own.all(|other| other.allowed == thread.allowed)
}

/// The same of the control group of `thread`.
fn group_has_one_mask(picture: &Inventory, thread: &Thread) -> bool {
    let mut own = picture.threads.iter().filter(|other| other.group == thread.group);
    own.all(|other| other.allowed == thread.allowed)
}

/// Whether it is a user's thread, and not that of a program that places threads itself.
pub(super) fn is_placeable(picture: &Inventory, thread: &Thread) -> bool {
    let is_own = |evidence: &Evidence| *evidence == Evidence::Process(thread.key.pid);
    !thread.kernel && !picture.rivals.iter().any(|rival| rival.evidence.iter().any(is_own))
}

/// Whether it used some time. Each of many that share a server's work may use little.
pub(super) fn ran(observed: Option<&Rates>, thread: &Thread) -> bool {
    observed.is_none_or(|rates| used(rates, thread) > 0.0)
}

/// Whether it used enough of a cpu to be worth placing.
pub(super) fn is_busy(observed: Option<&Rates>, thread: &Thread) -> bool {
    observed.is_none_or(|rates| used(rates, thread) >= BUSY)
}

impl Target {
    fn includes(&self, observed: &Observation, thread: &Thread) -> bool {
        match self {
            Self::Evident => {
                let rates = observed.rates.as_ref();
                rates.is_some_and(|rates| rates.receives(thread.key.pid)) && ran(rates, thread)
            }
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
    use warmcore_linux::inventory::Receiver;
    use warmcore_linux::{Probe, fake};
    use warmcore_units::PerSecond;

    #[test]
    fn packets_are_for_those_who_receive_bytes_rather_than_for_those_who_are_busy() {
        let tree = fake::hosts::crossed();
        let [earlier, later] = [tree.earlier(10.0), tree].map(Probe::fake);
        let mut observed = Observation::of_probes(&earlier, &later).expect("sound trees");
        let threads: Vec<Thread> =
            observed.inventory.threads.iter().filter(|it| !it.kernel).cloned().collect();
        let [one, other] = [&threads[0], &threads[1]];
        assert_ne!(one.key.pid, other.key.pid);
        let rates = observed.rates.as_mut().expect("an uptime");
        for (thread, share) in [(one, 0.1), (other, 0.9)] {
            rates.threads.iter_mut().find(|of| of.key == thread.key).expect("it ran").share = share;
        }
        let receiver = |of: &Thread, bytes| Receiver { pid: of.key.pid, bytes: PerSecond(bytes) };
        rates.receivers = vec![receiver(one, 9_000.0), receiver(other, 1_000.0)];
        assert_eq!(parts(&observed, &[one, other]), [0.9, 0.1]);
        // Where bytes of one are not to be seen, time tells.
        observed.rates.as_mut().expect("an uptime").receivers.pop();
        assert_eq!(parts(&observed, &[one, other]), [0.1, 0.9]);
    }

    #[test]
    fn a_group_holds_those_below_it_and_no_neighbour() {
        for (path, group, within) in
            [("/a/b", "/a", true), ("/a", "/a/", true), ("/ab", "/a", false), ("/a", "/", true)]
        {
            assert_eq!(is_within(path, group), within, "{path} in {group}");
        }
    }
}
