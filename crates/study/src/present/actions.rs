//! What to do on Linux about the advice: each part of an advised combination, and the means that
//! Linux has for it.
//!
//! | advice | on Linux |
//! |---|---|
//! | threads of each processor's own | affinity of threads, `sched_setaffinity(2)` |
//! | Wired-Streams | a socket of each worker's own, `SO_REUSEPORT` and `SO_INCOMING_CPU`, `socket(7)` |
//! | MRU | one epoll instance for all workers: the last to wait is the first to be woken |
//! | LRU | blocking reads: the first to wait is the first to be woken |
//! | IPS | no table, buffer or counter that two workers write |
//! | global memory | one arena for all threads, `mallopt(3)` |

use crate::Findings;
use warmcore_costs::Approach;
use warmcore_record::document::Action;
use warmcore_scenario::{Combination, Organisation, ProcessorPolicy};
use warmcore_topology::{CpuSet, Machine};
use warmcore_units::CpuId;

/// How a plan for interrupts and packets is made, applied and taken back.
pub const STEERING: [&str; 3] = [
    "warmcore host plan --for receiver --profile profile.toml --out plan.toml",
    "sudo warmcore host apply plan.toml --yes",
    "sudo warmcore host undo  # takes it back",
];

/// What to do about the advice that leads.
#[must_use]
pub fn actions(findings: &Findings) -> Vec<Action> {
    let Some(advice) = findings.advice.first() else { return Vec::new() };
    let advised: Vec<Combination> = advice.regions.iter().map(|region| region.best).collect();
    for_advice(&advised, &cpus(findings, advice.processors))
}

/// What to do where `advised` is best, each at some load, on `cpus`: first what holds at every load.
fn for_advice(advised: &[Combination], cpus: &CpuSet) -> Vec<Action> {
    let Some(first) = advised.first() else { return Vec::new() };
    let any = |is_so: fn(&Combination) -> bool| advised.iter().any(is_so);
    let mut policies: Vec<ProcessorPolicy> = Vec::new();
    for policy in advised.iter().map(|combination| combination.policy) {
        if !policies.contains(&policy) {
            policies.push(policy);
        }
    }
    let mut actions = vec![workers(first.threads, cpus)];
    actions.extend(any(|advised| advised.approach == Approach::IndependentStacks).then(independent_stacks));
    actions.extend(policies.iter().filter_map(|policy| choice_of_worker(*policy, policies.len() > 1)));
    actions.extend(any(|advised| advised.memory == Organisation::Global).then(one_arena));
    actions.extend(policies.contains(&ProcessorPolicy::WiredStreams).then(steering));
    actions
}

/// The cpus to name in commands: those of this machine where it was measured.
fn cpus(findings: &Findings, processors: u32) -> CpuSet {
    let cores = findings.machine.as_ref().map_or_else(Vec::new, Machine::usable_cores);
    let count = processors as usize;
    if cores.len() >= count {
        cores.into_iter().take(count).collect()
    } else {
        (0..processors).map(CpuId).collect()
    }
}

fn workers(threads: Organisation, cpus: &CpuSet) -> Action {
    match threads {
        Organisation::PerProcessor => Action {
            text:
                "Run one worker on each processor and keep it there, so that no thread takes its stack from \
                   one cache to another."
                    .to_owned(),
            commands: pinning(cpus),
        },
        Organisation::Global => Action {
            text: "Let the workers run on any of the processors: pinning them gains nothing here.".to_owned(),
            commands: vec![format!("taskset --cpu-list {cpus} ./receiver")],
        },
    }
}

/// How to pin processes, threads of a running program, and services.
fn pinning(cpus: &CpuSet) -> Vec<String> {
    let each: Vec<String> = cpus.iter().map(|cpu| cpu.0.to_string()).collect();
    let Some(first) = each.first() else { return Vec::new() };
    vec![
        format!(
            "for cpu in {}; do taskset --cpu-list $cpu ./receiver & done  # a process for each worker",
            each.join(" ")
        ),
        format!(
            "taskset --pid --cpu-list {first} THREAD  # a thread of a running program, by its number in ps -L"
        ),
        format!("sudo systemd-run --property=CPUAffinity={first} ./receiver  # a service"),
    ]
}

fn independent_stacks() -> Action {
    Action {
        text:
            "Give every worker a receive stack of its own: its socket, tables, counters and buffers, none of \
               which another worker writes."
                .to_owned(),
        commands: Vec::new(),
    }
}

/// How a packet comes to its worker. `among_several` says that it is not the advice at every load.
fn choice_of_worker(policy: ProcessorPolicy, among_several: bool) -> Option<Action> {
    let text = match policy {
        ProcessorPolicy::WiredStreams => {
            "give every worker a socket of its own on the same port, with SO_REUSEPORT: the kernel sends all \
             packets of a stream to one of them. With SO_INCOMING_CPU set to the worker's processor (Linux 6.2 \
             or later) it is the one on whose processor the packet came in."
        }
        ProcessorPolicy::Mru => {
            "let all workers wait on one epoll instance with the socket in it, edge-triggered (EPOLLET). The \
             kernel wakes the worker that was the last to wait, which is the one that worked last."
        }
        ProcessorPolicy::Lru => {
            "let all workers block in recv on one socket. The kernel wakes the one that has waited longest."
        }
        _ => return None,
    };
    let text = match among_several {
        true => format!("Where {policy} is advised, {text}"),
        false => capitalised(text),
    };
    Some(Action { text, commands: Vec::new() })
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

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said and shown for `advised`, in one text.
    fn told(advised: &[Combination]) -> String {
        let cpus = [0, 2].map(CpuId).into_iter().collect();
        let lines = for_advice(advised, &cpus)
            .into_iter()
            .flat_map(|action| [vec![action.text], action.commands].concat());
        lines.collect::<Vec<_>>().join("\n")
    }

    const DEFAULT: Combination = Combination::COMMON_DEFAULT;
    const LOCKING_MRU: Combination = Combination { policy: ProcessorPolicy::Mru, ..DEFAULT };

    #[test]
    fn each_part_of_the_advice_has_its_means() {
        let wired = told(&[DEFAULT]);
        assert!(
            wired.contains("for cpu in 0 2; do taskset --cpu-list $cpu") && wired.contains("SO_REUSEPORT")
        );
        assert!(
            wired.contains("warmcore host plan")
                && !wired.contains("epoll")
                && !wired.contains("stack of its own")
        );

        let mru = told(&[LOCKING_MRU]);
        assert!(
            mru.contains("one epoll instance") && !mru.contains("SO_REUSEPORT") && !mru.contains("host plan")
        );

        let stacks = told(&[Combination { approach: Approach::IndependentStacks, ..LOCKING_MRU }]);
        assert!(stacks.contains("receive stack of its own"));

        let shared = Organisation::Global;
        let pools = told(&[Combination { threads: shared, memory: shared, ..LOCKING_MRU }]);
        assert!(pools.contains("taskset --cpu-list 0,2 ") && pools.contains("arena_max=1"), "{pools}");
    }

    #[test]
    fn where_the_advice_changes_with_the_load_each_part_says_where_it_holds() {
        let both = told(&[LOCKING_MRU, DEFAULT, LOCKING_MRU]);
        assert!(
            both.contains("Where MRU is advised") && both.contains("Where Wired-Streams is advised"),
            "{both}"
        );
        assert_eq!(both.matches("epoll instance").count(), 1);
        assert_eq!(told(&[]), "");
    }
}
