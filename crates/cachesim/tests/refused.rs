//! Descriptions of machines that cannot be: refused with the field, what was there, and what would be right.

use warmcore_cachesim::{Description, Hierarchy, Replacement, WriteBuffer, machines};
use warmcore_topology::CpuSet;
use warmcore_units::{Bytes, CpuId, Cycles};

/// The fault found after `spoil` has changed a machine that can be built: data, instructions, board.
fn fault(spoil: impl FnOnce(&mut Description)) -> String {
    let mut description = machines::dec_3000_600(Cycles(50));
    assert!(Hierarchy::build(&description).is_ok());
    spoil(&mut description);
    Hierarchy::build(&description).expect_err("a spoilt machine is refused").to_string()
}

#[test]
fn impossible_geometries_are_refused() {
    for (line, ways, size, expected) in [
        (48, 1, 8192, "`caches[0].geometry.line` is 48 B, expected a power of two, 4 B to 1024 MiB"),
        (0, 1, 8192, "`caches[0].geometry.line` is 0 B, expected a power of two, 4 B to 1024 MiB"),
        (2, 1, 8192, "`caches[0].geometry.line` is 2 B, expected a power of two, 4 B to 1024 MiB"),
        (32, 0, 8192, "`caches[0].geometry.ways` is 0, expected at least 1, which is direct-mapped"),
        (32, 1, 0, "`caches[0].geometry.size` is 0 B, expected 1 ways of 32 B times a power of two"),
        (32, 1, 9000, "`caches[0].geometry.size` is 9000 B, expected 1 ways of 32 B times a power of two"),
        (32, 3, 8192, "`caches[0].geometry.size` is 8 KiB, expected 3 ways of 32 B times a power of two"),
        (32, 2, 192, "`caches[0].geometry.size` is 192 B, expected 2 ways of 32 B times a power of two"),
        (
            1 << 31,
            1,
            1 << 31,
            "`caches[0].geometry.line` is 2048 MiB, expected a power of two, 4 B to 1024 MiB",
        ),
        (
            1 << 63,
            1,
            1 << 63,
            "`caches[0].geometry.line` is 8796093022208 MiB, expected a power of two, 4 B to",
        ),
        (1 << 30, u32::MAX, 8192, "`caches[0].geometry.size` is 8 KiB, expected 4294967295 ways of"),
        (32, 1, 1 << 40, "`caches` is 34359804160 lines, expected at most 67108864 together"),
    ] {
        let found = fault(|machine| {
            let geometry = &mut machine.caches[0].geometry;
            (geometry.line, geometry.ways, geometry.size) = (Bytes(line), ways, Bytes(size));
        });
        assert!(found.starts_with(expected), "{found}, not {expected}");
    }
    let odd_tree = fault(|machine| {
        machine.caches[0].replacement = Replacement::TreePlru;
        (machine.caches[0].geometry.ways, machine.caches[0].geometry.size) = (3, Bytes(3 * 8192));
    });
    assert_eq!(
        odd_tree,
        "`caches[0].geometry.ways` is 3, expected a power of two, at most 64, with `tree-plru`"
    );
}

#[test]
fn impossible_hierarchies_are_refused() {
    assert_eq!(fault(|machine| machine.caches.clear()), "`caches` is empty, expected at least one cache");
    let nobody = fault(|machine| machine.caches[2].shared_by = CpuSet::default());
    assert_eq!(nobody, "`caches[2].shared_by` is empty, expected at least one cpu");
    let far =
        fault(|machine| machine.caches[2].shared_by = CpuSet::from_iter([CpuId(0), CpuId(u32::MAX - 1)]));
    assert_eq!(far, "`caches[2].shared_by` is cpu4294967294, expected cpus below 4096");
    let shorter = fault(|machine| machine.caches[2].geometry.line = Bytes(16));
    assert_eq!(shorter, "`caches[2].geometry.line` is 16 B, expected at least 32 B, as in caches[1]");
    let faster = fault(|machine| machine.caches[1].latency = Cycles(11));
    assert_eq!(faster, "`caches[2].latency` is 10 cycles, expected at least 11 cycles, as of caches[1]");
    let memory = fault(|machine| machine.memory = Cycles(9));
    assert_eq!(memory, "`memory` is 9 cycles, expected at least 10 cycles, as the last cache");
    let endless = fault(|machine| machine.memory = Cycles(u64::MAX));
    assert_eq!(endless, "`memory` is 18446744073709551615 cycles, expected at most 4294967296 cycles");
    let same = fault(|machine| machine.caches[2].level = 1);
    let expected =
        "`caches[2].level` is 1, expected another than that of caches[1], which cpu0 reads through too";
    assert_eq!(same, expected);
}

#[test]
fn cpus_that_part_ways_behind_a_shared_cache_are_refused() {
    let fault = fault(|machine| {
        let both = CpuSet::from_iter([CpuId(0), CpuId(1)]);
        machine.caches[0].shared_by = both.clone();
        machine.caches[1].shared_by = both;
    });
    let expected = "`caches[1]` is where instructions of cpu0 and instructions of cpu1 part, expected one that has one next cache \
                    for all that it is asked";
    assert_eq!(fault, expected);
}

#[test]
fn too_many_levels_are_refused() {
    let found = fault(|machine| {
        for level in 3..10 {
            let cache = machine.caches[2].clone();
            machine.caches.push(warmcore_cachesim::CacheDescription { level, ..cache });
        }
    });
    assert_eq!(found, "`caches` is 9 caches, expected at most 8 on the way of the instructions of cpu0");
}

#[test]
fn impossible_write_buffers_are_refused() {
    let buffer = |change: fn(&mut WriteBuffer)| {
        fault(|machine| change(machine.caches[0].write_buffer.as_mut().expect("the machine has one")))
    };
    for (found, expected) in [
        (buffer(|b| b.depth = 0), "`caches[0].write_buffer.depth` is 0, expected 1 to 65536 blocks"),
        (
            buffer(|b| b.block = Bytes(24)),
            "`caches[0].write_buffer.block` is 24 B, expected a power of two, at most 4 KiB",
        ),
        (
            buffer(|b| b.block = Bytes(1 << 63)),
            "`caches[0].write_buffer.block` is 8796093022208 MiB, expected a power of two, at most 4 KiB",
        ),
        (buffer(|b| b.retire_at = 0), "`caches[0].write_buffer.retire_at` is 0, expected 1 to 4, its depth"),
        (buffer(|b| b.retire_at = 5), "`caches[0].write_buffer.retire_at` is 5, expected 1 to 4, its depth"),
    ] {
        assert_eq!(found, expected);
    }
    let behind = fault(|machine| machine.caches[0].writes = warmcore_cachesim::Writes::Back);
    assert_eq!(behind, "`caches[0].writes` is back, expected `through` before a write buffer");
    let second = fault(|machine| {
        machine.caches[2].writes = warmcore_cachesim::Writes::Through;
        machine.caches[2].write_buffer = machine.caches[0].write_buffer;
    });
    assert_eq!(second, "`caches[2].write_buffer` is a second one, expected one on the way of cpu0");
}
