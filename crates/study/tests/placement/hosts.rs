//! The synthetic hosts, with busy programs added where they have none.

use warmcore_linux::fake::{Thread, Tree, hosts};
use warmcore_study::placement::Target;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// A host, and the threads that the plan is for.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) name: &'static str,
    pub(crate) tree: Tree,
    pub(crate) subject: Target,
}

/// The threads of the [server].
pub(crate) fn server_named() -> Target {
    Target::Name("server".to_owned())
}

pub(crate) fn all() -> Vec<Host> {
    let read_by = |name, tree, reader: &str| Host { name, tree, subject: Target::Name(reader.to_owned()) };
    let served =
        |name, tree: Tree, cpus: &[u32], all: &str| read_by(name, tree.running(&server(cpus, all)), "server");
    vec![
        Host { name: "two_socket_server", tree: hosts::two_socket_server(), subject: Target::Evident },
        served("storage_server", hosts::storage_server(), &[40, 41, 42], "0-63"),
        served("arm_server", hosts::arm_server(), &[60, 61, 62, 63], "0-63"),
        read_by("container", hosts::container(), "worker"),
        served("unplugged", hosts::unplugged(), &[6, 7], "0-2,4,6-7"),
        served("hybrid_laptop", hosts::hybrid_laptop(), &[14, 15, 15], "0-15"),
        read_by("small_vm", hosts::small_vm(), "reader"),
        served("balanced", hosts::balanced(), &[9, 10], "0-15"),
        served("steered", hosts::steered(), &[6, 7], "0-7"),
        read_by("isolated", hosts::isolated(), "poll-4"),
        Host { name: "crossed", tree: hosts::crossed(), subject: Target::Evident },
        served("managed", managed(), &[5, 6], "0-7"),
        served("confined", confined(), &[0, 1], "0-1"),
        read_by("bare", hosts::bare(), "server"),
    ]
}

/// A server with one thread on each of `cpus` that uses a quarter of it and may run on `all`.
pub(crate) fn server(cpus: &[u32], all: &str) -> Vec<Thread> {
    let allowed: CpuSet = all.parse().expect("a list of cpus");
    let thread = |(tid, &cpu): (u32, &u32)| Thread {
        pid: 3000,
        tid,
        name: "server".to_owned(),
        ticks: 90_000,
        last_cpu: CpuId(cpu),
        allowed: allowed.clone(),
        group: "/system.slice/server.service".to_owned(),
    };
    (3000..).zip(cpus).map(thread).collect()
}

/// A host whose NIC has interrupts that the kernel manages.
fn managed() -> Tree {
    let mut tree = hosts::steered();
    for number in [24, 25] {
        let flags = "handler:  handle_edge_irq\ndstate:   0x1\n            IRQD_AFFINITY_MANAGED";
        tree.put(format!("sys/kernel/debug/irq/irqs/{number}"), flags);
    }
    tree
}

/// A server whose control group has two of eight cpus.
fn confined() -> Tree {
    let mut tree = hosts::unplugged();
    tree.put("sys/fs/cgroup/system.slice/server.service/cpuset.cpus.effective", "0-1");
    tree
}
