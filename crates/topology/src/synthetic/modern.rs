//! Typical machines of today, with round figures; none is a particular product.

use super::{Draft, geometry, set};
use crate::CacheKind::{Data, Instruction, Unified};
use crate::Machine;

/// Two sockets of 32 cores with two hardware threads each: 128 cpus, numbered as by Linux (`n` and `n + 64`
/// are one core). Each socket is a node; groups of eight cores share a 32 MiB third level.
#[must_use]
pub fn two_socket_server() -> Machine {
    sockets("synthetic two-socket server", 2)
}

/// Eight such sockets: 512 cpus.
#[must_use]
pub fn eight_socket_server() -> Machine {
    sockets("synthetic eight-socket server", 8)
}

fn sockets(name: &'static str, count: u32) -> Machine {
    let all = 32 * count;
    let mut draft = Draft::new(name, 2 * all);
    for cpu in &mut draft.cpus {
        let core = cpu.id.0 % all;
        cpu.core = core % 32;
        cpu.package = core / 32;
        cpu.node = core / 32;
        cpu.smt_siblings = set([core, core + all]);
    }
    let cores = draft.cores();
    let complexes = (0..all).step_by(8).map(|first| set((first..first + 8).flat_map(|c| [c, c + all])));
    draft
        .cache(1, Data, geometry(32, 64, 8), cores.clone())
        .cache(1, Instruction, geometry(32, 64, 8), cores.clone())
        .cache(2, Unified, geometry(1024, 64, 8), cores)
        .cache(3, Unified, geometry(32 << 10, 64, 16), complexes)
        .finish()
}

/// Four performance cores with two hardware threads each (cpus 0–7) and two clusters of four
/// efficiency cores (8–15), whose cluster shares its second level; all share the third.
#[must_use]
pub fn hybrid_laptop() -> Machine {
    const FIRST_EFFICIENT: u32 = 8;
    let mut draft = Draft::new("synthetic hybrid laptop", 16);
    for cpu in &mut draft.cpus[..FIRST_EFFICIENT as usize] {
        let first = cpu.id.0 & !1;
        cpu.core = first;
        cpu.smt_siblings = set([first, first + 1]);
    }
    let (performance, efficient): (Vec<_>, Vec<_>) =
        draft.cores().into_iter().partition(|core| core.len() == 2);
    let clusters = [set(8..12), set(12..16)];
    draft
        .cache(1, Data, geometry(48, 64, 12), performance.clone())
        .cache(1, Instruction, geometry(32, 64, 8), performance.clone())
        .cache(1, Data, geometry(32, 64, 8), efficient.clone())
        .cache(1, Instruction, geometry(64, 64, 8), efficient)
        .cache(2, Unified, geometry(1280, 64, 10), performance)
        .cache(2, Unified, geometry(2048, 64, 16), clusters)
        .cache(3, Unified, geometry(12 << 10, 64, 12), [set(0..16)])
        .finish()
}

/// 64 cores without SMT, with private 64 KiB first and 1 MiB second levels, behind one 32 MiB
/// third level.
#[must_use]
pub fn arm_server() -> Machine {
    let draft = Draft::new("synthetic ARM server", 64);
    let cores = draft.cores();
    draft
        .cache(1, Data, geometry(64, 64, 4), cores.clone())
        .cache(1, Instruction, geometry(64, 64, 4), cores.clone())
        .cache(2, Unified, geometry(1024, 64, 8), cores)
        .cache(3, Unified, geometry(32 << 10, 64, 16), [set(0..64)])
        .finish()
}

/// A virtual machine with `cpus` cpus, no SMT, private first and second levels and a shared
/// 32 MiB third.
#[must_use]
pub fn virtual_machine(cpus: u32) -> Machine {
    let draft = Draft::new("synthetic virtual machine", cpus);
    let cores = draft.cores();
    draft
        .cache(1, Data, geometry(32, 64, 8), cores.clone())
        .cache(1, Instruction, geometry(32, 64, 8), cores.clone())
        .cache(2, Unified, geometry(1024, 64, 8), cores)
        .cache(3, Unified, geometry(32 << 10, 64, 16), [set(0..cpus)])
        .finish()
}

/// One cpu with two private levels.
#[must_use]
pub fn single_cpu() -> Machine {
    Draft::new("synthetic single cpu", 1)
        .cache(1, Data, geometry(32, 64, 8), [set([0])])
        .cache(1, Instruction, geometry(32, 64, 8), [set([0])])
        .cache(2, Unified, geometry(512, 64, 8), [set([0])])
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::CpuId;

    #[test]
    fn every_machine_is_valid_and_every_cpu_has_every_level() {
        let machines = [two_socket_server(), hybrid_laptop(), arm_server(), virtual_machine(2), single_cpu()];
        for machine in machines {
            assert_eq!(machine.validate(), Ok(()), "{}", machine.name);
            let levels: Vec<usize> =
                machine.cpus.iter().map(|cpu| machine.unified_levels(cpu.id).len()).collect();
            assert!(levels.iter().all(|&n| n == levels[0] && n >= 2), "{}: {levels:?}", machine.name);
            assert!(machine.cpus.iter().all(|cpu| machine.instruction_cache(cpu.id).is_some()));
        }
    }

    #[test]
    fn the_server_has_one_usable_cpu_per_core_and_eight_last_level_caches() {
        let server = two_socket_server();
        assert_eq!(server.usable_cores(), (0..64).map(CpuId).collect::<Vec<_>>());
        assert_eq!(server.caches.iter().filter(|cache| cache.level == 3).count(), 8);
        assert_eq!(server.unified_levels(CpuId(100)).last().map(|level| level.cores), Some(8));
        assert!(server.cpus.iter().all(|cpu| cpu.node == cpu.package));
    }

    #[test]
    fn a_core_with_two_threads_counts_as_one_usable_core() {
        let cores: Vec<u32> = hybrid_laptop().usable_cores().iter().map(|cpu| cpu.0).collect();
        assert_eq!(cores, [0, 2, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15]);
    }
}
