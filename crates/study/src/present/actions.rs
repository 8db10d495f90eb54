//! How to follow the advice on Linux: the mechanism that Linux has for each advised combination.
//!
//! | advice | on Linux |
//! |---|---|
//! | threads per processor | affinity of threads, `sched_setaffinity(2)` |
//! | IPS, Wired-Streams | a socket per worker, `SO_REUSEPORT` and `SO_INCOMING_CPU`, `socket(7)` |
//! | Locking, Wired-Streams | the same sockets, with tables that all workers share |
//! | Locking, MRU | one socket in one epoll instance: the worker that waited last is woken first |
//! | IPS, MRU | a socket for each stack, all in one epoll instance, `EPOLLONESHOT`: a stack has one worker at a time |
//! | Locking, LRU | blocking reads of one socket: the worker that waited longest is woken first |
//! | IPS, LRU; a global pool of threads | no setting |
//! | global memory | one arena for all threads, `mallopt(3)` |

use crate::Findings;
use warmcore_costs::Approach;
use warmcore_record::document::Action;
use warmcore_scenario::{Combination, Organisation, ProcessorPolicy};
use warmcore_topology::{CpuSet, Machine};
use warmcore_units::CpuId;

/// How a plan for interrupts and packets is made, applied and undone.
pub const STEERING: [&str; 3] = [
    "warmcore host plan --for receiver --profile udp-socket.toml --out plan.toml",
    "sudo warmcore host apply plan.toml --yes",
    "sudo warmcore host undo  # takes it back",
];

/// What to do about the leading advice.
#[must_use]
pub fn actions(findings: &Findings) -> Vec<Action> {
    let Some(advice) = findings.advice.first() else { return Vec::new() };
    let advised: Vec<Combination> = advice.regions.iter().map(|region| region.best).collect();
    for_advice(&advised, &cpus(findings, advice.processors))
}

/// What to do on `cpus` if each of `advised` is best at some load. Actions that hold at every load come
/// first.
fn for_advice(advised: &[Combination], cpus: &CpuSet) -> Vec<Action> {
    let mut ways: Vec<(Approach, ProcessorPolicy)> = Vec::new();
    for way in advised.iter().map(|combination| (combination.approach, combination.policy)) {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    let some = |is_so: fn(&Combination) -> bool| advised.iter().any(is_so);
    let own = some(|advised| advised.threads == Organisation::PerProcessor).then(|| workers(cpus));
    let shared = some(|advised| advised.threads == Organisation::Global).then(|| any_worker(cpus));
    let sockets = ways.iter().map(|way| sockets(*way, ways.len() > 1));
    let arena = some(|advised| advised.memory == Organisation::Global).then(one_arena);
    let steering = some(|advised| advised.policy == ProcessorPolicy::WiredStreams).then(steering);
    own.into_iter().chain(shared).chain(sockets).chain(arena).chain(steering).collect()
}

/// The cpus to name in commands: those of this machine, if it was measured here.
fn cpus(findings: &Findings, processors: u32) -> CpuSet {
    let cores = findings.machine.as_ref().map_or_else(Vec::new, Machine::usable_cores);
    let count = processors as usize;
    if cores.len() >= count {
        cores.into_iter().take(count).collect()
    } else {
        (0..processors).map(CpuId).collect()
    }
}

fn workers(cpus: &CpuSet) -> Action {
    Action {
        text: "Run one worker on each processor and keep it there, so that no thread moves its stack from one cache \
               to another. Threads pin themselves with pthread_setaffinity_np, or are pinned from outside."
            .to_owned(),
        commands: pinning(cpus),
    }
}

/// Commands that pin the threads of a running program, processes, and services: each to one cpu, over all
/// cpus.
fn pinning(cpus: &CpuSet) -> Vec<String> {
    let each: Vec<String> = cpus.iter().map(|cpu| cpu.0.to_string()).collect();
    let list = each.join(" ");
    vec![
        format!(
            "for cpu in {list}; do read -p \"thread for cpu $cpu: \" thread; taskset --pid --cpu-list $cpu $thread; \
             done  # threads of a running program, by their numbers in ps -L"
        ),
        format!(
            "for cpu in {list}; do taskset --cpu-list $cpu ./receiver & done  # a process for each worker"
        ),
        format!(
            "for cpu in {list}; do sudo systemd-run --unit=receiver-$cpu --property=CPUAffinity=$cpu /path/to/receiver; \
             done  # a service for each worker"
        ),
    ]
}

fn any_worker(cpus: &CpuSet) -> Action {
    Action {
        text: "Threads are taken for each packet from a pool for all processors: there is no setting for this on Linux. \
               Workers that may run on any of the processors come closest, since the scheduler then decides which of \
               them runs where."
            .to_owned(),
        commands: vec![format!("taskset --cpu-list {cpus} ./receiver")],
    }
}

/// How packets get to their workers. `among_several` means that this is not the advice at every load.
fn sockets(way: (Approach, ProcessorPolicy), among_several: bool) -> Action {
    let (approach, policy) = way;
    let text = means(way);
    let text = match among_several {
        true => format!("Where {}, {policy} is advised, {text}", approach.short()),
        false => capitalised(text),
    };
    Action { text, commands: Vec::new() }
}

/// The mechanism that Linux has for one approach and policy.
fn means(way: (Approach, ProcessorPolicy)) -> &'static str {
    use Approach::{IndependentStacks, Locking};
    match way {
        (IndependentStacks, ProcessorPolicy::WiredStreams) => {
            "give every worker a receive stack of its own: its tables, counters and buffers, none of which another \
             worker writes, and its socket on the same port as the others', with SO_REUSEPORT: the kernel sends all \
             packets of a stream to one of them. With SO_INCOMING_CPU set to the worker's processor (Linux 6.2 or \
             later) it is the one on whose processor the packet came in."
        }
        (Locking, ProcessorPolicy::WiredStreams) => {
            "give every worker a socket of its own on the same port, with SO_REUSEPORT: the kernel sends all packets \
             of a stream to one of them. With SO_INCOMING_CPU set to the worker's processor (Linux 6.2 or later) it is \
             the one on whose processor the packet came in. Tables and counters stay shared, under locks."
        }
        (Locking, ProcessorPolicy::Mru) => {
            "let all workers wait on one epoll instance with the one socket in it, edge-triggered (EPOLLET), and read \
             until there is nothing left (EAGAIN). The kernel wakes the worker that was the last to wait, which is the \
             one that worked last."
        }
        (IndependentStacks, ProcessorPolicy::Mru) => {
            "make as many receive stacks as workers, each with its own tables, counters, buffers and its own socket on \
             the same port (SO_REUSEPORT), but tie none of them to a worker: put all sockets into one epoll instance \
             with EPOLLONESHOT, and let all workers wait on it. The kernel wakes the worker that was the last to wait; \
             it reads that stack's socket until there is nothing left (EAGAIN) and arms it again (EPOLL_CTL_MOD), so \
             that one worker at a time is in a stack."
        }
        (Locking, ProcessorPolicy::Lru) => {
            "let all workers block in recv on one socket. The kernel wakes the one that has waited longest."
        }
        (IndependentStacks, ProcessorPolicy::Lru) => {
            "there is no setting for this on Linux: of the workers that wait for several sockets it wakes the last to \
             wait, not the first. A dispatcher in the program has to hand each stack's packets to the worker that has \
             been idle longest."
        }
        _ => {
            "there is no setting for this on Linux: a dispatcher in the program has to choose the worker of each \
             packet."
        }
    }
}

fn one_arena() -> Action {
    Action {
        text: "Let the workers share one pool of memory.".to_owned(),
        commands: vec!["GLIBC_TUNABLES=glibc.malloc.arena_max=1 ./receiver".to_owned()],
    }
}

fn steering() -> Action {
    Action {
        text: "Have interrupts and packets (RPS, XPS) go to the processors on which they are read. The plan \
               says what that gains; where it gains nothing, there is none."
            .to_owned(),
        commands: STEERING.map(str::to_owned).to_vec(),
    }
}

/// `text` with a capital first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that is said and shown for `advised`, in one text.
    fn said_for(advised: &[Combination]) -> String {
        let cpus = [0, 2].map(CpuId).into_iter().collect();
        let lines = for_advice(advised, &cpus)
            .into_iter()
            .flat_map(|action| [vec![action.text], action.commands].concat());
        lines.collect::<Vec<_>>().join("\n")
    }

    const DEFAULT: Combination = Combination::COMMON_DEFAULT;
    const LOCKING_MRU: Combination = Combination { policy: ProcessorPolicy::Mru, ..DEFAULT };
    const IPS_MRU: Combination = Combination { approach: Approach::IndependentStacks, ..LOCKING_MRU };
    const IPS_WIRED: Combination = Combination { approach: Approach::IndependentStacks, ..DEFAULT };

    #[test]
    fn every_advice_has_a_mechanism_on_linux() {
        let wired = said_for(&[DEFAULT]);
        assert!(
            wired.contains("for cpu in 0 2; do taskset --cpu-list $cpu") && wired.contains("SO_REUSEPORT")
        );
        assert!(wired.contains("warmcore host plan") && !wired.contains("epoll"), "{wired}");
        assert!(wired.contains("stay shared, under locks"), "{wired}");

        let mru = said_for(&[LOCKING_MRU]);
        assert!(
            mru.contains("one epoll instance") && !mru.contains("SO_REUSEPORT") && !mru.contains("host plan")
        );

        let shared = Organisation::Global;
        let pools = said_for(&[Combination { threads: shared, memory: shared, ..LOCKING_MRU }]);
        assert!(pools.contains("taskset --cpu-list 0,2 ") && pools.contains("arena_max=1"), "{pools}");
        assert!(
            pools.contains("no setting for this on Linux") && !pools.contains("keep it there"),
            "{pools}"
        );
    }

    /// A stack that belongs to one worker cannot wait in an epoll instance that all workers share.
    #[test]
    fn independent_stacks_under_mru_belong_to_no_worker() {
        let mru = said_for(&[IPS_MRU]);
        assert!(mru.contains("EPOLLONESHOT") && mru.contains("tie none of them to a worker"), "{mru}");
        assert!(!mru.contains("every worker a receive stack of its own"), "{mru}");
        let wired = said_for(&[IPS_WIRED]);
        assert!(
            wired.contains("every worker a receive stack of its own") && !wired.contains("epoll"),
            "{wired}"
        );
        let lru = said_for(&[Combination { policy: ProcessorPolicy::Lru, ..IPS_MRU }]);
        assert!(lru.contains("There is no setting for this on Linux"), "{lru}");
    }

    #[test]
    fn no_command_puts_all_workers_on_one_processor() {
        for command in pinning(&[0, 2].map(CpuId).into_iter().collect()) {
            assert!(command.contains("0 2; ") && !command.contains("CPUAffinity=0"), "{command}");
        }
    }

    #[test]
    fn advice_that_changes_with_the_load_says_where_each_part_holds() {
        let both = said_for(&[LOCKING_MRU, DEFAULT, LOCKING_MRU]);
        assert!(
            both.contains("Where Locking, MRU is advised")
                && both.contains("Where Locking, Wired-Streams is advised"),
            "{both}"
        );
        assert_eq!(both.matches("epoll instance").count(), 1);
        assert_eq!(said_for(&[]), "");
    }
}
