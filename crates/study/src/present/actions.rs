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
use warmcore_scenario::{Organisation, ProcessorPolicy};
use warmcore_topology::{CpuSet, Machine};
use warmcore_units::CpuId;

/// What to do about the advice that leads, first what holds at every load.
#[must_use]
pub fn actions(findings: &Findings) -> Vec<Action> {
    let Some(advice) = findings.advice.first() else { return Vec::new() };
    let advised = distinct(advice.regions.iter().map(|region| region.best));
    if advised.is_empty() {
        return Vec::new();
    }
    let cpus = cpus(findings, advice.processors);
    let threads = distinct(advised.iter().map(|combination| combination.threads));
    let policies = distinct(advised.iter().map(|combination| combination.policy));
    let approaches = distinct(advised.iter().map(|combination| combination.approach));
    let memory = distinct(advised.iter().map(|combination| combination.memory));
    let steering = policies.contains(&ProcessorPolicy::WiredStreams).then(steering);
    [
        threads.first().map(|threads| workers(*threads, &cpus)),
        approaches.contains(&Approach::IndependentStacks).then(independent_stacks),
    ]
    .into_iter()
    .flatten()
    .chain(policies.iter().filter_map(|policy| choice_of_worker(*policy, policies.len() > 1)))
    .chain(memory.contains(&Organisation::Global).then(one_arena))
    .chain(steering)
    .collect()
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
        commands: vec![
            "warmcore host plan --for receiver --profile profile.toml --out plan.toml".to_owned(),
            "sudo warmcore host apply plan.toml --yes".to_owned(),
            "sudo warmcore host undo  # takes it back".to_owned(),
        ],
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Each of `items` once, in the order in which they come first.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}
